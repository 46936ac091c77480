//! What generated code needs and nobody else: no promise is made about it.

pub use crate::definition::{FieldInfo, Former, FormerPart, Language, Link, Param, Phase};
pub use crate::field::{Hash, Pairs};
pub use keyward_pattern::{Found, Recase, Tables};
#[cfg(feature = "json")]
pub use serde_json::Value as JsonValue;

/// Stands for JSON in code that does not compile without the feature: see `__needs_json`.
#[cfg(not(feature = "json"))]
#[derive(Debug, Clone, PartialEq)]
pub struct JsonValue;

use crate::definition::KeyPart;
use crate::{
    BuildError, Definition, Event, FormerKey, Key, KeyNames, Keyspace, ParamValue, Prefix,
    Reserved, ValueError, former,
};
use keyward_pattern::escape_glob;
use std::any::Any;
use std::fmt;
use std::hash::Hasher;

/// The form of generated code that this version of the library understands. Raised whenever code that an
/// older `keyward generate` wrote would not compile or would do something else.
const FORMAT: u32 = 3;

/// Stops the compiler at a file that another version of `keyward generate` wrote.
pub const fn assert_format(format: u32) {
    assert!(
        format == FORMAT,
        "this file was generated for another version of keyward: run `keyward generate` of the same version again"
    );
}

/// A text pipeline of the schema.
///
/// # Panics
/// If the options are not what `keyward` wrote: it refuses those that make no pipeline.
#[cfg(feature = "text")]
pub fn pipeline(options: &keyward_text::Options<'_>) -> keyward_text::Pipeline {
    keyward_text::Pipeline::new(options).expect("the options are as `keyward` wrote them")
}

/// Reads the tables that a generated module carries as base64.
///
/// # Panics
/// If the lines are not what `keyward` wrote.
pub fn tables(lines: &[&str]) -> Tables {
    let mut block = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in lines.iter().flat_map(|line| line.bytes()) {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        (bits, count) = (bits << 6 | u32::from(six), count + 6);
        if count >= 8 {
            count -= 8;
            block.push((bits >> count & 0xff) as u8);
        }
    }
    Tables::read(&block).expect("the tables are as `keyward` wrote them")
}

/// Is shown the literals and values of a key, a prefix or an event in turn.
pub trait Visitor {
    fn literal(&mut self, text: &'static str);
    fn param(&mut self, value: &impl ParamValue);

    /// A literal and the value that follows it.
    #[inline]
    fn pair(&mut self, text: &'static str, value: &impl ParamValue) {
        self.literal(text);
        self.param(value);
    }
}

pub struct Writer<'o>(pub &'o mut String);

impl Visitor for Writer<'_> {
    #[inline]
    fn literal(&mut self, text: &'static str) {
        self.0.push_str(text);
    }

    #[inline]
    fn param(&mut self, value: &impl ParamValue) {
        value.spell(self.0);
    }
}

pub struct Length(pub usize);

impl Visitor for Length {
    #[inline]
    fn literal(&mut self, text: &'static str) {
        self.0 += text.len();
    }

    #[inline]
    fn param(&mut self, value: &impl ParamValue) {
        self.0 += value.spelled_len();
    }
}

pub struct ValueTexts(pub Vec<String>);

impl Visitor for ValueTexts {
    fn literal(&mut self, _: &'static str) {}

    fn param(&mut self, value: &impl ParamValue) {
        self.0.push(value.text());
    }
}

/// Has a value for each parameter, or a reason why not.
///
/// One type for all sources: `make` is part of every definition, and a generic one took the compiler
/// twice as long as everything else together.
pub struct ParamSource<'s> {
    from: Origin<'s>,
    error: Option<BuildError>,
}

enum Origin<'s> {
    /// A key that was found; its own parameters begin behind those of the prefix
    Key(&'s Found<'s>, usize),
    Texts(Texts<'s>),
}

/// Values by name, on their way into a key, a prefix or an event.
pub struct Texts<'s> {
    definition: &'static str,
    params: &'static [Param],
    given: Vec<Option<&'s str>>,
    tables: &'static Tables,
}

impl<'s> ParamSource<'s> {
    fn found(found: &'s Found<'s>, first: usize) -> Self {
        ParamSource { from: Origin::Key(found, first), error: None }
    }

    /// The value of a parameter. Where there is none, the source remembers why.
    pub fn param<T: ParamValue>(&mut self, at: usize) -> Option<T> {
        match &self.from {
            Origin::Key(found, first) => T::unspell(found.spelling(first + at)),
            Origin::Texts(texts) => match texts.value(at) {
                Ok(value) => Some(value),
                Err(error) => {
                    self.error.get_or_insert(error);
                    None
                }
            },
        }
    }
}

