//! `[layout]`: the shape that every pattern follows, and the words allowed in its slots.

use crate::Diagnostic;
use crate::decoder::{Decoder, inside};
use crate::form::{AnyName, Form, Map, one_of, table};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::{Layout, Lifecycle, Meaning, Role, Slot, Words};
use crate::span::{Sources, Spanned};
use crate::syntax::{Item, Kind};
use keyward_fact::KeyType;
use keyward_pattern::nearest;
use std::ops::Range;

table! {
    /// `[layout]`: the shape that every pattern must follow, without the prefix.
    LayoutTable {
        /// The shape: `<slot>`, literals, `[:<slot>]` for an optional slot, `<slot...>` for the rest.
        required shape: String,
        /// Words with a special meaning, such as `all` or `active`. No parameter accepts them as a value.
        optional reserved: Vec<Spanned<String>>,
        /// What a word means for its keys: a type, a role or a lifecycle.
        optional means: Map<AnyName, Meaning>,
        /// The words allowed in the slot of this name.
        rest words: SlotWords,
    }
}

table! {
    /// Words that depend on the word in an earlier slot.
    WordsBy {
        /// The earlier slot.
        required by: String,
        /// The words allowed here if the earlier slot holds this word.
        rest words: Vec<Spanned<String>>,
    }
}

/// The words of a slot, as written.
#[derive(Debug)]
pub(crate) enum SlotWords {
    Fixed(Vec<Spanned<String>>),
    By(WordsBy),
}

impl Form for SlotWords {
    fn what() -> String {
        "an array of words, or a table `by = \"slot\"` with words for each word of that slot"
            .to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::Array(_) => Vec::read(item, decoder).map(SlotWords::Fixed),
            Kind::Table(_) => WordsBy::read(item, decoder).map(SlotWords::By),
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "anyOf": [crate::value::words_schema(), WordsBy::schema(schemas)] })
    }
}

/// Resolves a layout: reads its shape and gives each slot its words.
pub(crate) fn lower(
    table: LayoutTable,
    separator: char,
    sources: &Sources,
    errors: &mut Vec<Diagnostic>,
) -> Option<Layout> {
    let text = table.shape;
    let mut slots = match shape(&text, separator) {
        Ok(slots) => slots,
        Err(error) => {
            let span = if text.is_empty() {
                text.span.clone()
            } else {
                inside(sources, &text.span, error.range)
            };
            errors.push(
                Diagnostic::schema("the layout's shape cannot be read", span, error.problem).help(
                    "write it like `<module>:<entity>:<id>[:<detail>]` or `<module>:<rest...>`",
                ),
            );
            return None;
        }
    };
    let place = |name: &str| slots.iter().position(|slot| slot.name.as_deref() == Some(name));
    let mut given = table.words;
    given.sort_by_key(|(name, _)| place(name));
    for (name, words) in given {
        let names: Vec<String> = slots.iter().filter_map(|slot| slot.name.clone()).collect();
        let Some(index) = slots.iter().position(|slot| slot.name.as_deref() == Some(&name)) else {
            errors.push(unknown_slot(&name, &names));
            continue;
        };
        let words = match words.value {
            SlotWords::Fixed(words) => Words::Fixed(words),
            SlotWords::By(by) => {
                let earlier = names.iter().position(|earlier| *earlier == by.by.value);
                let own = names.iter().position(|own| *own == name.value);
                if earlier.is_none() || earlier >= own {
                    errors.push(not_earlier(&name, &by.by));
                    continue;
                }
                let known = slots.iter().find(|slot| slot.name.as_ref() == Some(&by.by.value));
                if let Some(Words::Fixed(known)) = known.and_then(|slot| slot.words.as_ref()) {
                    errors.extend(unknown_words(&by, known));
                }
                Words::By {
                    slot: by.by,
                    words: by.words.into_iter().map(|(word, words)| (word, words.value)).collect(),
                }
            }
        };
        slots[index].words = Some(words);
    }
    let reserved = table.reserved.map(|reserved| reserved.value).unwrap_or_default();
    let means = table.means.map(|means| means.value.entries).unwrap_or_default();
    for (word, _) in &means {
        if !slots.iter().any(|slot| slot.words().any(|known| known == word.value)) {
            errors.push(
                Diagnostic::schema(
                    format!("no slot has the word `{}`", word.value),
                    word.span.clone(),
                    "applies to no key",
                )
                .help("list it among the words of its slot"),
            );
        }
    }
    Some(Layout { text, slots, reserved, means })
}

