//! What a key holds: `value`, `fields`, `member`, `score`, and the key's type.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::form::{Form, Id, Name, OneOrMany, table, unknown_word, words};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::{JsonType, OnWrite, Value};
use crate::scalar::NonEmpty;
use crate::span::{Span, Spanned};
use crate::syntax::{Item, Kind};
use crate::ttl::TtlForm;
use keyward_fact::KeyType;

/// The values that have a name.
pub(crate) const NAMED: [(&str, Value); 12] = [
    ("text", Value::Text),
    ("int", Value::Int),
    ("uint", Value::Uint),
    ("float", Value::Float),
    ("bool", Value::Bool),
    ("uuid", Value::Uuid),
    ("timestamp", Value::Timestamp),
    ("date", Value::Date),
    ("unix", Value::Unix),
    ("unix_ms", Value::UnixMs),
    ("bytes", Value::Bytes),
    ("json", Value::Json { of: None, zstd: false }),
];

/// `open`: whether undeclared fields are allowed, and what each of them holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Open {
    No,
    Any,
    Of(Value),
}

impl Open {
    /// The values that need nothing but their name.
    fn named() -> impl Iterator<Item = (&'static str, Value)> {
        NAMED.into_iter().filter(|(_, value)| !matches!(value, Value::Json { .. }))
    }
}

impl Form for Open {
    fn what() -> String {
        "`true`, `false`, or what each of them holds such as `\"int\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::Boolean(false) => Some(Open::No),
            Kind::Boolean(true) => Some(Open::Any),
            Kind::String(word) => {
                let known = || Open::named().find(|(name, _)| name == word);
                if let Some((_, value)) = known() {
                    return Some(Open::Of(value));
                }
                let names: Vec<&str> = Open::named().map(|(name, _)| name).collect();
                unknown_word(&item.span, word, &names, decoder)
            }
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        let names: Vec<&str> = Open::named().map(|(name, _)| name).collect();
        json!({ "anyOf": [{ "type": "boolean" }, { "enum": names }] })
    }
}

const WHAT: &str = "a value such as `\"text\"`, `[\"on\", \"off\"]` or `{ json = \"TypeName\" }`";

table! {
    /// What a value is, with options: exactly one of `type`, `json`, `ref` and `key`.
    ValueTable {
        /// The name of a value type, or an array of words.
        optional simple = "type": SimpleValue,
        /// JSON: the name of a type in the application, or an array with the one type that the elements of a JSON array have.
        optional json: JsonType,
        /// A reference to a parameter of another definition: `"definition.param"`.
        optional reference = "ref": Reference,
        /// A whole key of another definition, or of one of several, by id.
        optional key: OneOrMany<DefinitionName>,
        /// How the JSON is compressed.
        optional compress: Compress,
    }
}

table! {
    /// A field of a hash, with options: exactly one of `type`, `json`, `ref` and `key`.
    FieldTable {
        /// The name of a value type, or an array of words.
        optional simple = "type": SimpleValue,
        /// JSON: the name of a type in the application, or an array with the one type that the elements of a JSON array have.
        optional json: JsonType,
        /// A reference to a parameter of another definition: `"definition.param"`.
        optional reference = "ref": Reference,
        /// A whole key of another definition, or of one of several, by id.
        optional key: OneOrMany<DefinitionName>,
        /// How the JSON is compressed.
        optional compress: Compress,
        /// Whether the field may be missing. Default: `false`.
        optional optional: bool,
        /// The field's own TTL (Redis 7.4, Valkey 9).
        optional ttl: TtlForm,
        /// What writing only this field does to the running TTL of the key. Default: the `on_write` of the key.
        optional on_write: OnWrite,
        /// What the field means.
        optional doc: String,
    }
}

/// The parts of a value's table that say what the value is.
struct Contents {
    simple: Option<Spanned<SimpleValue>>,
    json: Option<Spanned<JsonType>>,
    reference: Option<Spanned<Reference>>,
    key: Option<Spanned<OneOrMany<DefinitionName>>>,
    compress: Option<Spanned<Compress>>,
}

impl Contents {
    fn value(self, item: &Item, decoder: &mut Decoder<'_>) -> Option<Value> {
        let Kind::Table(entries) = &item.kind else { return None };
        let mut given = entries
            .iter()
            .filter(|entry| matches!(entry.key.as_str(), "type" | "json" | "ref" | "key"));
        let Some(first) = given.next() else {
            let message = format!("{} does not say what it holds", decoder.here());
            let label = "needs one of `type`, `json`, `ref` or `key`";
            return decoder.error(&item.span, message, label);
        };
        if let Some(second) = given.next() {
            let message = format!("{} has two types", decoder.here());
            let diagnostic = Diagnostic::schema(message, second.key.span.clone(), "here")
                .at(first.key.span.clone(), "and here");
            return decoder.report(diagnostic);
        }
        let mut value = match self {
            Contents { simple: Some(simple), .. } => simple.value.0,
            Contents { json: Some(of), .. } => Value::Json { of: Some(of.value), zstd: false },
            Contents { reference: Some(to), .. } => {
                Value::Ref { definition: to.value.definition, param: to.value.param }
            }
            Contents { key: Some(key), .. } => {
                Value::Key(key.value.0.into_iter().map(|name| name.value.0).collect())
            }
            _ => return None,
        };
        match (&mut value, self.compress) {
            (_, None) => {}
            (Value::Json { zstd, .. }, Some(_)) => *zstd = true,
            (_, Some(compress)) => {
                let message = format!("{} cannot be compressed", decoder.here());
                return decoder.error(&compress.span, message, "only JSON can be compressed");
            }
        }
        Some(value)
    }
}

