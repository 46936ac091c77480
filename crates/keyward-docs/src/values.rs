//! What a key holds and what a parameter takes, in words.

use super::context::Context;
use super::doc::Doc;
use super::page;
use super::prose::Prose;
use keyward_fact::KeyType;
use keyward_pattern::{Hole, Type};
use keyward_schema::model::{JsonType, ParamDeclaration, Value};

impl Context<'_> {
    /// What a key, a field or a member holds.
    pub(super) fn value(&self, value: &Value) -> Prose {
        let words = self.words;
        let plain = |phrase: &str| Prose::fill(phrase, &[]);
        match value {
            Value::Text => plain(words.text),
            Value::Int => plain(words.int),
            Value::Uint => plain(words.uint),
            Value::Float => plain(words.float),
            Value::Bool => plain(words.bool),
            Value::Uuid => plain(words.uuid),
            Value::Timestamp => plain(words.timestamp),
            Value::Date => plain(words.date),
            Value::Unix => plain(words.unix),
            Value::UnixMs => plain(words.unix_ms),
            Value::Bytes => plain(words.raw_bytes),
            Value::Enum(values) => match values.as_slice() {
                [always] => Prose::fill(words.always, &[Prose::code(always)]),
                values => Prose::fill(words.one_of, &[self.codes(values)]),
            },
            Value::Json { of, zstd } => {
                let json = match of {
                    None => plain(words.json),
                    Some(JsonType::Named(name)) => {
                        Prose::fill(words.json_named, &[Prose::code(name)])
                    }
                    Some(JsonType::Array(of)) => Prose::fill(words.json_array, &[self.value(of)]),
                };
                if *zstd { words.listed([json, plain(words.zstd)]) } else { json }
            }
            Value::Ref { definition, param } => {
                Prose::fill(words.value_of, &[Prose::code(param), self.definition(definition)])
            }
            Value::Key(names) => Prose::fill(words.key_of, &[self.definitions(names)]),
        }
    }

    /// A type of Redis.
    pub(super) fn key_type(&self, key_type: &KeyType) -> page::KeyType {
        let words = self.words;
        let title = match key_type {
            KeyType::String => words.type_string.to_owned(),
            KeyType::Hash => words.type_hash.to_owned(),
            KeyType::List => words.type_list.to_owned(),
            KeyType::Set => words.type_set.to_owned(),
            KeyType::Zset => words.type_zset.to_owned(),
            KeyType::Stream => words.type_stream.to_owned(),
            KeyType::Bitmap => words.type_bitmap.to_owned(),
            KeyType::HyperLogLog => words.type_hyperloglog.to_owned(),
            KeyType::Geo => words.type_geo.to_owned(),
            KeyType::Module(name) => format!("{} {name}", words.type_module),
        };
        page::KeyType { name: key_type.name().to_owned(), title }
    }

    /// A parameter, with where it stands in a pattern if it does.
    pub(super) fn param(
        &self,
        declared: &ParamDeclaration,
        hole: Option<&Hole>,
        in_prefix: bool,
    ) -> page::Param {
        let words = self.words;
        let param = &declared.param.value;
        let rest = hole.is_some_and(|hole| hole.rest);
        let (ty, explained) = if rest {
            (Prose::code("…"), Some(words.param_rest.to_owned()))
        } else {
            self.param_type(&param.ty)
        };
        let doc = declared.doc.as_ref().map(|doc| Doc::read(doc).line);
        let mut notes: Vec<Prose> = doc.into_iter().collect();
        notes.extend(explained.map(|explained| Prose::fill(&explained, &[])));
        if param.normalize.is_some() {
            notes.push(Prose::fill(words.param_lower, &[]));
        }
        if !param.without.is_empty() {
            let marks = param.without.chars().map(|mark| Prose::code(mark.to_string()));
            notes.push(Prose::fill(words.param_without, &[Prose::join(marks, words.list_or)]));
        }
        for (char, spelled) in &param.encode {
            let gaps = [Prose::code(char.to_string()), Prose::code(spelled)];
            notes.push(Prose::fill(words.param_encode, &gaps));
        }
        if let Some(from) = &declared.from {
            notes.push(Prose::fill(words.param_from, &[self.pipeline(from)]));
        }
        if hole.is_some_and(|hole| hole.tag) {
            notes.push(Prose::fill(words.param_tag, &[]));
        }
        if in_prefix {
            notes.push(Prose::fill(words.param_prefix, &[]));
        }
        let meaning = Prose::join(notes, words.note);
        page::Param { name: declared.name.value.clone(), ty, meaning, masked: declared.pii }
    }

    /// The name of a parameter's type, and what its values look like.
    fn param_type(&self, ty: &Type) -> (Prose, Option<String>) {
        let words = self.words;
        let explained = match ty {
            Type::Text => words.param_text.to_owned(),
            Type::Uuid => words.param_uuid.to_owned(),
            Type::Int => words.param_int.to_owned(),
            Type::Uint => words.param_uint.to_owned(),
            Type::Digits(len) => words.param_digits.replace("{0}", &words.number((*len).into())),
            Type::Hex(None) => words.param_hex.to_owned(),
            Type::Hex(Some(len)) => {
                words.param_hex_exactly.replace("{0}", &words.number((*len).into()))
            }
            Type::Word => words.param_word.to_owned(),
            Type::Slug => words.param_slug.to_owned(),
            Type::Locale => words.param_locale.to_owned(),
            Type::Date => words.param_date.to_owned(),
            Type::Unix => words.param_unix.to_owned(),
            Type::UnixMs => words.param_unix_ms.to_owned(),
            Type::Ip => words.param_ip.to_owned(),
            Type::Ulid => words.param_ulid.to_owned(),
            Type::Email => words.param_email.to_owned(),
            Type::Base64Url(None) => words.param_base64url.to_owned(),
            Type::Base64Url(Some(len)) => {
                words.param_base64url_exactly.replace("{0}", &words.number((*len).into()))
            }
            Type::Alnum(None) => words.param_alnum.to_owned(),
            Type::Alnum(Some(len)) => {
                words.param_alnum_exactly.replace("{0}", &words.number((*len).into()))
            }
            Type::RawIp => words.param_raw_ip.to_owned(),
            Type::Encoded => words.param_encoded.to_owned(),
            Type::Enum(values) => {
                return (Prose::fill(words.one_of, &[self.codes(values)]), None);
            }
            Type::Regex(regex) => {
                return (Prose::fill(words.param_regex, &[Prose::code(regex)]), None);
            }
            Type::Any(types) => {
                let (types, explained): (Vec<Prose>, Vec<Option<String>>) =
                    types.iter().map(|ty| self.param_type(ty)).unzip();
                let explained: Vec<String> = explained.into_iter().flatten().collect();
                let explained = (!explained.is_empty()).then(|| explained.join(words.list_or));
                return (Prose::join(types, words.list_or), explained);
            }
            Type::Key(names) => {
                return (Prose::fill(words.param_key, &[self.definitions(names)]), None);
            }
            other => return (Prose::code(other.to_string()), None),
        };
        (Prose::code(ty.to_string()), Some(explained))
    }

    fn codes(&self, words: &[String]) -> Prose {
        self.words.listed(words.iter().map(Prose::code))
    }

    fn definitions(&self, names: &[String]) -> Prose {
        let names = names.iter().map(|name| self.definition(name));
        Prose::join(names, self.words.list_or)
    }
}