impl Form for Meaning {
    fn what() -> String {
        "a type, a role or a lifecycle such as `\"list\"`, `\"lock\"` or `\"cache\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        one_of(item, &meanings(), decoder)
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "enum": meanings().iter().map(|(word, _)| *word).collect::<Vec<_>>() })
    }
}

/// Every meaning with its word. Of `session`, a lifecycle and a role that implies it, the lifecycle.
fn meanings() -> Vec<(&'static str, Meaning)> {
    static TYPES: [KeyType; 9] = KeyType::BUILT_IN;
    let lifecycles = Lifecycle::ALL.into_iter().map(|it| (it.name(), Meaning::Lifecycle(it)));
    let roles = Role::NAMES.into_iter().filter(|name| *name != Lifecycle::Session.name());
    let types = TYPES.iter().map(|ty| (ty.name(), Meaning::Type(ty.clone())));
    lifecycles.chain(roles.map(|name| (name, Meaning::Role(name)))).chain(types).collect()
}

fn unknown_slot(name: &Spanned<String>, known: &[String]) -> Diagnostic {
    let message = format!("the shape has no slot `{}`", **name);
    let diagnostic = Diagnostic::schema(message, name.span.clone(), "unknown slot");
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("the slots are {}", known.join(", "))),
    }
}

/// Words of an earlier slot that it does not have.
fn unknown_words(by: &WordsBy, known: &[Spanned<String>]) -> Vec<Diagnostic> {
    let known = || known.iter().map(|word| word.value.as_str());
    let unknown = by.words.iter().map(|(word, _)| word);
    unknown
        .filter(|word| !known().any(|known| known == word.value))
        .map(|word| {
            let message = format!("`{}` is not a word of the slot `{}`", **word, *by.by);
            let diagnostic = Diagnostic::schema(message, word.span.clone(), "unknown word");
            match nearest(word, known()) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic,
            }
        })
        .collect()
}

fn not_earlier(name: &Spanned<String>, by: &Spanned<String>) -> Diagnostic {
    let message = format!("the words of `{}` cannot depend on `{}`", **name, **by);
    Diagnostic::schema(message, by.span.clone(), "not an earlier slot of the shape")
}

/// Why a shape cannot be read, and where.
struct ShapeError {
    range: Range<usize>,
    problem: String,
}

/// Reads a shape: segments between separators, then optional ones in brackets.
fn shape(text: &str, separator: char) -> Result<Vec<Slot>, ShapeError> {
    let error =
        |range: Range<usize>, problem: &str| ShapeError { range, problem: problem.to_owned() };
    let mut slots: Vec<Slot> = Vec::new();
    let mut at = 0;
    let mut optional = false;
    while at < text.len() || slots.is_empty() {
        let opening = format!("[{separator}");
        if text[at..].starts_with(&opening) && !slots.is_empty() {
            optional = true;
            at += opening.len();
        } else if text[at..].starts_with('[') {
            return Err(error(at..at + 1, "an optional part must start with the separator"));
        } else if optional {
            return Err(error(at..text.len(), "nothing can follow an optional part"));
        } else if !slots.is_empty() {
            at += separator.len_utf8();
        }
        let end = text[at..].find([separator, '[', ']']).map_or(text.len(), |len| at + len);
        if slots.last().is_some_and(|last| last.rest) {
            return Err(error(at..end, "nothing can follow the slot that takes the rest"));
        }
        let slot = slot(&text[at..end], optional).map_err(|problem| error(at..end, &problem))?;
        if slot.name.is_some() && slots.iter().any(|other| other.name == slot.name) {
            return Err(error(at..end, "this slot is in the shape already"));
        }
        slots.push(slot);
        at = end;
        if optional {
            if !text[at..].starts_with(']') {
                return Err(error(at..text.len(), "expected `]`"));
            }
            at += 1;
        } else if text[at..].starts_with(']') {
            return Err(error(at..at + 1, "this bracket was never opened"));
        }
    }
    Ok(slots)
}

