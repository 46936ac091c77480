//! One definition of a keyspace: build, parse and glob.

use crate::keyspace::Keyspace;
use crate::language::Language;
use crate::path::Path;
use crate::{DefinitionId, Param, Type, Value, escape_glob, lower};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What is known of a definition, without the keyspace around it.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) name: String,
    pub(crate) ops: Vec<Op>,
    pub(crate) params: Vec<(String, Param)>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) paths: Range<u32>,
    pub(crate) literal_len: usize,
    pub(crate) min_len: usize,
    pub(crate) max_len: Option<usize>,
    pub(crate) tagged: bool,
    /// How many of the parameters belong to the prefix
    pub(crate) prefix_params: usize,
    /// The length of the prefix without its parameters
    pub(crate) prefix_literal_len: usize,
    /// Whether the pattern is whole, without the prefix
    pub(crate) absolute: bool,
    /// The length of the longest key without the prefix
    pub(crate) max_bare_len: Option<usize>,
    /// The longest that a key may be without the prefix, if it could be longer
    pub(crate) outgrows: Option<usize>,
    /// Whether a narrower definition may take some of its keys
    pub(crate) shadowed: bool,
}

/// A step of building a key.
#[derive(Debug)]
pub(crate) enum Op {
    Literal(Box<str>),
    Param(usize),
}

impl Op {
    pub(crate) fn literal_len(&self) -> usize {
        match self {
            Op::Literal(text) => text.len(),
            Op::Param(_) => 0,
        }
    }
}

/// How a parameter's value is checked and spelled.
#[derive(Debug)]
pub(crate) enum Slot {
    Typed(Arc<Language>),
    /// A whole key of another definition
    Key(KeySlot),
}

/// Whose keys a parameter of type `key` holds.
#[derive(Debug)]
pub(crate) struct KeySlot {
    /// The forms such a key may have
    pub(crate) paths: Vec<Path>,
    pub(crate) targets: Vec<DefinitionId>,
    /// Whether some keys of these forms belong to a narrower definition
    pub(crate) shadowed: bool,
}

/// A definition in its keyspace.
///
/// ```
/// use keyward_pattern::{Keyspace, Template};
///
/// let mut builder = Keyspace::builder(':')?;
/// let id = builder.define("meta", &Template::parse("file:{id:uint}:meta")?, |_| None);
/// let keyspace = builder.finish().unwrap();
/// let meta = keyspace.definition(id);
///
/// assert_eq!(meta.build(&[7u64.into()])?, "file:7:meta");
/// assert_eq!(meta.parse(b"file:7:meta").unwrap(), ["7"]);
/// assert_eq!(meta.glob(&[None])?, "file:*:meta");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Definition<'s> {
    pub(crate) keyspace: &'s Keyspace,
    pub(crate) compiled: &'s Compiled,
    pub(crate) id: DefinitionId,
}

