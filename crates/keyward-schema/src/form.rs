//! How a thing may be written: one declaration that reads it, describes it in messages, and
//! describes it in the JSON Schema and the reference.

use crate::decoder::Decoder;
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, described, json};
use crate::span::Spanned;
use crate::syntax::{Item, Kind};
use std::marker::PhantomData;

/// Something that can be written in a schema.
pub(crate) trait Form: Sized {
    /// What may be written, in a few words: "a duration such as `1h30m`".
    fn what() -> String;

    /// Reads it; `None` when something was reported.
    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self>;

    /// What to write instead of a value of the wrong kind, where it is plain what was meant.
    fn fix(_: &Item) -> Option<String> {
        None
    }

    /// Describes it in JSON Schema.
    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json;

    /// Reads it and keeps its place.
    fn spanned(item: &Item, decoder: &mut Decoder<'_>) -> Option<Spanned<Self>> {
        Self::read(item, decoder).map(|value| Spanned::new(value, item.span.clone()))
    }
}

/// A table with fields.
pub(crate) trait Table: Form {
    /// What the table is for.
    const DOC: &'static str;

    /// Its fields, in the order in which they are documented.
    fn fields() -> Vec<FieldSpec>;

    /// The table as JSON Schema.
    #[cfg(feature = "tools")]
    fn object(schemas: &mut Schemas) -> Json {
        let mut properties = serde_json::Map::new();
        let mut required = Vec::new();
        let mut others = json!(false);
        for field in Self::fields() {
            let schema = (field.schema)(schemas);
            match field.presence {
                Presence::Rest => others = schema,
                Presence::Optional => {
                    properties.insert(field.key.to_owned(), described(schema, field.doc));
                }
                Presence::Required => {
                    required.push(field.key);
                    properties.insert(field.key.to_owned(), described(schema, field.doc));
                }
            }
        }
        let mut object = json!({ "type": "object", "description": Self::DOC.trim() });
        if !properties.is_empty() {
            object["properties"] = Json::Object(properties);
        }
        if !required.is_empty() {
            object["required"] = json!(required);
        }
        object["additionalProperties"] = others;
        object
    }
}

/// One field of a table, as it is documented.
pub(crate) struct FieldSpec {
    pub(crate) key: &'static str,
    pub(crate) presence: Presence,
    pub(crate) what: String,
    pub(crate) doc: &'static str,
    #[cfg(feature = "tools")]
    pub(crate) schema: fn(&mut Schemas) -> Json,
}

impl FieldSpec {
    /// Whether it is written as a string of its own kind: a pattern, an id, any text.
    fn is_text(&self) -> bool {
        use crate::{scalar::NonEmpty, value::DefinitionName};
        [NonEmpty::what(), DefinitionName::what(), keyward_pattern::Template::what()]
            .contains(&self.what)
    }
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
    /// Takes every entry that is not another field
    Rest,
}

