//! TOML → values with places: an entry that nobody reads, or of the wrong kind, is refused where it stands.

use keyward_pattern::nearest;
use keyward_schema::{Diagnostic, FileId, Span};
use std::borrow::Cow;
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table that is being read: what was not taken when it is finished is refused.
pub(super) struct Table<'t> {
    name: String,
    file: FileId,
    entries: &'t DeTable<'t>,
    known: Vec<&'static str>,
}

/// Where a value stands, and what went wrong so far.
pub(super) type Errors = Vec<Diagnostic>;

impl<'t> Table<'t> {
    pub(super) fn new(name: impl Into<String>, file: FileId, entries: &'t DeTable<'t>) -> Self {
        Table { name: name.into(), file, entries, known: Vec::new() }
    }

    fn take(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.known.push(key);
        self.entries.get(key)
    }

    /// A text, and its place.
    pub(super) fn text(
        &mut self,
        key: &'static str,
        errors: &mut Errors,
    ) -> Option<(&'t str, Span)> {
        let value = self.take(key)?;
        let span = self.span(value.span());
        match value.get_ref() {
            DeValue::String(text) => Some((text, span)),
            other => self.refuse(key, "a text in quotes", other, span, errors),
        }
    }

    /// A text that means a value, such as `15m`.
    pub(super) fn parsed<T: FromStr<Err: std::fmt::Display>>(
        &mut self,
        key: &'static str,
        errors: &mut Errors,
    ) -> Option<(T, Span)> {
        let (text, span) = self.text(key, errors)?;
        match text.parse() {
            Ok(value) => Some((value, span)),
            Err(error) => {
                let message = format!("`{key}` cannot be used: {error}");
                let mistake = Diagnostic::config(message, span, "");
                errors.push(match key {
                    "listen" => mistake.help(
                        "write an IP address and a port: `127.0.0.1:9736`, `[::1]:9736` or `0.0.0.0:9736`",
                    ),
                    _ => mistake,
                });
                None
            }
        }
    }

    /// A number that is not negative.
    pub(super) fn number(&mut self, key: &'static str, errors: &mut Errors) -> Option<(u64, Span)> {
        let value = self.take(key)?;
        let span = self.span(value.span());
        let number = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        match number {
            Some(number) => Some((number, span)),
            None => self.refuse(key, "a number from 0 upwards", value.get_ref(), span, errors),
        }
    }

    /// `true` or `false`.
    pub(super) fn switch(&mut self, key: &'static str, errors: &mut Errors) -> Option<bool> {
        let value = self.take(key)?;
        let span = self.span(value.span());
        match value.get_ref() {
            DeValue::Boolean(switch) => Some(*switch),
            other => self.refuse(key, "`true` or `false`", other, span, errors),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &'static str, errors: &mut Errors) -> Vec<(&'t str, Span)> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let span = self.span(value.span());
        let DeValue::Array(items) = value.get_ref() else {
            let _: Option<()> = self.refuse(key, "a list of texts", value.get_ref(), span, errors);
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            let span = self.span(item.span());
            match item.get_ref() {
                DeValue::String(text) => texts.push((text.as_ref(), span)),
                other => {
                    let _: Option<()> = self.refuse(key, "a list of texts", other, span, errors);
                }
            }
        }
        texts
    }

    /// The tables inside a table, by their names: `[servers.cart]`.
    pub(super) fn tables(
        &mut self,
        key: &'static str,
        errors: &mut Errors,
    ) -> Vec<(&'t str, Span, Table<'t>)> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let DeValue::Table(tables) = value.get_ref() else {
            let span = self.span(value.span());
            let _: Option<()> = self.refuse(key, "a table", value.get_ref(), span, errors);
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, value) in tables {
            let (text, span): (&Cow<'_, str>, _) = (name.get_ref(), self.span(name.span()));
            match value.get_ref() {
                DeValue::Table(inner) => {
                    let table = Table::new(format!("[{key}.{text}]"), self.file, inner);
                    found.push((text.as_ref(), span, table));
                }
                other => {
                    let _: Option<()> = self.refuse(key, "a table", other, span, errors);
                }
            }
        }
        found
    }

    /// A table inside a table: `[history]`.
    pub(super) fn table(&mut self, key: &'static str, errors: &mut Errors) -> Option<Table<'t>> {
        let value = self.take(key)?;
        match value.get_ref() {
            DeValue::Table(inner) => Some(Table::new(format!("[{key}]"), self.file, inner)),
            other => {
                let span = self.span(value.span());
                self.refuse(key, "a table", other, span, errors)
            }
        }
    }

    /// Refuses what nobody reads.
    pub(super) fn finish(self, errors: &mut Errors) {
        let unknown =
            self.entries.iter().filter(|(key, _)| !self.known.contains(&key.get_ref().as_ref()));
        for (key, _) in unknown {
            let message = format!("{} has no field `{}`", self.name, key.get_ref());
            let near = nearest(key.get_ref(), self.known.iter().copied());
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the fields are {}", self.known.join(", ")),
            };
            let span = self.span(key.span());
            errors.push(Diagnostic::config(message, span, "unknown field").help(help));
        }
    }

    fn refuse<T>(
        &self,
        key: &str,
        wanted: &str,
        got: &DeValue<'_>,
        span: Span,
        errors: &mut Errors,
    ) -> Option<T> {
        let message = format!("`{key}` in {} must be {wanted}", self.name);
        errors.push(Diagnostic::config(message, span, format!("this is {}", kind(got))));
        None
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range)
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
