//! Parameters and their types.

use super::{Building, text};
use crate::model::name::Names;
use crate::model::{Name, Param, ParamType, Word};
use keyward_pattern::{Tables, Type};
use keyward_schema::model::ParamDeclaration;

impl Building<'_> {
    pub(super) fn param(
        &mut self,
        owner: &str,
        declared: &ParamDeclaration,
        language: Option<u32>,
        rest: bool,
        names: &mut Names,
    ) -> Param {
        let id = declared.name.value.clone();
        let known = (id.clone(), declared.param.value.clone(), rest, self.source(declared));
        let ty = if let Some(ty) = self.known.get(&known) {
            ty.clone()
        } else {
            let ty = self.param_type(owner, declared, language);
            self.known.insert(known, ty.clone());
            ty
        };
        Param {
            name: names.add(&id),
            doc: text(declared.doc.as_ref()),
            ty,
            rest,
            pii: declared.pii,
        }
    }

    fn param_type(
        &mut self,
        owner: &str,
        declared: &ParamDeclaration,
        language: Option<u32>,
    ) -> ParamType {
        let param = &declared.param.value;
        let encoded = !param.encode.is_empty() || param.ty == Type::Encoded;
        let own = match &param.ty {
            Type::Uuid => Some("uuid"),
            Type::Int => Some("int"),
            Type::Uint => Some("uint"),
            Type::Date => Some("date"),
            Type::Unix => Some("unix"),
            Type::UnixMs => Some("unix_ms"),
            Type::Ip => Some("ip"),
            _ => None,
        };
        let narrowed = !param.except.is_empty() || !param.without.is_empty();
        let own = own.filter(|_| !encoded && !narrowed);
        let kind = own.unwrap_or(match &param.ty {
            Type::Enum(_) => "enum",
            Type::Key(_) => "key",
            _ => "text",
        });
        let words: &[String] = if let Type::Enum(words) = &param.ty { words } else { &[] };
        let keys = if let Type::Key(names) = &param.ty { self.numbers(names) } else { Vec::new() };
        let spell = |word: &str| self.spelled(language, encoded, word);
        let mut ty = ParamType {
            kind,
            name: Name::new(kind),
            description: param.to_string(),
            doc: None,
            language,
            encoded,
            lower: param.normalize.is_some(),
            words: enum_words(words, spell),
            keys,
            from: self.source(declared),
        };
        if own.is_none() {
            ty.name = self.type_names.add_of(owner, &declared.name);
            ty.doc = text(declared.doc.as_ref());
            self.types.push(ty.clone());
        }
        ty
    }

    /// The pipeline that makes its values from text.
    fn source(&self, declared: &ParamDeclaration) -> Option<usize> {
        let from = declared.from.as_ref()?;
        self.schema.texts.iter().position(|text| *text.name == **from)
    }

    /// How a value is written in a key.
    pub(super) fn spelled(&self, language: Option<u32>, encoded: bool, value: &str) -> String {
        let Some(language) = language.filter(|_| encoded) else { return value.to_owned() };
        let tables = self.tables.get_or_init(|| Tables::read(self.block));
        let Some(tables) = tables else { return value.to_owned() };
        let mut spelling = String::new();
        tables.spell(language, value, &mut spelling);
        spelling
    }

    pub(super) fn referred(&self, definition: &str, param: &str) -> Option<ParamType> {
        let definition = self.schema.keys.iter().find(|key| *key.name == definition)?;
        let declared = definition.params.iter().find(|it| *it.name == param)?;
        let rest = definition.pattern.holes().any(|hole| hole.name == param && hole.rest);
        let source = self.source(declared);
        let known = (declared.name.value.clone(), declared.param.value.clone(), rest, source);
        self.known.get(&known).cloned()
    }
}

pub(super) fn enum_words(words: &[String], spell: impl Fn(&str) -> String) -> Vec<Word> {
    let mut names = Names::default();
    let word =
        |word: &String| Word { name: names.add(word), text: word.clone(), spelling: spell(word) };
    words.iter().map(word).collect()
}
