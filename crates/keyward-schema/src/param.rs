//! A parameter's type, as written in `[params]`, in a definition's own `params`, or for an event.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::form::{Form, OneOrMany, table, words};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::ParamDeclaration;
use crate::scalar::{NonEmpty, only_in_old_names};
use crate::span::{Span, Spanned};
use crate::syntax::{Item, Kind};
use crate::value::{DefinitionName, enum_words};
use keyward_pattern::{Normalize, Param, Type};

/// A parameter as written.
#[derive(Debug, Clone)]
pub(crate) struct ParamForm {
    pub(crate) param: Param,
    pub(crate) encode_span: Option<Span>,
    pub(crate) doc: Option<Spanned<String>>,
    pub(crate) pii: bool,
    pub(crate) from: Option<Spanned<String>>,
}

impl ParamForm {
    /// The same, with its name.
    pub(crate) fn declare(self, name: Spanned<String>, span: Span) -> ParamDeclaration {
        ParamDeclaration {
            name,
            param: Spanned::new(self.param, span),
            encode_span: self.encode_span,
            doc: self.doc,
            pii: self.pii,
            from: self.from,
        }
    }
}

table! {
    /// A parameter's type with options: exactly one of `type`, `regex`, `any` and `key`.
    ParamTable {
        /// The name of a type, or an array of words.
        optional ty = "type": SimpleType,
        /// A regular expression that matches the whole value: ASCII, no look-around, at most 4,096 states.
        optional regex: NonEmpty,
        /// A union of types that share no value.
        optional any: Vec<Spanned<InnerType>>,
        /// A whole key of another definition, without the prefix.
        optional key: OneOrMany<DefinitionName>,
        /// How values are normalised: `"lower"` is Unicode's simple lower-case mapping.
        optional normalize: Normalize,
        /// Characters that are replaced in the key, each with its replacement. Parsing restores them.
        optional encode: Encode,
        /// Characters that values do not contain, such as what stands between two parameters of a segment.
        optional without: Marks,
        /// The pipeline of `[text]` that makes values from human text.
        optional from: NonEmpty,
        /// Whether reports mask the value. Default: `true`.
        optional pii: bool,
        /// What the parameter means.
        optional doc: String,
    }
}

const WHAT: &str = "a type such as `\"uuid\"`, `[\"a\", \"b\"]` or `{ regex = \"[a-z]+\" }`";

impl Form for ParamForm {
    fn what() -> String {
        WHAT.to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::Table(entries) = &item.kind else {
            let ty = SimpleType::read(item, decoder)?;
            let param = Param::from(ty.0);
            return Some(ParamForm { param, encode_span: None, doc: None, pii: true, from: None });
        };
        let table = ParamTable::read(item, decoder)?;
        let given: Vec<&Spanned<String>> = entries
            .iter()
            .map(|entry| &entry.key)
            .filter(|key| matches!(key.as_str(), "type" | "regex" | "any" | "key"))
            .collect();
        if let [first, second, ..] = given.as_slice() {
            let message = format!("{} has two types", decoder.here());
            let diagnostic = Diagnostic::schema(message, second.span.clone(), "here")
                .at(first.span.clone(), "and here");
            return decoder.report(diagnostic);
        }
        let ty = match table {
            ParamTable { ty: Some(ty), .. } => ty.value.0,
            ParamTable { regex: Some(regex), .. } => Type::Regex(regex.value.0),
            ParamTable { any: Some(any), .. } => union(any, decoder)?,
            ParamTable { key: Some(key), .. } => {
                Type::Key(key.value.0.into_iter().map(|name| name.value.0).collect())
            }
            _ if given.is_empty() => Type::Text,
            _ => return None,
        };
        Some(ParamForm {
            encode_span: table.encode.as_ref().map(|encode| encode.span.clone()),
            param: Param {
                ty,
                normalize: table.normalize.map(|normalize| normalize.value),
                encode: table.encode.map(|encode| encode.value.0).unwrap_or_default(),
                except: Vec::new(),
                without: table.without.map(|marks| marks.value.0).unwrap_or_default(),
            },
            doc: table.doc,
            pii: table.pii.is_none_or(|pii| pii.value),
            from: table.from.map(|from| Spanned::new(from.value.0, from.span)),
        })
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        schemas.shared("param", |schemas| {
            let mut table = <ParamTable as crate::form::Table>::object(schemas);
            let kinds = ["type", "regex", "any", "key"];
            let pairs: Vec<Json> = kinds
                .iter()
                .enumerate()
                .flat_map(|(index, first)| {
                    kinds[index + 1..]
                        .iter()
                        .map(move |second| json!({ "required": [first, second] }))
                })
                .collect();
            table["not"] = json!({ "anyOf": pairs });
            json!({ "anyOf": [SimpleType::schema(schemas), table] })
        })
    }
}

fn union(types: Spanned<Vec<Spanned<InnerType>>>, decoder: &mut Decoder<'_>) -> Option<Type> {
    if types.value.len() < 2 {
        let message = "`any` needs at least two types";
        return decoder.error(&types.span, message, "has fewer than two");
    }
    Some(Type::Any(types.value.into_iter().map(|ty| ty.value.0).collect()))
}

/// A type by its name, or the words of an enum.
#[derive(Debug)]
pub(crate) struct SimpleType(Type);

