//! From templates and declarations to a keyspace: references followed, languages built, paths laid out.

#[cfg(feature = "prove")]
use crate::automaton::{Nfa, TooLarge};
use crate::define_error::{DefineError, DefineErrorKind, MAX_PATHS, MAX_SEGMENTS};
use crate::definition::{Compiled, Op, Slot};
use crate::keyspace::{DefinitionId, Inner, Keyspace};
use crate::language::{Language, LanguageError};
use crate::path::{Flat, FlatCapture, Path, Piece};
use crate::trie::Growing;
use crate::{BuildError, Param, Part, Template, Type};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Takes definitions and compiles them together.
#[derive(Debug, Clone)]
pub struct Builder {
    separator: u8,
    prefix: Option<(Template, Vec<(String, Param)>)>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    name: String,
    template: Template,
    params: Vec<(String, Param)>,
    absolute: bool,
}

impl Builder {
    pub(crate) fn new(separator: char) -> Result<Self, SeparatorError> {
        let usable = separator.is_ascii_punctuation()
            && !matches!(separator, '{' | '}' | '~' | '%' | '*' | '?' | '[' | ']' | '\\' | '"');
        if usable { Ok(Builder::empty(separator as u8)) } else { Err(SeparatorError { separator }) }
    }

    fn empty(separator: u8) -> Self {
        Builder { separator, prefix: None, entries: Vec::new() }
    }

    /// What every key starts with. `resolve` gives the declaration of a parameter by its name; a
    /// type in place wins over it, and a parameter without either is text.
    pub fn prefix(&mut self, template: &Template, resolve: impl Fn(&str) -> Option<Param>) {
        self.prefix = Some((template.clone(), resolved(template, resolve)));
    }

    /// Adds a definition; the prefix stands before its pattern.
    pub fn define(
        &mut self,
        name: &str,
        template: &Template,
        resolve: impl Fn(&str) -> Option<Param>,
    ) -> DefinitionId {
        self.add(name, template, resolve, false)
    }

    /// Adds a definition whose pattern is whole: a former name.
    pub fn define_absolute(
        &mut self,
        name: &str,
        template: &Template,
        resolve: impl Fn(&str) -> Option<Param>,
    ) -> DefinitionId {
        self.add(name, template, resolve, true)
    }

    fn add(
        &mut self,
        name: &str,
        template: &Template,
        resolve: impl Fn(&str) -> Option<Param>,
        absolute: bool,
    ) -> DefinitionId {
        let params = resolved(template, resolve);
        self.entries.push(Entry {
            name: name.to_owned(),
            template: template.clone(),
            params,
            absolute,
        });
        DefinitionId(u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX))
    }

    /// The same definitions behind a prefix with these values.
    pub(crate) fn bind(&self, values: &[(&str, &str)]) -> Result<Builder, BuildError> {
        let mut bound = self.clone();
        let Some((template, params)) = &self.prefix else { return Ok(bound) };
        // The prefix as a definition of its own spells the values.
        let mut alone = Builder::empty(self.separator);
        let id = alone.define("prefix", template, |name| {
            params.iter().find(|(param, _)| param == name).map(|(_, param)| param.clone())
        });
        if let Ok(alone) = alone.finish() {
            let text = alone.definition(id).build_named(values)?;
            let escaped = text.replace('{', "{{").replace('}', "}}");
            bound.prefix = Template::parse(&escaped).ok().map(|literal| (literal, Vec::new()));
        }
        Ok(bound)
    }

    pub(crate) fn prefix_template(&self) -> Option<&Template> {
        self.prefix.as_ref().map(|(template, _)| template)
    }

    #[cfg(feature = "prove")]
    pub(crate) fn prefix_nfa(&self) -> Result<Nfa, TooLarge> {
        let mut alone = Builder::empty(self.separator);
        alone.prefix.clone_from(&self.prefix);
        Compiler::new(alone).prefix().nfa()
    }

    /// Compiles all definitions, or says everything that is wrong with them.
    pub fn finish(self) -> Result<Keyspace, Vec<DefineError>> {
        Compiler::new(self).compile()
    }
}

