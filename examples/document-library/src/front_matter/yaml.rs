//! Front matter in YAML, from the parser's events: its values could be nested without end.

use super::{FrontMatterError, KNOWN, Values, check_count};
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::HashMap;

/// How much text aliases stand for at most, in bytes: each may stand for all that was written before it.
const EXPANDED: usize = 1 << 20;

/// The values of a mapping; `None` if it is something else.
pub(super) fn read(text: &str) -> Result<Option<Values>, FrontMatterError> {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| FrontMatterError::Language {
            line: error.marker().line() + 1,
            language: "YAML",
            why: error.info().to_owned(),
        })?;
        // The first line of the file is the one with the marker.
        reader.line = span.start.line() + 1;
        reader.event(event)?;
    }
    Ok(reader.is_mapping.then_some(reader.values))
}

#[derive(Default)]
struct Reader {
    line: usize,
    depth: usize,
    is_mapping: bool,
    /// The name whose value comes next, or is being read
    name: Option<String>,
    /// Whether a name is being read that is no text
    in_name: bool,
    /// The value that is being read, of a name at the top
    value: Value,
    values: Values,
    /// What aliases stand for: texts, or `None` for anything else
    anchors: HashMap<usize, Option<Vec<String>>>,
    expanded: usize,
}

/// A value as far as it was read.
#[derive(Default)]
struct Value {
    anchor: usize,
    texts: Vec<String>,
    /// Whether there is something else than texts in it
    has_more: bool,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) -> Result<(), FrontMatterError> {
        match event {
            Event::MappingStart(anchor, _) => {
                self.is_mapping |= self.depth == 0;
                self.begin(anchor, "has a mapping")
            }
            Event::SequenceStart(anchor, _) => self.begin(anchor, "has a list in its list"),
            Event::MappingEnd | Event::SequenceEnd => {
                self.depth -= 1;
                if self.depth == 1 && self.is_mapping { self.end() } else { Ok(()) }
            }
            Event::Scalar(text, style, anchor, _) => {
                let is_null = style == ScalarStyle::Plain
                    && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                let texts = if is_null { Vec::new() } else { vec![text.into_owned()] };
                if anchor > 0 {
                    self.anchors.insert(anchor, Some(texts.clone()));
                }
                self.texts(Some(texts))
            }
            Event::Alias(_) if !self.is_known() && self.value.anchor == 0 => self.texts(None),
            Event::Alias(anchor) => {
                let texts = self.anchors.get(&anchor).cloned().flatten();
                self.expanded += texts.iter().flatten().map(String::len).sum::<usize>();
                if self.expanded > EXPANDED {
                    return Err(self.refuse("has aliases that stand for more than 1 MiB"));
                }
                // A list in a list is none, whether it is written out or not.
                let is_one = self.depth == 1 || texts.as_ref().is_some_and(|it| it.len() < 2);
                self.texts(texts.filter(|_| is_one))
            }
            _ => Ok(()),
        }
    }

    /// A mapping or a list begins.
    fn begin(&mut self, anchor: usize, what: &'static str) -> Result<(), FrontMatterError> {
        self.depth += 1;
        if anchor > 0 {
            self.anchors.insert(anchor, None);
        }
        match self.depth {
            2 if self.is_mapping && self.name.is_none() => self.in_name = true,
            2 if self.is_mapping => {
                self.value = Value { anchor, ..Value::default() };
                if what == "has a mapping" {
                    self.value.has_more = true;
                    return self.refuse_if_known(what);
                }
            }
            3 if !self.in_name => {
                self.value.has_more = true;
                return self.refuse_if_known(what);
            }
            _ => {}
        }
        Ok(())
    }

    /// A mapping or a list at the top has ended.
    fn end(&mut self) -> Result<(), FrontMatterError> {
        if std::mem::take(&mut self.in_name) {
            // A name that is no text is none that is known.
            self.name = Some(String::new());
            return Ok(());
        }
        let Value { anchor, texts, has_more } = std::mem::take(&mut self.value);
        if anchor > 0 && !has_more {
            self.anchors.insert(anchor, Some(texts.clone()));
        }
        self.keep(texts)
    }

    /// Texts that stand in one place: one, several that an alias stands for, or `None` for what is no text.
    fn texts(&mut self, texts: Option<Vec<String>>) -> Result<(), FrontMatterError> {
        if !self.is_mapping || self.in_name {
            return Ok(());
        }
        match (self.depth, texts) {
            (1, Some(texts)) if self.name.is_none() => self.name = Some(texts.concat()),
            (1, None) if self.name.is_none() => self.name = Some(String::new()),
            (1, Some(texts)) => return self.keep(texts),
            (1, None) => {
                self.refuse_if_known("has an alias of something else")?;
                self.name = None;
            }
            (2, Some(texts)) => self.value.texts.extend(texts),
            (2, None) => {
                self.value.has_more = true;
                return self.refuse_if_known("has an alias of something else in its list");
            }
            _ => {}
        }
        Ok(())
    }

    /// The value of a name at the top is complete.
    fn keep(&mut self, texts: Vec<String>) -> Result<(), FrontMatterError> {
        let Some(name) = self.name.take().filter(|name| KNOWN.contains(&name.as_str())) else {
            return Ok(());
        };
        check_count(&name, texts.len(), self.line)?;
        self.values.entry(name).or_default().extend(texts);
        Ok(())
    }

    fn is_known(&self) -> bool {
        self.name.as_deref().is_some_and(|it| KNOWN.contains(&it))
    }

    fn refuse_if_known(&self, what: &'static str) -> Result<(), FrontMatterError> {
        if self.name.as_deref() == Some("<<") {
            return Err(FrontMatterError::Merge { line: self.line });
        }
        if self.is_known() { Err(self.refuse(what)) } else { Ok(()) }
    }

    fn refuse(&self, what: &'static str) -> FrontMatterError {
        let name = self.name.clone().unwrap_or_default();
        FrontMatterError::Shape { line: self.line, name, what }
    }
}