impl<'s> Definition<'s> {
    /// Its number in the keyspace.
    pub fn id(&self) -> DefinitionId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &'s str {
        &self.compiled.name
    }

    /// Its parameters in order: the prefix's, then the pattern's.
    pub fn params(&self) -> &'s [(String, Param)] {
        &self.compiled.params
    }

    /// How many of its parameters belong to the prefix.
    pub fn prefix_params(&self) -> usize {
        self.compiled.prefix_params
    }

    /// The length of the shortest key.
    pub fn min_len(&self) -> usize {
        self.compiled.min_len
    }

    /// The length of the longest key; `None` if there is no bound.
    pub fn max_len(&self) -> Option<usize> {
        self.compiled.max_len
    }

    /// Whether some value in its keys may contain the separator.
    pub fn spans(&self) -> bool {
        let paths = self.compiled.paths.start as usize..self.compiled.paths.end as usize;
        self.keyspace.0.paths[paths].iter().any(|path| path.rest)
            || self.compiled.slots.iter().any(|slot| matches!(slot, Slot::Key(_)))
    }

    /// Whether its keys have a hash tag.
    pub fn has_tag(&self) -> bool {
        self.compiled.tagged
    }

    /// Some value of a parameter, of about so many bytes; `choose` picks one of so many ways on.
    /// `None` for a parameter that holds a key.
    pub fn sample(
        &self,
        param: usize,
        len: usize,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Option<String> {
        let Some(Slot::Typed(language)) = self.compiled.slots.get(param) else { return None };
        let dfa = language.values.as_ref().unwrap_or(&language.spelling);
        String::from_utf8(dfa.sample(len, choose)).ok()
    }

    /// Whether a narrower definition may take some of its keys, so that some values are refused
    /// although each is one of its type.
    pub fn is_shadowed(&self) -> bool {
        self.compiled.shadowed
    }

    /// Whether some values make no key although each is one of its type: a narrower definition takes
    /// the key, or it would be too long.
    pub fn is_partial(&self) -> bool {
        self.compiled.shadowed || self.compiled.outgrows.is_some()
    }

    /// The key for these values, in the order of [`Definition::params`]. One allocation.
    pub fn build(&self, values: &[Value<'_>]) -> Result<String, BuildError> {
        let mut key = String::new();
        self.build_into(values, &mut key)?;
        Ok(key)
    }

    /// Appends the key to `out`, which is left as it was if a value is refused.
    pub fn build_into(&self, values: &[Value<'_>], out: &mut String) -> Result<(), BuildError> {
        let params = &self.compiled.params;
        if values.len() != params.len() {
            let kind = BuildErrorKind::Count { expected: params.len(), given: values.len() };
            return Err(self.error("", kind));
        }
        let start = out.len();
        let mut prefix_len = self.compiled.prefix_literal_len;
        out.reserve(self.len_hint(values));
        for op in &self.compiled.ops {
            let before = out.len();
            let result = match op {
                Op::Literal(text) => {
                    out.push_str(text);
                    Ok(())
                }
                Op::Param(at) => self.spell(*at, &values[*at], out),
            };
            if matches!(op, Op::Param(at) if *at < self.compiled.prefix_params) {
                prefix_len += out.len() - before;
            }
            if let Err(error) = result {
                out.truncate(start);
                return Err(error);
            }
        }
        if let Some(max) = self.compiled.outgrows
            && out.len() - start - prefix_len > max
        {
            let room = self.keyspace.0.max_len.map_or(0, |max| max.whole - max.bare);
            let kind = BuildErrorKind::TooLong {
                len: out.len() - start - prefix_len + room,
                max: max + room,
            };
            out.truncate(start);
            return Err(self.error("", kind));
        }
        if self.compiled.shadowed
            && let Some(owner) = self.keyspace.classify(&out.as_bytes()[start..])
            && owner != self.id
        {
            out.truncate(start);
            let by = self.keyspace.definition(owner).name().to_owned();
            return Err(self.error("", BuildErrorKind::Reserved { by }));
        }
        Ok(())
    }

    /// The key for values given by name, in any order.
    pub fn build_named(&self, values: &[(&str, &str)]) -> Result<String, BuildError> {
        let bound = self.by_name(values)?;
        let missing = bound.iter().position(Option::is_none);
        if let Some(missing) = missing {
            return Err(self.error(&self.compiled.params[missing].0, BuildErrorKind::Missing));
        }
        self.build(&bound.into_iter().flatten().collect::<Vec<_>>())
    }

    /// The values of a key of this definition, in the order of [`Definition::params`]; `None` if
    /// the key belongs to another definition or to none.
    pub fn parse<'k>(&self, key: &'k [u8]) -> Option<Vec<Cow<'k, str>>> {
        let parsed = self.keyspace.parse(key)?;
        (parsed.definition == self.id).then_some(parsed.values)
    }

    /// A `SCAN MATCH` pattern with the given parameters bound and the others free. It may match
    /// more than this definition's keys, since a glob's `*` crosses separators: classify what it finds.
    pub fn glob(&self, values: &[Option<Value<'_>>]) -> Result<String, BuildError> {
        let params = &self.compiled.params;
        if values.len() != params.len() {
            let kind = BuildErrorKind::Count { expected: params.len(), given: values.len() };
            return Err(self.error("", kind));
        }
        let mut glob = String::with_capacity(self.compiled.literal_len + 16);
        let mut spelling = String::new();
        for op in &self.compiled.ops {
            match op {
                Op::Literal(text) => escape_glob(text, &mut glob),
                Op::Param(at) => match &values[*at] {
                    Some(value) => {
                        spelling.clear();
                        self.spell(*at, value, &mut spelling)?;
                        escape_glob(&spelling, &mut glob);
                    }
                    None if glob.ends_with('*') && !glob.ends_with("\\*") => {}
                    None => glob.push('*'),
                },
            }
        }
        Ok(glob)
    }

    /// The same with parameters bound by name.
    pub fn glob_named(&self, values: &[(&str, &str)]) -> Result<String, BuildError> {
        self.glob(&self.by_name(values)?)
    }

    fn by_name<'v>(
        &self,
        values: &[(&str, &'v str)],
    ) -> Result<Vec<Option<Value<'v>>>, BuildError> {
        let params = &self.compiled.params;
        let mut bound = vec![None; params.len()];
        for (name, value) in values {
            let Some(at) = params.iter().position(|(param, _)| param == name) else {
                return Err(self.error(name, BuildErrorKind::Unknown));
            };
            if bound[at].replace(Value::Str(value)).is_some() {
                return Err(self.error(name, BuildErrorKind::Twice));
            }
        }
        Ok(bound)
    }

    fn len_hint(&self, values: &[Value<'_>]) -> usize {
        let spelled =
            self.compiled.slots.iter().zip(values).map(|(slot, value)| match (slot, value) {
                (Slot::Typed(language), Value::Str(text)) => language.codec.spelled_len(text),
                (_, value) => value.len_hint(),
            });
        self.compiled.literal_len + spelled.sum::<usize>()
    }

    /// Appends a value's spelling, if it is a value of the parameter's type.
    #[inline]
    fn spell(&self, at: usize, value: &Value<'_>, out: &mut String) -> Result<(), BuildError> {
        let separator = self.keyspace.separator();
        let good = match (&self.compiled.slots[at], value) {
            (Slot::Typed(language), Value::Str(text))
                if language.is_plain() && language.matches_any(text.as_bytes(), separator) =>
            {
                out.push_str(text);
                true
            }
            (Slot::Typed(language), value) if language.holds_every(value) => {
                value.with_text(|text| out.push_str(text));
                true
            }
            (Slot::Key(slot), value) => value.with_text(|text| {
                out.push_str(text);
                let fits = |path: &Path| path.matches(text.as_bytes(), separator);
                slot.paths.iter().any(fits) && self.keyspace.owns(slot, text.as_bytes())
            }),
            (Slot::Typed(language), value) => {
                value.with_text(|text| spell_text(language, text, separator, out))
            }
        };
        if good { Ok(()) } else { Err(self.refusal(at, value)) }
    }

    #[cold]
    fn refusal(&self, at: usize, value: &Value<'_>) -> BuildError {
        value.with_text(|text| {
            let (name, param) = &self.compiled.params[at];
            let separator = self.keyspace.separator();
            let why = if param.except.iter().any(|word| word == text) {
                "it is a reserved word".to_owned()
            } else {
                why_not(&self.compiled.slots[at], param, text, separator)
            };
            let ty = param.to_string();
            self.error(name, BuildErrorKind::Invalid { value: shorten(text), ty, why })
        })
    }

    fn error(&self, param: &str, kind: BuildErrorKind) -> BuildError {
        BuildError { definition: self.compiled.name.clone(), param: param.to_owned(), kind }
    }
}

/// Appends the spelling of a text; whether it is a value.
fn spell_text(language: &Language, text: &str, separator: u8, out: &mut String) -> bool {
    let value = language.value(text, separator);
    if let Some(value) = &value {
        language.codec.write(value, out);
    }
    value.is_some()
}

/// What is wrong with a value: what no key may hold, or else what the type expects.
fn why_not(slot: &Slot, param: &Param, text: &str, separator: u8) -> String {
    if text.is_empty() {
        return "it is empty".to_owned();
    }
    let Slot::Typed(language) = slot else { return "no such key can exist".to_owned() };
    let dfa = language.values.as_ref().unwrap_or(&language.spelling);
    let lowered: String;
    let text = if language.lower {
        lowered = text.chars().map(lower::lower).collect();
        &lowered
    } else {
        text
    };
    // The automaton stops at a byte; people count characters.
    let mut at = dfa.progress(text.as_bytes());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let offending = text[at..].chars().next();
    match (offending, param.ty.expectation()) {
        (Some(char), _) if char == separator as char => {
            format!("it contains the separator `{char}`")
        }
        (Some(char), _) if param.without.contains(char) => {
            format!("it contains `{char}`, which is excluded")
        }
        (Some(char), _) if char.is_control() => {
            format!("it contains the control character U+{:04X}", char as u32)
        }
        (Some(char @ ('{' | '}')), _) => format!("it contains `{char}`, which chooses a hash slot"),
        (_, Some(expected)) => format!("expected {expected}"),
        (None, None) => "it ends too early".to_owned(),
        (Some(char), None) => {
            format!("`{char}` is not allowed at character {}", text[..at].chars().count() + 1)
        }
    }
}

/// A value as it is shown in an error.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut escaped = String::new();
    for char in text.chars().take(SHOWN) {
        match char {
            '\'' | '"' | '\\' => escaped.push(char),
            _ => escaped.extend(char.escape_debug()),
        }
    }
    let total = text.chars().count();
    if total > SHOWN { format!("{escaped}… ({total} characters)") } else { escaped }
}

/// Why no key can be built.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildError {
    /// The definition
    pub definition: String,
    /// The parameter, if it is about one
    pub param: String,
    /// What is wrong
    pub kind: BuildErrorKind,
}