impl Form for Value {
    fn what() -> String {
        WHAT.to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        if !matches!(item.kind, Kind::Table(_)) {
            return SimpleValue::read(item, decoder).map(|simple| simple.0);
        }
        let ValueTable { simple, json, reference, key, compress } =
            ValueTable::read(item, decoder)?;
        Contents { simple, json, reference, key, compress }.value(item, decoder)
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        schemas.shared("value", |schemas| {
            json!({ "anyOf": [SimpleValue::schema(schemas), contents_schema::<ValueTable>(schemas)] })
        })
    }
}

/// A table that must hold exactly one of the fields that say what the value is.
#[cfg(feature = "tools")]
fn contents_schema<T: crate::form::Table>(schemas: &mut Schemas) -> Json {
    let mut schema = T::object(schemas);
    schema["oneOf"] =
        json!(["type", "json", "ref", "key"].map(|field| json!({ "required": [field] })));
    schema
}

/// A value by its name, or the words of an enum.
#[derive(Debug)]
pub(crate) struct SimpleValue(Value);

impl Form for SimpleValue {
    fn what() -> String {
        WHAT.to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(name) => named(name, &item.span, decoder).map(SimpleValue),
            Kind::Array(items) => {
                enum_words(items, item, decoder).map(|words| SimpleValue(Value::Enum(words)))
            }
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "anyOf": [{ "enum": NAMED.map(|(name, _)| name) }, words_schema()] })
    }
}

fn named(name: &str, span: &Span, decoder: &mut Decoder<'_>) -> Option<Value> {
    if let Some((_, value)) = NAMED.into_iter().find(|(known, _)| *known == name) {
        return Some(value);
    }
    let known = NAMED.map(|(name, _)| name);
    unknown_word(span, name, &known, decoder)
}

/// The words of an enum: at least one, each once, none empty.
pub(crate) fn enum_words(
    items: &[Item],
    item: &Item,
    decoder: &mut Decoder<'_>,
) -> Option<Vec<String>> {
    if items.is_empty() {
        let message = format!("{} has no words", decoder.here());
        return decoder.error(&item.span, message, "an enum needs at least one word");
    }
    let mut seen: std::collections::HashMap<&str, &Span> = std::collections::HashMap::new();
    let mut complete = true;
    for word in items {
        let Kind::String(text) = &word.kind else {
            let message = format!("the words of {} must be strings", decoder.here());
            decoder.error::<()>(&word.span, message, format!("this is {}", word.kind.name()));
            complete = false;
            continue;
        };
        if text.is_empty() {
            let message = format!("{} has an empty word", decoder.here());
            decoder.error::<()>(&word.span, message, "a word cannot be empty");
            complete = false;
        }
        if let Some(first) = seen.insert(text, &word.span) {
            let message = format!("{} has the word `{text}` twice", decoder.here());
            let diagnostic = Diagnostic::schema(message, word.span.clone(), "again here")
                .at(first.clone(), "first here");
            decoder.report::<()>(diagnostic);
            complete = false;
        }
    }
    let words = items.iter().filter_map(|word| match &word.kind {
        Kind::String(text) => Some(text.clone()),
        _ => None,
    });
    complete.then(|| words.collect())
}

#[cfg(feature = "tools")]
pub(crate) fn words_schema() -> Json {
    json!({
        "type": "array",
        "items": { "type": "string", "minLength": 1 },
        "minItems": 1,
        "uniqueItems": true,
    })
}

impl Form for JsonType {
    fn what() -> String {
        "a type's name, or an array with one value such as `[\"text\"]`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(_) => NonEmpty::read(item, decoder).map(|name| JsonType::Named(name.0)),
            Kind::Array(items) if items.len() == 1 => {
                Value::read(&items[0], decoder).map(|value| JsonType::Array(Box::new(value)))
            }
            Kind::Array(_) => {
                let message = format!("{} must be {}", decoder.here(), Self::what());
                decoder.error(&item.span, message, "one value, which the JSON array repeats")
            }
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "anyOf": [
            NonEmpty::schema(schemas),
            { "type": "array", "items": Value::schema(schemas), "minItems": 1, "maxItems": 1 },
        ] })
    }
}