/// Declares a table: its struct, how it is read, and how it is described.
///
/// `required` fields become `Spanned<T>`, `optional` ones `Option<Spanned<T>>`, and a `rest` field
/// takes every other entry. The doc comments are the reference.
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        $name:ident {
            $( $(#[doc = $field_doc:literal])+ $presence:ident $field:ident $(= $key:literal)?: $form:ty, )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug)]
        #[allow(dead_code, reason = "a version is read for its errors only")]
        pub(crate) struct $name {
            $( $(#[doc = $field_doc])+ pub(crate) $field: table!(@type $presence $form), )*
        }

        impl $crate::form::Form for $name {
            fn what() -> String {
                "a table".to_owned()
            }

            #[allow(unused_variables, reason = "a table may have no fields")]
            fn read(
                item: &$crate::syntax::Item,
                decoder: &mut $crate::decoder::Decoder<'_>,
            ) -> Option<Self> {
                let table = decoder.table::<Self>(item)?;
                let known: &[&str] = &[$( table!(@key $presence $field $($key)?) ),*];
                if ![$( table!(@is_rest $presence) ),*].contains(&true) {
                    decoder.refuse_unknown(table, known);
                }
                $( let $field = table!(
                    @read $presence $form, table, table!(@key $presence $field $($key)?), item, known, decoder
                ); )*
                Some($name { $( $field: table!(@unwrap $presence $field), )* })
            }

            fn fix(item: &$crate::syntax::Item) -> Option<String> {
                $crate::form::table_for::<Self>(item)
            }

            #[cfg(feature = "tools")]
            fn schema(schemas: &mut $crate::json_schema::Schemas) -> $crate::json_schema::Json {
                <Self as $crate::form::Table>::object(schemas)
            }
        }

        impl $crate::form::Table for $name {
            const DOC: &'static str = concat!($($doc),+);

            fn fields() -> Vec<$crate::form::FieldSpec> {
                vec![$( $crate::form::FieldSpec {
                    key: table!(@key $presence $field $($key)?),
                    presence: table!(@presence $presence),
                    what: <$form as $crate::form::Form>::what(),
                    doc: concat!($($field_doc),+),
                    #[cfg(feature = "tools")]
                    schema: <$form as $crate::form::Form>::schema,
                } ),*]
            }
        }
    };
    (@type required $form:ty) => { $crate::span::Spanned<$form> };
    (@type optional $form:ty) => { Option<$crate::span::Spanned<$form>> };
    (@type rest $form:ty) => { Vec<($crate::span::Spanned<String>, $crate::span::Spanned<$form>)> };
    (@key rest $field:ident) => { "" };
    (@key $presence:ident $field:ident) => { stringify!($field) };
    (@key $presence:ident $field:ident $key:literal) => { $key };
    (@is_rest rest) => { true };
    (@is_rest $presence:ident) => { false };
    (@presence required) => { $crate::form::Presence::Required };
    (@presence optional) => { $crate::form::Presence::Optional };
    (@presence rest) => { $crate::form::Presence::Rest };
    (@read required $form:ty, $table:ident, $key:expr, $item:ident, $known:ident, $decoder:ident) => {
        $decoder.required::<$form>($table, $key, $known, &$item.span)
    };
    (@read optional $form:ty, $table:ident, $key:expr, $item:ident, $known:ident, $decoder:ident) => {
        $decoder.optional::<$form>($table, $key)
    };
    (@read rest $form:ty, $table:ident, $key:expr, $item:ident, $known:ident, $decoder:ident) => {
        $crate::form::entries::<$form>(
            $table.iter().filter(|entry| !$known.contains(&entry.key.as_str())),
            $decoder,
        )
    };
    (@unwrap required $field:ident) => { $field? };
    (@unwrap $presence:ident $field:ident) => { $field };
}
pub(crate) use table;

/// Declares the words that an enum is written with.
macro_rules! words {
    ($name:ty: $what:literal, $words:expr) => {
        impl $crate::form::Form for $name {
            fn what() -> String {
                $what.to_owned()
            }

            fn read(
                item: &$crate::syntax::Item,
                decoder: &mut $crate::decoder::Decoder<'_>,
            ) -> Option<Self> {
                let words = $words;
                $crate::form::one_of(item, &words, decoder)
            }

            #[cfg(feature = "tools")]
            fn schema(_: &mut $crate::json_schema::Schemas) -> $crate::json_schema::Json {
                let words = $words.map(|(word, _): (&str, $name)| word);
                $crate::json_schema::json!({ "enum": words })
            }
        }
    };
}
pub(crate) use words;

/// The table to write instead of a single value: its required fields, the first one filled in if
/// the value can only have meant that one.
pub(crate) fn table_for<T: Table>(item: &Item) -> Option<String> {
    let mut fields = T::fields();
    fields.retain(|field| field.presence == Presence::Required);
    let fields: Vec<String> = match &item.kind {
        Kind::Boolean(true) => fields.iter().map(|field| format!("{} = …", field.key)).collect(),
        Kind::String(text) if is_plain(text) && fields.first().is_some_and(FieldSpec::is_text) => {
            let value = |index| if index == 0 { text.as_str() } else { "…" };
            let fields = fields.iter().enumerate();
            fields.map(|(index, field)| format!("{} = \"{}\"", field.key, value(index))).collect()
        }
        _ => return None,
    };
    Some(if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) })
}

/// Whether a text stands in quotes as it is.
fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| c == '"' || c == '\\' || c.is_control())
}

/// Reads one of some words.
pub(crate) fn one_of<T: Form + Clone>(
    item: &Item,
    words: &[(&str, T)],
    decoder: &mut Decoder<'_>,
) -> Option<T> {
    let Kind::String(text) = &item.kind else { return decoder.mismatch(item) };
    if let Some((_, value)) = words.iter().find(|(word, _)| word == text) {
        return Some(value.clone());
    }
    let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    unknown_word(&item.span, text, &known, decoder)
}

/// Reports a word that is not among the known ones.
pub(crate) fn unknown_word<T>(
    span: &crate::span::Span,
    word: &str,
    known: &[&str],
    decoder: &mut Decoder<'_>,
) -> Option<T> {
    let message = format!("{} cannot be `{word}`", decoder.here());
    let help = match keyward_pattern::nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", quoted(known)),
    };
    let diagnostic = crate::Diagnostic::schema(message, span.clone(), "not one of the words");
    decoder.report(diagnostic.help(help))
}