impl<'s> Texts<'s> {
    fn new<S: Keyspace>(
        definition: &'static str,
        params: &'static [Param],
        values: &[(&str, &'s str)],
    ) -> Result<Self, BuildError> {
        let mut given = vec![None; params.len()];
        for (name, text) in values {
            let Some(at) = params.iter().position(|param| param.name == *name) else {
                return Err(BuildError::NoParam { definition, param: (*name).to_owned() });
            };
            given[at] = Some(*text);
        }
        Ok(Texts { definition, params, given, tables: S::tables() })
    }

    /// Values in the order of the parameters, some of them unknown.
    pub(crate) fn given<S: Keyspace>(
        definition: &'static str,
        params: &'static [Param],
        values: &'s [Option<String>],
    ) -> Self {
        let given = values.iter().map(Option::as_deref).collect();
        Texts { definition, params, given, tables: S::tables() }
    }

    fn value<T: ParamValue>(&self, at: usize) -> Result<T, BuildError> {
        let (definition, param) = (self.definition, &self.params[at]);
        let text = self.given[at];
        let text = text.ok_or(BuildError::Missing { definition, param: param.name })?;
        let value = value_of(self.tables, param, text);
        value.map_err(|error| BuildError::Value { definition, error })
    }

    /// What `make` makes of the texts.
    pub(crate) fn make<T>(
        self,
        make: impl FnOnce(&mut ParamSource<'s>) -> Option<T>,
    ) -> Result<T, BuildError> {
        let definition = self.definition;
        let mut source = ParamSource { from: Origin::Texts(self), error: None };
        let made = make(&mut source);
        made.ok_or(source.error.unwrap_or(BuildError::NoDefinition(definition.to_owned())))
    }
}

/// Reads a key that was found; its own parameters begin behind those of the prefix.
pub fn read<K: Key>(found: &Found<'_>, first: usize) -> Option<K> {
    K::make(&mut ParamSource::found(found, first))
}

/// A value from text that comes from outside.
pub fn value_of<T: ParamValue>(
    tables: &Tables,
    param: &Param,
    text: &str,
) -> Result<T, ValueError> {
    let value = match param.language {
        Language::Of(language) => {
            tables.value(language, text).and_then(|text| T::from_normal(&text))
        }
        Language::Keys(_) | Language::Own => T::from_normal(text),
    };
    value.ok_or_else(|| ValueError::new(param.name, param.ty, text))
}

/// A definition with what can be done to it by its number.
pub struct Entry<S: Keyspace> {
    definition: &'static Definition,
    read: fn(&Found<'_>, usize) -> Option<S>,
    build: fn(Texts<'_>) -> Result<S, BuildError>,
}

impl<S: Keyspace> Entry<S> {
    pub const fn of<K: Key<Keyspace = S>>() -> Self {
        Entry {
            definition: K::DEFINITION,
            read: |found, first| read::<K>(found, first).map(K::into_any),
            build: |texts| {
                let key = texts.make(K::make)?;
                Ok(if K::DEFINITION.shadowed { unreserved(key)? } else { key }.into_any())
            },
        }
    }
}

impl<S: Keyspace> Entry<S> {
    pub(crate) fn build(&self, texts: Texts<'_>) -> Result<S, BuildError> {
        (self.build)(texts)
    }
}

/// Reads a key without its prefix.
pub fn read_bare<S: Keyspace>(key: &str) -> Option<S> {
    let found = S::tables().find_bare(key.as_bytes())?;
    (S::entries().get(found.definition().index())?.read)(&found, 0)
}

/// Reads a key of any definition.
pub fn parse<S: Keyspace>(key: &[u8]) -> Option<(S::Prefix, S)> {
    let found = S::tables().find(key)?;
    let entry = S::entries().get(found.definition().index())?;
    Some((read_prefix::<S>(&found)?, (entry.read)(&found, S::Prefix::PARAMS.len())?))
}

/// Reads a key under an old name.
pub fn parse_former<S: Keyspace>(key: &[u8]) -> Option<FormerKey<S>> {
    former::parse(key)
}

/// The names of a key of any definition.
pub fn names<S: Keyspace>(key: &S, prefix: &S::Prefix) -> KeyNames {
    let mut name = String::new();
    key.write_with_prefix(prefix, &mut name);
    KeyNames::new::<S>(key.definition(), name, prefix, || key.values())
}

/// Reads a key of one definition.
pub fn parse_one<K: Key>(key: &[u8]) -> Option<(<K::Keyspace as Keyspace>::Prefix, K)> {
    let found = K::Keyspace::tables().find(key)?;
    if found.definition().0 != K::DEFINITION.number {
        return None;
    }
    let first = <K::Keyspace as Keyspace>::Prefix::PARAMS.len();
    Some((read_prefix::<K::Keyspace>(&found)?, read::<K>(&found, first)?))
}

fn read_prefix<S: Keyspace>(found: &Found<'_>) -> Option<S::Prefix> {
    S::Prefix::make(&mut ParamSource::found(found, 0))
}

/// The key, unless it is too long or belongs to a more specific definition.
pub fn unreserved<K: Key>(key: K) -> Result<K, Reserved> {
    let mut bare = String::with_capacity(key.bare_len());
    key.write_bare(&mut bare);
    if K::Keyspace::tables().max_bare_len().is_some_and(|max| bare.len() > max) {
        return Err(Reserved::too_long(K::DEFINITION.name, &bare));
    }
    match read_bare::<K::Keyspace>(&bare) {
        Some(other) if other.definition().number != K::DEFINITION.number => {
            Err(Reserved::new(K::DEFINITION.name, other.definition().name, &bare))
        }
        _ => Ok(key),
    }
}

/// A value of one parameter as a value of another.
pub fn converted<K: Key, T: ParamValue>(value: &impl ParamValue, param: usize) -> Option<T> {
    word::<K, T>(&value.text(), param)
}

/// A word that an event binds to a parameter.
pub fn word<K: Key, T: ParamValue>(word: &str, param: usize) -> Option<T> {
    value_of(K::Keyspace::tables(), K::DEFINITION.params.get(param)?, word).ok()
}

/// The one thing that `make` makes, or nothing.
pub fn attempt<T>(make: impl FnOnce() -> Option<T>) -> Option<T> {
    make()
}

/// A key of any definition from names and texts.
pub fn build<S: Keyspace>(definition: &str, values: &[(&str, &str)]) -> Result<S, BuildError> {
    let entry = entry::<S>(definition)?;
    entry.build(Texts::new::<S>(entry.definition.name, entry.definition.params, values)?)
}

/// A key of one definition from names and texts.
pub fn build_one<K: Key>(values: &[(&str, &str)]) -> Result<K, BuildError> {
    let key = Texts::new::<K::Keyspace>(K::DEFINITION.name, K::DEFINITION.params, values)?;
    let key = key.make(K::make)?;
    Ok(if K::DEFINITION.shadowed { unreserved(key)? } else { key })
}

/// A prefix from names and texts.
pub fn prefix<S: Keyspace>(values: &[(&str, &str)]) -> Result<S::Prefix, BuildError> {
    Texts::new::<S>("prefix", S::Prefix::PARAMS, values)?.make(S::Prefix::make)
}

/// An event from names and texts.
pub fn event<E: Event>(values: &[(&str, &str)]) -> Result<E, BuildError> {
    Texts::new::<E::Keyspace>(E::NAME, E::PARAMS, values)?.make(E::make)
}

fn entry<S: Keyspace>(definition: &str) -> Result<&'static Entry<S>, BuildError> {
    let found = S::entries().iter().find(|entry| entry.definition.name == definition);
    found.ok_or_else(|| BuildError::NoDefinition(definition.to_owned()))
}

/// A glob from names and texts; what is not given is free.
pub fn glob_named<S: Keyspace>(
    prefix: &S::Prefix,
    name: &str,
    values: &[(&str, &str)],
) -> Result<String, BuildError> {
    let definition = entry::<S>(name)?.definition;
    let values = Texts::new::<S>(definition.name, definition.params, values)?;
    let mut spelled = Vec::with_capacity(definition.params.len());
    for (param, text) in definition.params.iter().zip(&values.given) {
        let Some(text) = text else {
            spelled.push(None);
            continue;
        };
        let value = spell_named::<S>(param, text).ok_or_else(|| BuildError::Value {
            definition: definition.name,
            error: ValueError::new(param.name, param.ty, text),
        })?;
        spelled.push(Some(value));
    }
    Ok(glob_of(definition, prefix, &spelled))
}

/// A text as it stands in a key.
fn spell_named<S: Keyspace>(param: &Param, text: &str) -> Option<String> {
    match param.language {
        Language::Of(language) => {
            let mut spelled = String::new();
            S::tables().spell(language, &S::tables().value(language, text)?, &mut spelled);
            Some(spelled)
        }
        Language::Keys(keys) => {
            let number = read_bare::<S>(text)?.definition().number;
            keys.contains(&number).then(|| text.to_owned())
        }
        Language::Own => Some(text.to_owned()),
    }
}

/// A value as it stands in a key, or nothing for a parameter that is free.
pub fn bound<T: ParamValue>(value: Option<T>) -> Option<String> {
    let value = value?;
    let mut text = String::with_capacity(value.spelled_len());
    value.spell(&mut text);
    Some(text)
}

/// Keys that an event makes invalid and does not know in full.
#[derive(Debug, Clone)]
pub struct Search {
    pub definition: &'static Definition,
    /// Finds them, and maybe others: a glob's star crosses separators
    pub glob: String,
    /// What is known of them, as text; the parameters of the definition alone
    pub values: Vec<Option<String>>,
}

/// A search, with those parameters bound that have a value; each as it stands in a key and as text.
pub fn search<K: Key>(
    prefix: &<K::Keyspace as Keyspace>::Prefix,
    values: Vec<Option<(String, String)>>,
) -> Search {
    let (spelled, values): (Vec<_>, Vec<_>) = values.into_iter().map(Option::unzip).unzip();
    Search { definition: K::DEFINITION, glob: glob_of(K::DEFINITION, prefix, &spelled), values }
}

/// The globs of searches, each followed by those of its old names.
pub fn globs<S: Keyspace>(searches: Vec<Search>, prefix: &S::Prefix) -> Vec<String> {
    let mut globs = Vec::with_capacity(searches.len());
    for search in searches {
        globs.push(search.glob);
        globs.extend(
            former::of::<S>(search.definition)
                .filter_map(|(_, former)| former::glob::<S>(former.parts, prefix, &search.values)),
        );
    }
    globs
}

/// A value of an event for a search.
pub fn known(value: &impl ParamValue) -> Option<(String, String)> {
    let mut spelled = String::with_capacity(value.spelled_len());
    value.spell(&mut spelled);
    Some((spelled, value.text()))
}

/// A value as an old name spells it.
pub fn spell_former<S: Keyspace>(
    language: Language,
    recase: Option<Recase>,
    text: &str,
) -> Option<String> {
    let old = recase.map_or_else(|| text.to_owned(), |recase| recase.old_value(text));
    spell_named::<S>(&Param::new("", "", language), &old)
}

/// The glob of a definition, with those parameters bound that have a value.
pub fn glob_of(definition: &Definition, prefix: &impl Prefix, values: &[Option<String>]) -> String {
    let mut text = String::with_capacity(prefix.len());
    prefix.write(&mut text);
    let mut glob = String::with_capacity(definition.glob.len() + 16);
    escape_glob(&text, &mut glob);
    for part in definition.parts() {
        match part {
            KeyPart::Literal(char) => escape_glob(char.encode_utf8(&mut [0; 4]), &mut glob),
            KeyPart::Param(at) => match &values[at] {
                Some(value) => escape_glob(value, &mut glob),
                None if glob.ends_with('*') && !glob.ends_with("\\*") => {}
                None => glob.push('*'),
            },
        }
    }
    glob
}

/// The key. Knows nothing of the key's keyspace, since the compiler would look it up for each definition.
#[inline]
pub fn key(key: &impl Key, prefix: &impl Prefix) -> String {
    let mut text = String::with_capacity(prefix.len() + key.bare_len());
    prefix.write(&mut text);
    key.write_bare(&mut text);
    text
}

/// Displays the key.
pub fn show(shown: &impl Key, prefix: &impl Prefix, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.pad(&key(shown, prefix))
}

/// Any key behind a pointer, for the enum of all of them: what it does itself has one arm for each
/// definition, which takes the compiler long.
pub trait AnyKey<S>: Any + fmt::Debug {
    fn definition(&self) -> &'static Definition;
    fn write_bare(&self, out: &mut String);
    fn bare_len(&self) -> usize;
    fn values(&self) -> Vec<String>;
    fn to_any(&self) -> S;
    fn equals(&self, other: &dyn Any) -> bool;
    fn hash(&self, state: &mut dyn Hasher);
}

impl<K: Key> AnyKey<K::Keyspace> for K {
    fn definition(&self) -> &'static Definition {
        K::DEFINITION
    }

    fn write_bare(&self, out: &mut String) {
        Key::write_bare(self, out);
    }

    fn bare_len(&self) -> usize {
        Key::bare_len(self)
    }

    fn values(&self) -> Vec<String> {
        Key::values(self)
    }

    fn to_any(&self) -> K::Keyspace {
        self.clone().into_any()
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn hash(&self, mut state: &mut dyn Hasher) {
        state.write_u32(K::DEFINITION.number);
        std::hash::Hash::hash(self, &mut state);
    }
}

/// Any event behind a pointer.
pub trait AnyEvent<S: Keyspace> {
    fn name(&self) -> &'static str;
    fn keys(&self) -> Vec<S>;
    fn searches_with_prefix(&self, prefix: &S::Prefix) -> Vec<Search>;
}

impl<E: Event> AnyEvent<E::Keyspace> for E {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn keys(&self) -> Vec<E::Keyspace> {
        Event::keys(self)
    }

    fn searches_with_prefix(&self, prefix: &<E::Keyspace as Keyspace>::Prefix) -> Vec<Search> {
        Event::searches_with_prefix(self, prefix)
    }
}