/// `definition.param`
#[derive(Debug)]
pub(crate) struct Reference {
    definition: String,
    param: String,
}

impl Form for Reference {
    fn what() -> String {
        "a definition and its parameter such as `\"session.session_id\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::String(text) = &item.kind else { return decoder.mismatch(item) };
        match text.split_once('.') {
            Some((definition, param))
                if Id::is_valid(definition) && crate::form::ParamName::is_valid(param) =>
            {
                Some(Reference { definition: definition.to_owned(), param: param.to_owned() })
            }
            _ => {
                let message = format!("{} must be {}", decoder.here(), Self::what());
                let diagnostic =
                    Diagnostic::schema(message, item.span.clone(), "not `definition.param`");
                decoder.report(diagnostic.help("for a whole key, write `{ key = \"definition\" }`"))
            }
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": "^[a-z][a-z0-9_]*\\.[A-Za-z_][A-Za-z0-9_]*$" })
    }
}

/// The id of a definition.
#[derive(Debug, Clone)]
pub(crate) struct DefinitionName(pub(crate) String);

impl Form for DefinitionName {
    fn what() -> String {
        "a definition's id".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(name) if Id::is_valid(name) => Some(DefinitionName(name.clone())),
            Kind::String(_) => {
                let message = format!("{} must be {}", decoder.here(), Self::what());
                decoder.error(&item.span, message, Id::WHAT)
            }
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": Id::PATTERN })
    }
}

/// The id of a group.
#[derive(Debug, Clone)]
pub(crate) struct GroupName(pub(crate) String);

impl Form for GroupName {
    fn what() -> String {
        "a group's id".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(name) if Id::is_valid(name) => Some(GroupName(name.clone())),
            Kind::String(_) => {
                let message = format!("{} must be {}", decoder.here(), Self::what());
                decoder.error(&item.span, message, Id::WHAT)
            }
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        DefinitionName::schema(schemas)
    }
}

/// How the JSON is compressed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Compress {
    Zstd,
}

words!(Compress: "`\"zstd\"`", [("zstd", Compress::Zstd)]);

/// A field of a hash, before its TTL is resolved.
#[derive(Debug)]
pub(crate) struct FieldForm {
    pub(crate) value: Value,
    pub(crate) optional: bool,
    pub(crate) ttl: Option<Spanned<TtlForm>>,
    pub(crate) on_write: Option<Spanned<OnWrite>>,
    pub(crate) doc: Option<Spanned<String>>,
}

impl Form for FieldForm {
    fn what() -> String {
        "a value such as `\"text\"`, `\"text?\"` or `{ type = \"text\", optional = true }`"
            .to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let plain =
            |value, optional| FieldForm { value, optional, ttl: None, on_write: None, doc: None };
        match &item.kind {
            Kind::String(name) => {
                let (name, optional) = match name.strip_suffix('?') {
                    Some(name) => (name, true),
                    None => (name.as_str(), false),
                };
                named(name, &item.span, decoder).map(|value| plain(value, optional))
            }
            Kind::Array(_) => Value::read(item, decoder).map(|value| plain(value, false)),
            Kind::Table(_) => {
                let table = FieldTable::read(item, decoder)?;
                let FieldTable {
                    simple,
                    json,
                    reference,
                    key,
                    compress,
                    optional,
                    ttl,
                    on_write,
                    doc,
                } = table;
                let contents = Contents { simple, json, reference, key, compress };
                let value = contents.value(item, decoder)?;
                let optional = optional.is_some_and(|optional| optional.value);
                Some(FieldForm { value, optional, ttl, on_write, doc })
            }
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        schemas.shared("field", |schemas| {
            let names = NAMED.map(|(name, _)| name);
            let optional = NAMED.map(|(name, _)| format!("{name}?"));
            let words: Vec<&str> =
                names.into_iter().chain(optional.iter().map(String::as_str)).collect();
            json!({ "anyOf": [
                { "enum": words },
                words_schema(),
                contents_schema::<FieldTable>(schemas),
            ] })
        })
    }
}

table! {
    /// A type of a server module.
    ModuleTable {
        /// The name that `TYPE` returns, such as `ReJSON-RL`.
        required module: NonEmpty,
    }
}

impl Form for KeyType {
    fn what() -> String {
        "a type such as `\"hash\"`, or `{ module = \"ReJSON-RL\" }`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(name) => name.parse().ok().or_else(|| {
                let known = KeyType::BUILT_IN;
                let known: Vec<&str> = known.iter().map(KeyType::name).collect();
                unknown_word(&item.span, name, &known, decoder)
            }),
            Kind::Table(_) => {
                ModuleTable::read(item, decoder).map(|table| KeyType::Module(table.module.value.0))
            }
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        let known = KeyType::BUILT_IN;
        let known: Vec<&str> = known.iter().map(KeyType::name).collect();
        json!({ "anyOf": [{ "enum": known }, ModuleTable::schema(schemas)] })
    }
}