/// `a`, `b` or `c`, each in backticks.
pub(crate) fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.join(""),
    }
}

/// Reads all entries of a table with the same form.
pub(crate) fn entries<'i, T: Form>(
    table: impl Iterator<Item = &'i crate::syntax::Entry>,
    decoder: &mut Decoder<'_>,
) -> Vec<(Spanned<String>, Spanned<T>)> {
    table
        .filter_map(|entry| {
            let value =
                decoder.within(&entry.key.value, |decoder| T::spanned(&entry.item, decoder))?;
            Some((entry.key.clone(), value))
        })
        .collect()
}

/// A table whose entries have names of one kind and values of one form.
#[derive(Debug)]
pub(crate) struct Map<N, T> {
    pub(crate) entries: Vec<(Spanned<String>, Spanned<T>)>,
    /// The names of entries that could not be read
    pub(crate) broken: Vec<String>,
    name: PhantomData<N>,
}

/// A kind of name.
pub(crate) trait Name {
    /// What it may be made of, for messages.
    const WHAT: &'static str;
    /// The same as a regular expression, for JSON Schema.
    const PATTERN: &'static str;
    /// Whether it is one.
    fn is_valid(name: &str) -> bool;
}

/// The id of a definition, an event, a group, …
#[derive(Debug)]
pub(crate) struct Id;

impl Name for Id {
    const WHAT: &'static str = "an id starts with a lower-case letter and continues with lower-case letters, digits or `_`";
    const PATTERN: &'static str = "^[a-z][a-z0-9_]*$";

    fn is_valid(name: &str) -> bool {
        name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    }
}

/// The name of a parameter.
#[derive(Debug)]
pub(crate) struct ParamName;

impl Name for ParamName {
    const WHAT: &'static str =
        "a parameter's name starts with a letter or `_` and continues with letters, digits or `_`";
    const PATTERN: &'static str = "^[A-Za-z_][A-Za-z0-9_]*$";

    fn is_valid(name: &str) -> bool {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }
}

/// Any name that is not empty: a field of a hash, a word of an enum.
#[derive(Debug)]
pub(crate) struct AnyName;

impl Name for AnyName {
    const WHAT: &'static str = "a name cannot be empty";
    const PATTERN: &'static str = "^.";

    fn is_valid(name: &str) -> bool {
        !name.is_empty()
    }
}

impl<N: Name, T: Form> Form for Map<N, T> {
    fn what() -> String {
        "a table".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let table = decoder.table::<Self>(item)?;
        for entry in table.iter().filter(|entry| !N::is_valid(&entry.key)) {
            let message = format!("`{}` cannot be a name in {}", *entry.key, decoder.table_name());
            decoder.error::<()>(&entry.key.span, message, N::WHAT);
        }
        // What stands under such a name is read as well: it may have errors of its own.
        let entries = entries(table.iter(), decoder);
        let read: std::collections::HashSet<&str> =
            entries.iter().map(|(name, _)| name.as_str()).collect();
        let broken = table
            .iter()
            .map(|entry| &entry.key.value)
            .filter(|name| !read.contains(name.as_str()))
            .cloned()
            .collect();
        Some(Map { entries, broken, name: PhantomData })
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        json!({
            "type": "object",
            "propertyNames": { "pattern": N::PATTERN },
            "additionalProperties": T::schema(schemas),
        })
    }
}

impl<T: Form> Form for Vec<Spanned<T>> {
    fn what() -> String {
        format!("an array, each entry {}", T::what())
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::Array(items) = &item.kind else { return decoder.mismatch(item) };
        let read: Vec<_> =
            items.iter().map(|item| decoder.entry(|decoder| T::spanned(item, decoder))).collect();
        read.into_iter().collect()
    }

    fn fix(item: &Item) -> Option<String> {
        match &item.kind {
            Kind::String(text) if is_plain(text) => Some(format!("[\"{text}\"]")),
            _ => None,
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "type": "array", "items": T::schema(schemas) })
    }
}

/// One thing, or an array of such things.
#[derive(Debug)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<Spanned<T>>);

impl<T: Form> Form for OneOrMany<T> {
    fn what() -> String {
        format!("{}, or an array of them", T::what())
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::Array(items) if items.is_empty() => {
                let message = format!("{} cannot be empty", decoder.here());
                decoder.error(&item.span, message, "nothing is in it")
            }
            Kind::Array(_) => Vec::read(item, decoder).map(OneOrMany),
            _ => T::spanned(item, decoder).map(|one| OneOrMany(vec![one])),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        let one = T::schema(schemas);
        json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}