impl Form for SimpleType {
    fn what() -> String {
        WHAT.to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(name) => match Type::named(name) {
                Ok(Type::Raw) => decoder.report(only_in_old_names(item.span.clone())),
                Ok(ty) => Some(SimpleType(ty)),
                Err(error) => {
                    let mut diagnostic =
                        Diagnostic::schema(error.to_string(), item.span.clone(), "unknown type");
                    diagnostic.help.extend(error.help());
                    decoder.report(diagnostic)
                }
            },
            Kind::Array(items) => {
                enum_words(items, item, decoder).map(|words| SimpleType(Type::Enum(words)))
            }
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        let plain: Vec<&str> =
            Type::NAMES.iter().copied().filter(|name| !name.ends_with(')')).collect();
        json!({ "anyOf": [
            { "enum": plain },
            { "type": "string", "pattern": "^(digits|hex|base64url|alnum)\\([1-9][0-9]{0,3}\\)$" },
            crate::value::words_schema(),
        ] })
    }
}

/// A member of a union.
#[derive(Debug)]
pub(crate) struct InnerType(Type);

table! {
    /// A regular expression as a member of a union.
    RegexTable {
        /// A regular expression that matches the whole value.
        required regex: NonEmpty,
    }
}

impl Form for InnerType {
    fn what() -> String {
        WHAT.to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        if matches!(item.kind, Kind::Table(_)) {
            let table = RegexTable::read(item, decoder)?;
            return Some(InnerType(Type::Regex(table.regex.value.0)));
        }
        SimpleType::read(item, decoder).map(|ty| InnerType(ty.0))
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "anyOf": [SimpleType::schema(schemas), RegexTable::schema(schemas)] })
    }
}

words!(Normalize: "`\"lower\"`", [("lower", Normalize::Lower)]);

/// Characters that a value does not contain.
#[derive(Debug)]
pub(crate) struct Marks(String);

/// The most characters that a parameter excludes, and that separate the parameters of a pattern.
const MAX_MARKS: usize = 8;

impl Form for Marks {
    fn what() -> String {
        format!("1 to {MAX_MARKS} different visible ASCII characters such as `\"/.\"`")
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let marks = distinct::<Self>(item, decoder)?;
        match marks.chars().find(|mark| !mark.is_ascii_graphic() || matches!(mark, '{' | '}')) {
            None => Some(Marks(marks)),
            Some('{' | '}') => {
                let message = "no value contains a brace, so excluding it has no effect";
                decoder.error(&item.span, message, "leave it out")
            }
            Some(mark) => {
                let message = format!("{} must be {}", decoder.here(), Self::what());
                decoder.error(&item.span, message, format!("`{}` is not one", mark.escape_debug()))
            }
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": "^[!-z|~]{1,8}$" })
    }
}

/// What separates the parameters of one pattern, besides the keyspace's separator.
#[derive(Debug)]
pub(crate) struct Separators(pub(crate) String);

impl Form for Separators {
    fn what() -> String {
        format!("1 to {MAX_MARKS} different separators such as `\"/.\"`")
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let marks = distinct::<Self>(item, decoder)?;
        let wrong = |mark: &char| keyward_pattern::Keyspace::builder(*mark).is_err();
        match marks.chars().find(wrong) {
            None => Some(Separators(marks)),
            Some(mark) => {
                let mark = mark.escape_debug();
                let message = format!(
                    "`{mark}` cannot be a separator: it must be one of ! # $ & ' ( ) + , - . / : ; < = > @ ^ _ ` |"
                );
                decoder.error(&item.span, message, "not usable as a separator")
            }
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": "^[!#$&'()+,./:;<=>@^_`|-]{1,8}$" })
    }
}

/// A few characters, each once.
fn distinct<F: Form>(item: &Item, decoder: &mut Decoder<'_>) -> Option<String> {
    let Kind::String(marks) = &item.kind else {
        decoder.mismatch::<F>(item);
        return None;
    };
    let twice = marks.char_indices().find(|(at, mark)| marks[..*at].contains(*mark));
    if let Some((_, mark)) = twice {
        let message = format!("`{}` is there twice", mark.escape_debug());
        return decoder.error(&item.span, message, "write it once");
    }
    if (1..=MAX_MARKS).contains(&marks.chars().count()) {
        return Some(marks.clone());
    }
    let message = format!("{} must be {}", decoder.here(), F::what());
    decoder.error(&item.span, message, "not 1 to 8 characters")
}

/// Characters and their spelling in a key.
#[derive(Debug)]
pub(crate) struct Encode(Vec<(char, String)>);

/// The longest spelling of one character.
const MAX_SPELLING: usize = 16;

impl Form for Encode {
    fn what() -> String {
        "a table of characters and their spelling such as `{ \"/\" = \"_\" }`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let table = decoder.table::<Self>(item)?;
        let mut encode = Vec::with_capacity(table.len());
        for entry in table {
            let mut chars = entry.key.chars();
            let char = match (chars.next(), chars.next()) {
                (Some(char), None) if char.is_ascii() && !char.is_ascii_control() => char,
                _ => {
                    let message = "`encode` spells single ASCII characters";
                    let label = format!("`{}` is not one", *entry.key);
                    return decoder.error(&entry.key.span, message, label);
                }
            };
            let spelling =
                decoder.within(&entry.key, |decoder| String::read(&entry.item, decoder))?;
            let graphic = spelling.bytes().all(|byte| byte.is_ascii_graphic());
            if spelling.is_empty() || spelling.len() > MAX_SPELLING || !graphic {
                let message = format!("`{char}` cannot be spelled like this");
                let label = format!("1 to {MAX_SPELLING} visible ASCII characters");
                return decoder.error(&entry.item.span, message, label);
            }
            encode.push((char, spelling));
        }
        Some(Encode(encode))
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[ -~]$" },
            "additionalProperties": { "type": "string", "pattern": "^[!-~]{1,16}$" },
        })
    }
}