fn slot(text: &str, optional: bool) -> Result<Slot, String> {
    let slot = Slot { name: None, literal: None, optional, rest: false, words: None };
    let Some(inner) = text.strip_prefix('<') else {
        return match text {
            "" => Err("a segment of the shape cannot be empty".to_owned()),
            _ if text.contains(['<', '>']) => {
                Err("a segment of the shape is one slot or one literal".to_owned())
            }
            literal => Ok(Slot { literal: Some(literal.to_owned()), ..slot }),
        };
    };
    let Some(inner) = inner.strip_suffix('>') else {
        return Err("a slot is written `<name>`".to_owned());
    };
    let (name, rest) = match inner.strip_suffix("...") {
        Some(name) => (name, true),
        None => (inner, false),
    };
    let valid = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    match name {
        _ if !valid => Err("a slot's name is letters, digits, `_` and `-`".to_owned()),
        "shape" | "reserved" => {
            Err(format!("`{name}` is a field of `[layout]`, so no slot can have this name"))
        }
        _ => Ok(Slot { name: Some(name.to_owned()), rest, ..slot }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slots(text: &str) -> Result<String, String> {
        let show = |slot: &Slot| {
            let name = slot.name.as_ref().or(slot.literal.as_ref()).unwrap().clone();
            let literal = if slot.literal.is_some() { "=" } else { "" };
            let optional = if slot.optional { "?" } else { "" };
            let rest = if slot.rest { "..." } else { "" };
            format!("{literal}{name}{rest}{optional}")
        };
        match shape(text, ':') {
            Ok(slots) => Ok(slots.iter().map(show).collect::<Vec<_>>().join(" ")),
            Err(error) => Err(format!("{:?}: {}", &text[error.range], error.problem)),
        }
    }

    #[test]
    fn every_part_of_a_shape_is_read() {
        assert_eq!(slots("<entity>:<id>:<attribute>").unwrap(), "entity id attribute");
        assert_eq!(slots("<namespace>:v2:<id>[:<subkey>]").unwrap(), "namespace =v2 id subkey?");
        assert_eq!(slots("<a>[:<b>][:<c...>]").unwrap(), "a b? c...?");
        assert_eq!(slots("<module>:<identifier...>").unwrap(), "module identifier...");
        assert_eq!(slots("<all...>").unwrap(), "all...");
    }

    #[test]
    fn a_bad_shape_says_what_is_wrong_and_where() {
        for (text, problem) in [
            ("", r#""": a segment of the shape cannot be empty"#),
            ("<a>:", r#""": a segment of the shape cannot be empty"#),
            ("<a", r#""<a": a slot is written `<name>`"#),
            ("<a>b", r#""<a>b": a slot is written `<name>`"#),
            ("b<a>", r#""b<a>": a segment of the shape is one slot or one literal"#),
            ("<a>:<a>", r#""<a>": this slot is in the shape already"#),
            ("<a...>:<b>", r#""<b>": nothing can follow the slot that takes the rest"#),
            ("<a>[:<b>]:<c>", r#"":<c>": nothing can follow an optional part"#),
            ("<a>[<b>]", r#""[": an optional part must start with the separator"#),
            ("<a>[:<b>", r#""": expected `]`"#),
            ("<a>]", r#""]": this bracket was never opened"#),
            ("<1>", r#""<1>": a slot's name is letters, digits, `_` and `-`"#),
            (
                "<shape>",
                r#""<shape>": `shape` is a field of `[layout]`, so no slot can have this name"#,
            ),
        ] {
            assert_eq!(slots(text).unwrap_err(), problem, "{text}");
        }
    }

    proptest! {
        #[test]
        fn reading_a_shape_never_panics(text in "[<>a.:\\[\\]é]{0,20}|\\PC*") {
            let _ = slots(&text);
        }
    }
}
