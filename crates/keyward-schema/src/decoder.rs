//! Decodes a tree of TOML: the path to the current value, and what was wrong so far.

use crate::diagnostic::Diagnostic;
use crate::form::Form;
use crate::span::{Sources, Span, Spanned};
use crate::syntax::{Entry, Item, Kind, offset_in_raw};
use crate::tables::belongs_elsewhere;
use keyward_pattern::nearest;
use std::ops::Range;

/// Decodes one file.
pub(crate) struct Decoder<'a> {
    sources: &'a Sources,
    /// The keys that lead to the place being read
    path: Vec<String>,
    /// Whether it is an entry of an array
    in_array: bool,
    /// Whether the file has syntax errors, so that parts of it may be missing
    recovered: bool,
    /// What was wrong so far
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(sources: &'a Sources, recovered: bool) -> Self {
        Decoder { sources, path: Vec::new(), in_array: false, recovered, diagnostics: Vec::new() }
    }

    /// Reports; `None` so that a reader can `return` it.
    pub(crate) fn report<T>(&mut self, mut diagnostic: Diagnostic) -> Option<T> {
        if let [table, id, ..] = self.path.as_slice()
            && table == "keys"
        {
            diagnostic.definition = Some(id.clone());
        }
        self.diagnostics.push(diagnostic);
        None
    }

    /// Reports with one place.
    pub(crate) fn error<T>(
        &mut self,
        span: &Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Option<T> {
        self.report(Diagnostic::schema(message, span.clone(), label))
    }

    /// Reports a value of the wrong kind.
    pub(crate) fn mismatch<T: Form>(&mut self, item: &Item) -> Option<T> {
        let message = format!("{} must be {}", self.here(), T::what());
        let label = format!("this is {}", item.kind.name());
        let mut diagnostic = Diagnostic::schema(message, item.span.clone(), label);
        if let Some(fixed) = T::fix(item) {
            diagnostic = diagnostic.help(match self.path.last() {
                Some(name) if !self.in_array => format!("write `{name} = {fixed}`"),
                _ => format!("write `{fixed}`"),
            });
        }
        self.report(diagnostic)
    }

    /// The field being read, for messages.
    pub(crate) fn here(&self) -> String {
        match self.path.last() {
            Some(name) if self.in_array => format!("an entry of `{name}`"),
            Some(name) => format!("`{name}`"),
            None => "the schema".to_owned(),
        }
    }

    /// The table being read, as its header would be written.
    pub(crate) fn table_name(&self) -> String {
        if self.path.is_empty() {
            "the schema".to_owned()
        } else {
            format!("`[{}]`", self.path.join("."))
        }
    }

    /// A part of a string's value, in the file.
    pub(crate) fn inside(&self, string: &Span, part: Range<usize>) -> Span {
        inside(self.sources, string, part)
    }

    /// Reads a value one level down.
    pub(crate) fn within<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let in_array = std::mem::replace(&mut self.in_array, false);
        self.path.push(name.to_owned());
        let value = read(self);
        self.path.pop();
        self.in_array = in_array;
        value
    }

    /// Reads an entry of an array.
    pub(crate) fn entry<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let in_array = std::mem::replace(&mut self.in_array, true);
        let value = read(self);
        self.in_array = in_array;
        value
    }

    /// Reads a field that may be missing.
    pub(crate) fn optional<T: Form>(&mut self, table: &[Entry], key: &str) -> Option<Spanned<T>> {
        let entry = table.iter().find(|entry| entry.key.value == key)?;
        self.within(key, |decoder| T::spanned(&entry.item, decoder))
    }

    /// Reads a field that must be there.
    pub(crate) fn required<T: Form>(
        &mut self,
        table: &[Entry],
        key: &str,
        known: &[&str],
        place: &Span,
    ) -> Option<Spanned<T>> {
        if table.iter().any(|entry| entry.key.value == key) {
            return self.optional(table, key);
        }
        let misspelt = |entry: &Entry| {
            !known.contains(&entry.key.as_str())
                && nearest(&entry.key, known.iter().copied()) == Some(key)
        };
        if self.recovered || table.iter().any(misspelt) {
            return None;
        }
        let name = self.table_name();
        let message = format!("{name} has no `{key}`");
        self.error(place, message, format!("`{key}` is missing: {}", T::what()))
    }

    /// The entries of a table.
    pub(crate) fn table<'i, T: Form>(&mut self, item: &'i Item) -> Option<&'i [Entry]> {
        if let Kind::Table(entries) = &item.kind {
            return Some(entries);
        }
        self.mismatch::<T>(item);
        None
    }

    /// What to do instead of a field that is planned and that nothing reads yet.
    fn not_yet(&self, key: &str) -> Option<&'static str> {
        match (self.path.as_slice(), key) {
            ([], "services") => Some("name who is responsible for keys: `owner`"),
            ([], "channels") => Some("declare keys only; describe channels in `[keyspace] doc`"),
            ([keys, _], "prefix") if keys == "keys" => Some(
                "declare keys without the prefix in a schema of their own, and check both together: \
                 `keyward check keyward.toml global.toml`",
            ),
            _ => None,
        }
    }

    /// Reports entries that a table does not have.
    pub(crate) fn refuse_unknown(&mut self, table: &[Entry], known: &[&str]) {
        for entry in table.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let key = &entry.key.value;
            if let Some(instead) = self.not_yet(key) {
                let message = format!("`{key}` is not supported yet");
                let span = entry.key.span.clone();
                self.report::<()>(
                    Diagnostic::schema(message, span, "nothing reads this").help(instead),
                );
                continue;
            }
            let message = format!("{} has no field `{key}`", self.table_name());
            let help = match (nearest(key, known.iter().copied()), belongs_elsewhere(key)) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, Some(place)) => place,
                _ if known.is_empty() => "it takes no fields: write `{}`".to_owned(),
                _ => format!("the fields are {}", known.join(", ")),
            };
            let diagnostic =
                Diagnostic::schema(message, entry.key.span.clone(), "unknown field").help(help);
            self.report::<()>(diagnostic);
        }
    }
}

/// A part of a string's value, in its file.
pub(crate) fn inside(sources: &Sources, string: &Span, part: Range<usize>) -> Span {
    let raw = sources.get(string.file).text.get(string.start..string.end).unwrap_or_default();
    if raw.len() < 2 {
        return string.clone();
    }
    let start = string.start + offset_in_raw(raw, part.start);
    let end = string.start + offset_in_raw(raw, part.end);
    Span::new(string.file, start..end.max(start))
}