/// What is wrong with the values for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildErrorKind {
    /// No value was given
    Missing,
    /// The definition has no such parameter
    Unknown,
    /// Given more than once
    Twice,
    /// More or fewer values than parameters
    Count {
        /// Parameters
        expected: usize,
        /// Values
        given: usize,
    },
    /// Not a value of the parameter's type
    Invalid {
        /// The value, shortened
        value: String,
        /// The type
        ty: String,
        /// What is wrong with it
        why: String,
    },
    /// The keyspace does not compile with this prefix
    Unbindable(Vec<String>),
    /// The key would belong to a more specific definition
    Reserved {
        /// That definition
        by: String,
    },
    /// The key would be longer than the keyspace allows
    TooLong {
        /// How many bytes it would have, with the longest prefix
        len: usize,
        /// How many it may have
        max: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BuildError { definition, param, kind } = self;
        match kind {
            BuildErrorKind::Missing => write!(f, "`{definition}` needs a value for `{param}`"),
            BuildErrorKind::Unknown => write!(f, "`{definition}` has no parameter `{param}`"),
            BuildErrorKind::Twice => write!(f, "`{param}` is given twice"),
            BuildErrorKind::Count { expected, given } => {
                write!(f, "`{definition}` takes {expected} values, {given} were given")
            }
            BuildErrorKind::Invalid { value, ty, why } => {
                write!(f, "`{value}` is not a value for `{param}` ({ty}): {why}")
            }
            BuildErrorKind::Unbindable(errors) => {
                write!(f, "the prefix cannot be bound: {}", errors.join(", "))
            }
            BuildErrorKind::Reserved { by } => {
                write!(f, "`{definition}` cannot have this key: it belongs to `{by}`")
            }
            BuildErrorKind::TooLong { len, max } => {
                write!(
                    f,
                    "the key of `{definition}` would have {len} bytes, and the limit is {max}"
                )
            }
        }
    }
}

impl std::error::Error for BuildError {}

impl Type {
    /// Whether values of the type are references to other definitions' keys.
    pub(crate) fn targets(&self) -> Option<&[String]> {
        match self {
            Type::Key(names) => Some(names),
            _ => None,
        }
    }
}