fn resolved(template: &Template, resolve: impl Fn(&str) -> Option<Param>) -> Vec<(String, Param)> {
    template
        .holes()
        .map(|hole| {
            let declared = resolve(&hole.name);
            let param = match (&hole.ty, declared) {
                (Some(ty), _) => Param::from(ty.clone()),
                (None, Some(param)) => param,
                (None, None) => Param::from(Type::Text),
            };
            (hole.name.clone(), param)
        })
        .collect()
}

struct Compiler {
    source: Builder,
    names: HashMap<String, DefinitionId>,
    languages: HashMap<(Param, bool), Result<Arc<Language>, LanguageError>>,
    /// Each definition's paths without the prefix, once they are known
    expanded: Vec<Option<Vec<Flat>>>,
    errors: Vec<DefineError>,
}

impl Compiler {
    fn new(source: Builder) -> Self {
        let expanded = vec![None; source.entries.len()];
        Compiler {
            source,
            names: HashMap::new(),
            languages: HashMap::new(),
            expanded,
            errors: Vec::new(),
        }
    }

    fn compile(mut self) -> Result<Keyspace, Vec<DefineError>> {
        for (number, entry) in (0u32..).zip(&self.source.entries) {
            let id = DefinitionId(number);
            if self.names.insert(entry.name.clone(), id).is_some() {
                self.errors.push(DefineError::new(Some(id), None, DefineErrorKind::NameTwice));
            }
        }
        let prefix = self.prefix();
        for number in 0..self.source.entries.len() {
            self.expand(number, &mut Vec::new());
        }
        let mut definitions = Vec::new();
        let mut paths = Vec::new();
        let mut owners = Vec::new();
        if self.errors.is_empty() {
            for number in 0..self.source.entries.len() {
                let id = DefinitionId(u32::try_from(number).unwrap_or(u32::MAX));
                let compiled = self.definition(id, &prefix, &mut paths);
                owners.resize(paths.len(), id);
                definitions.push(compiled);
            }
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let mut growing = Growing::new(&paths);
        for definition in &mut definitions {
            definition.shadowed = definition
                .paths
                .clone()
                .any(|number| growing.is_shadowed(&paths[number as usize], number));
        }
        let trie = growing.finish(self.source.separator);
        Ok(Keyspace(Arc::new(Inner {
            separator: self.source.separator,
            definitions,
            names: self.names,
            paths,
            owners,
            trie,
            source: self.source,
        })))
    }

    /// The prefix's pieces; a `key` or a rest cannot stand there.
    fn prefix(&mut self) -> Flat {
        let Some((template, params)) = self.source.prefix.clone() else { return Flat::default() };
        let mut flats = self.flatten(None, &template, &params, &mut Vec::new());
        let flat = flats.pop().unwrap_or_default();
        if flat.rest
            || !flats.is_empty()
            || params.iter().any(|(_, param)| param.ty.targets().is_some())
        {
            self.errors.push(DefineError::new(None, None, DefineErrorKind::Prefix));
        }
        flat
    }

    /// The paths of a definition without the prefix. `open` are the definitions being expanded.
    fn expand(&mut self, number: usize, open: &mut Vec<usize>) -> Vec<Flat> {
        if let Some(known) = &self.expanded[number] {
            return known.clone();
        }
        let id = DefinitionId(u32::try_from(number).unwrap_or(u32::MAX));
        let entry = self.source.entries[number].clone();
        open.push(number);
        let flats = self.flatten(Some(id), &entry.template, &entry.params, open);
        open.pop();
        self.expanded[number] = Some(flats.clone());
        flats
    }

    fn flatten(
        &mut self,
        id: Option<DefinitionId>,
        template: &Template,
        params: &[(String, Param)],
        open: &mut Vec<usize>,
    ) -> Vec<Flat> {
        let mut flats = vec![Flat::default()];
        let mut next_param = 0;
        for part in template.parts() {
            let hole = match part {
                Part::Literal(text) => {
                    push_everywhere(&mut flats, text);
                    continue;
                }
                Part::Hole(hole) => hole,
            };
            let (name, param) = &params[next_param];
            if params[..next_param].iter().any(|(earlier, _)| earlier == name) {
                self.errors.push(DefineError::new(id, Some(name), DefineErrorKind::HoleTwice));
            }
            if hole.tag {
                push_everywhere(&mut flats, "{");
            }
            let ways = self.ways(id, name, param, hole.rest, open);
            let mut grown = Vec::new();
            for flat in &flats {
                for way in &ways {
                    if flat.rest {
                        self.errors.push(DefineError::new(
                            id,
                            Some(name),
                            DefineErrorKind::RestInside,
                        ));
                        return Vec::new();
                    }
                    let mut flat = flat.clone();
                    let start = flat.pieces.len();
                    flat.pieces.extend(way.pieces.iter().cloned());
                    flat.captures
                        .push(FlatCapture { param: next_param, pieces: start..flat.pieces.len() });
                    flat.rest = way.rest;
                    grown.push(flat);
                }
            }
            if grown.len() > MAX_PATHS {
                self.errors.push(DefineError::new(id, Some(name), DefineErrorKind::TooManyPaths));
                return Vec::new();
            }
            flats = grown;
            if hole.tag {
                push_everywhere(&mut flats, "}");
            }
            next_param += 1;
        }
        if flats
            .iter()
            .any(|flat| flat.rest && !matches!(flat.pieces.last(), Some(Piece::Typed(_))))
        {
            self.errors.push(DefineError::new(id, None, DefineErrorKind::RestInside));
        }
        flats
    }

    /// What may stand for a parameter: one language, or each path of each definition it refers to.
    fn ways(
        &mut self,
        id: Option<DefinitionId>,
        name: &str,
        param: &Param,
        rest: bool,
        open: &mut Vec<usize>,
    ) -> Vec<Flat> {
        let Some(targets) = param.ty.targets() else {
            return match self.language(param, rest) {
                Ok(language) => {
                    vec![Flat { pieces: vec![Piece::Typed(language)], captures: Vec::new(), rest }]
                }
                Err(error) => {
                    self.errors.push(DefineError::new(
                        id,
                        Some(name),
                        DefineErrorKind::Language(error),
                    ));
                    Vec::new()
                }
            };
        };
        let mut problem = None;
        if rest || param.normalize.is_some() || !param.encode.is_empty() {
            problem = Some(DefineErrorKind::Language(LanguageError::KeyInside));
        }
        if targets.is_empty() {
            problem = Some(DefineErrorKind::Language(LanguageError::Nothing));
        }
        let mut ways = Vec::new();
        for target in targets {
            match self.names.get(target).map(|id| id.index()) {
                None => problem = Some(DefineErrorKind::UnknownTarget(target.clone())),
                Some(number) if open.contains(&number) => {
                    problem = Some(DefineErrorKind::Cycle(target.clone()));
                }
                Some(number) => ways.extend(self.expand(number, open)),
            }
        }
        if let Some(kind) = problem {
            self.errors.push(DefineError::new(id, Some(name), kind));
            return Vec::new();
        }
        ways
    }

    fn language(&mut self, param: &Param, rest: bool) -> Result<Arc<Language>, LanguageError> {
        if let Some(known) = self.languages.get(&(param.clone(), rest)) {
            return known.clone();
        }
        let separator = self.source.separator;
        let built = if rest { Language::of_rest(param) } else { Language::of(param, separator) };
        let built = built.map(Arc::new);
        self.languages.insert((param.clone(), rest), built.clone());
        built
    }

    fn definition(&mut self, id: DefinitionId, prefix: &Flat, paths: &mut Vec<Path>) -> Compiled {
        let entry = self.source.entries[id.index()].clone();
        let (mut ops, mut params) = (Vec::new(), Vec::new());
        let mut prefix_params = 0;
        let empty = Flat::default();
        let prefix = if entry.absolute { &empty } else { prefix };
        if !entry.absolute
            && let Some((template, declared)) = &self.source.prefix
        {
            push_ops(template, 0, &mut ops);
            params.extend(declared.iter().cloned());
            prefix_params = params.len();
            for (name, _) in &entry.params {
                if declared.iter().any(|(taken, _)| taken == name) {
                    self.errors.push(DefineError::new(
                        Some(id),
                        Some(name),
                        DefineErrorKind::HoleTwice,
                    ));
                }
            }
        }
        push_ops(&entry.template, prefix_params, &mut ops);
        params.extend(entry.params.iter().cloned());
        let flats: Vec<Flat> = self.expanded[id.index()]
            .iter()
            .flatten()
            .map(|flat| prefix.then(flat, prefix_params))
            .collect();
        let first = paths.len();
        for flat in &flats {
            let path = flat.cut(self.source.separator);
            if path.segments.len() > MAX_SEGMENTS {
                self.errors.push(DefineError::new(
                    Some(id),
                    None,
                    DefineErrorKind::TooManySegments,
                ));
            }
            paths.push(path);
        }
        let slots =
            params.iter().zip(Compiler::rests(&entry, prefix_params)).map(|((_, param), rest)| {
                match param.ty.targets() {
                    Some(targets) => Slot::Key(self.targets(targets)),
                    None => match self.languages.get(&(param.clone(), rest)) {
                        Some(Ok(language)) => Slot::Typed(language.clone()),
                        _ => Slot::Key(Vec::new()),
                    },
                }
            });
        let slots = slots.collect();
        let range = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        let literal = |op: &Op| match op {
            Op::Literal(text) => text.len(),
            Op::Param(_) => 0,
        };
        Compiled {
            literal_len: ops.iter().map(literal).sum(),
            tagged: entry.template.holes().any(|hole| hole.tag)
                || has_literal_tag(&entry, &self.source),
            name: entry.name,
            ops,
            params,
            slots,
            paths: range(first)..range(paths.len()),
            min_len: flats.iter().map(Flat::min_len).min().unwrap_or(0),
            max_len: flats
                .iter()
                .map(Flat::max_len)
                .max_by_key(|len| len.unwrap_or(usize::MAX))
                .flatten(),
            prefix_params,
            shadowed: false,
        }
    }

    fn rests(entry: &Entry, prefix_params: usize) -> Vec<bool> {
        let mut rests = vec![false; prefix_params];
        rests.extend(entry.template.holes().map(|hole| hole.rest));
        rests
    }

    fn targets(&self, names: &[String]) -> Vec<Path> {
        names
            .iter()
            .filter_map(|name| self.expanded[self.names.get(name)?.index()].as_ref())
            .flatten()
            .map(|flat| flat.cut(self.source.separator))
            .collect()
    }
}

/// Adds a literal to every path.
fn push_everywhere(flats: &mut [Flat], text: &str) {
    for flat in flats {
        flat.pieces.push(Piece::Literal(text.into()));
    }
}

/// Whether literals of the pattern or the prefix open a hash tag.
fn has_literal_tag(entry: &Entry, source: &Builder) -> bool {
    let literal = |part: &Part| matches!(part, Part::Literal(text) if text.contains('{'));
    let prefix = source.prefix.iter().filter(|_| !entry.absolute);
    let mut parts = prefix.flat_map(|(template, _)| template.parts()).chain(entry.template.parts());
    parts.any(literal)
        || source
            .prefix
            .iter()
            .filter(|_| !entry.absolute)
            .any(|(prefix, _)| prefix.holes().any(|hole| hole.tag))
}

/// The steps of building a template; its parameters are numbered from `param`.
fn push_ops(template: &Template, mut param: usize, ops: &mut Vec<Op>) {
    for part in template.parts() {
        match part {
            Part::Literal(text) => push_literal(text, ops),
            Part::Hole(hole) => {
                if hole.tag {
                    push_literal("{", ops);
                }
                ops.push(Op::Param(param));
                param += 1;
                if hole.tag {
                    push_literal("}", ops);
                }
            }
        }
    }
}

fn push_literal(text: &str, ops: &mut Vec<Op>) {
    match ops.last_mut() {
        Some(Op::Literal(before)) => *before = format!("{before}{text}").into(),
        _ => ops.push(Op::Literal(text.into())),
    }
}

/// A character that cannot separate segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeparatorError {
    /// The character
    pub separator: char,
}

impl fmt::Display for SeparatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` cannot be the separator: it must be one of ! # $ & ' ( ) + , - . / : ; < = > @ ^ _ ` |",
            self.separator
        )
    }
}

impl std::error::Error for SeparatorError {}
