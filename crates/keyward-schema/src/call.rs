//! What an event invalidates: `permission(folder_id = id, user_id = *)`.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::form::{Form, Id, Name, ParamName};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::{Binding, BindingSource, Invalidation};
use crate::syntax::{Item, Kind};
use std::ops::Range;

impl Form for Invalidation {
    fn what() -> String {
        "a definition and what binds its parameters such as `\"listing(folder_id = parent_id)\"`"
            .to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::String(text) = &item.kind else { return decoder.mismatch(item) };
        match parse(text) {
            Ok(call) => Some(call),
            Err(error) => {
                let span = decoder.inside(&item.span, error.range);
                let span = if text.is_empty() { item.span.clone() } else { span };
                let message = "this is not what an event can invalidate";
                let diagnostic = Diagnostic::schema(message, span, error.problem);
                decoder.report(diagnostic.help(
                    "write `definition`, `definition(param = source, other = *, word = 'x')` or `definition(*)`",
                ))
            }
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": "^\\s*[a-z][a-z0-9_]*\\s*(\\(.*\\))?\\s*$" })
    }
}

/// Why a call cannot be read, and where.
#[derive(Debug, PartialEq)]
struct CallError {
    range: Range<usize>,
    problem: String,
}

/// Reads a call.
fn parse(text: &str) -> Result<Invalidation, CallError> {
    let mut cursor = Cursor { text, at: 0 };
    let (definition, range) = cursor.word();
    if !Id::is_valid(definition) {
        return Err(cursor.error(range, "expected a definition's id"));
    }
    let mut call = Invalidation {
        definition: definition.to_owned(),
        bindings: Vec::new(),
        rest_free: false,
        refresh: false,
    };
    if cursor.take('(') {
        arguments(&mut cursor, &mut call)?;
    }
    match cursor.rest() {
        range if range.is_empty() => Ok(call),
        range => Err(cursor.error(range, "nothing may follow here")),
    }
}

fn arguments(cursor: &mut Cursor<'_>, call: &mut Invalidation) -> Result<(), CallError> {
    while !cursor.take(')') {
        if cursor.take('*') {
            call.rest_free = true;
        } else {
            let (param, range) = cursor.word();
            if !ParamName::is_valid(param) {
                return Err(cursor.error(range, "expected a parameter, `*` or `)`"));
            }
            if call.bindings.iter().any(|binding| binding.param == param) {
                return Err(cursor.error(range, "this parameter is bound already"));
            }
            if !cursor.take('=') {
                let range = cursor.here();
                return Err(cursor.error(range, "expected `=`"));
            }
            let source = source(cursor)?;
            call.bindings.push(Binding { param: param.to_owned(), source });
        }
        if !cursor.take(',') && !cursor.peek(')') {
            let range = cursor.here();
            return Err(cursor.error(range, "expected `,` or `)`"));
        }
    }
    Ok(())
}

fn source(cursor: &mut Cursor<'_>) -> Result<BindingSource, CallError> {
    if cursor.take('*') {
        return Ok(BindingSource::Free);
    }
    for quote in ['\'', '"'] {
        let start = cursor.skip_spaces();
        if cursor.take(quote) {
            let Some(len) = cursor.text[cursor.at..].find(quote) else {
                return Err(cursor.error(start..cursor.text.len(), "this quote is never closed"));
            };
            let word = cursor.text[cursor.at..cursor.at + len].to_owned();
            cursor.at += len + 1;
            if word.is_empty() {
                return Err(cursor.error(start..cursor.at, "a word cannot be empty"));
            }
            return Ok(BindingSource::Word(word));
        }
    }
    let (param, range) = cursor.word();
    if !ParamName::is_valid(param) {
        return Err(cursor.error(range, "expected a parameter of the event, `*` or a 'word'"));
    }
    Ok(BindingSource::Param(param.to_owned()))
}

/// A place in the text; spaces before a token do not count.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn skip_spaces(&mut self) -> usize {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.at
    }

    fn peek(&mut self, char: char) -> bool {
        self.skip_spaces();
        self.text[self.at..].starts_with(char)
    }

    fn take(&mut self, char: char) -> bool {
        let found = self.peek(char);
        if found {
            self.at += char.len_utf8();
        }
        found
    }

    /// The run of word characters here, and where it stands.
    fn word(&mut self) -> (&'a str, Range<usize>) {
        let start = self.skip_spaces();
        let rest = &self.text[start..];
        let len = rest
            .find(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-' | '.')))
            .unwrap_or(rest.len());
        self.at = start + len;
        (&rest[..len], if len == 0 { self.here() } else { start..self.at })
    }

    /// The next character.
    fn here(&mut self) -> Range<usize> {
        let start = self.skip_spaces();
        let len = self.text[start..].chars().next().map_or(0, char::len_utf8);
        start..start + len
    }

    /// All that is left.
    fn rest(&mut self) -> Range<usize> {
        self.skip_spaces()..self.text.trim_end().len().max(self.at)
    }

    fn error(&self, range: Range<usize>, problem: &str) -> CallError {
        let end = range.end.min(self.text.len());
        CallError { range: range.start.min(end)..end, problem: problem.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn binding(param: &str, source: BindingSource) -> Binding {
        Binding { param: param.to_owned(), source }
    }

    #[test]
    fn every_form_of_a_call_is_read() {
        let call = |definition: &str, bindings, rest_free| {
            let definition = definition.to_owned();
            Ok(Invalidation { definition, bindings, rest_free, refresh: false })
        };
        let free = BindingSource::Free;
        let id = BindingSource::Param("id".to_owned());
        let de = BindingSource::Word("de".to_owned());
        assert_eq!(parse("listing"), call("listing", vec![], false));
        assert_eq!(parse(" listing () "), call("listing", vec![], false));
        assert_eq!(parse("popular(*)"), call("popular", vec![], true));
        assert_eq!(
            parse("permission(folder_id = id, user_id=*)"),
            call(
                "permission",
                vec![binding("folder_id", id), binding("user_id", free.clone())],
                false
            )
        );
        assert_eq!(
            parse("popular(region = 'de', kind = \"de\", *,)"),
            call("popular", vec![binding("region", de.clone()), binding("kind", de)], true)
        );
    }

    #[test]
    fn a_bad_call_says_what_is_wrong_and_where() {
        for (text, part, problem) in [
            ("", "", "expected a definition's id"),
            ("Listing", "Listing", "expected a definition's id"),
            ("a b", "b", "nothing may follow here"),
            ("a(b)", ")", "expected `=`"),
            ("a(b = )", ")", "expected a parameter of the event, `*` or a 'word'"),
            ("a(b = 'x)", "'x)", "this quote is never closed"),
            ("a(b = '')", "''", "a word cannot be empty"),
            ("a(b = c d = e)", "d", "expected `,` or `)`"),
            ("a(b = c", "", "expected `,` or `)`"),
            ("a(", "", "expected a parameter, `*` or `)`"),
            ("a(b = c, b = d)", "b", "this parameter is bound already"),
            ("a() )", ")", "nothing may follow here"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!((&text[error.range], error.problem.as_str()), (part, problem), "{text}");
        }
    }

    proptest! {
        #[test]
        fn reading_a_call_never_panics(text in "[a-c(),=*' \"é]{0,24}|\\PC*") {
            if let Err(error) = parse(&text) {
                prop_assert!(text.get(error.range).is_some());
            }
        }
    }
}
