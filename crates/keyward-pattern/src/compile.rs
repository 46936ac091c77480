//! From templates and declarations to a keyspace: references followed, languages built, paths laid out.

use crate::DefinitionId;
use crate::builder::{Builder, Entry};
use crate::define_error::{
    DefineError, DefineErrorKind, MAX_ALL_PATHS, MAX_HOLES, MAX_PATHS, MAX_SEGMENTS,
};
use crate::definition::{Compiled, KeySlot, Op, Slot};
use crate::keyspace::{BareKeys, Inner, Keyspace, MaxLen, Owner};
use crate::language::{Language, LanguageError};
use crate::path::{Flat, FlatCapture, Path, Piece, Segment};
use crate::trie::Growing;
use crate::{Param, Part, Template};
use std::collections::HashMap;
use std::sync::Arc;

/// Definitions on their way to a keyspace.
pub(crate) struct Compiler {
    source: Builder,
    names: HashMap<String, DefinitionId>,
    languages: HashMap<(Param, bool), Result<Arc<Language>, LanguageError>>,
    /// Each definition's paths without the prefix, once they are known
    expanded: Vec<Option<Vec<Flat>>>,
    errors: Vec<DefineError>,
}

impl Compiler {
    pub(crate) fn new(source: Builder) -> Self {
        let expanded = vec![None; source.entries.len()];
        Compiler {
            source,
            names: HashMap::new(),
            languages: HashMap::new(),
            expanded,
            errors: Vec::new(),
        }
    }

    pub(crate) fn compile(mut self) -> Result<Keyspace, Vec<DefineError>> {
        for (number, entry) in (0u32..).zip(&self.source.entries) {
            let id = DefinitionId(number);
            if self.names.insert(entry.name.clone(), id).is_some() {
                self.errors.push(DefineError::new(Some(id), None, DefineErrorKind::NameTwice));
            }
        }
        let prefix = self.prefix();
        let mut forms = 0;
        for number in 0..self.source.entries.len() {
            forms += self.expand(number, &mut Vec::new()).len();
            if forms > MAX_ALL_PATHS {
                let id = DefinitionId(u32::try_from(number).unwrap_or(u32::MAX));
                self.errors.push(DefineError::new(
                    Some(id),
                    None,
                    DefineErrorKind::TooManyPathsInAll,
                ));
                return Err(self.errors);
            }
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
        let longest_prefix = prefix.max_len();
        let max_len = self.source.limit.map(|limit| {
            let room = limit.room.max(longest_prefix.unwrap_or_else(|| prefix.min_len()));
            MaxLen { whole: limit.max_len, bare: limit.max_len.saturating_sub(room) }
        });
        for definition in &mut definitions {
            let longest = definition.max_bare_len;
            definition.outgrows = max_len
                .filter(|max| !definition.absolute && longest.is_none_or(|len| len > max.bare))
                .map(|max| max.bare);
        }
        let mut growing = Growing::new(&paths);
        for definition in &mut definitions {
            definition.shadowed = definition
                .paths
                .clone()
                .any(|number| growing.is_shadowed(&paths[number as usize], number));
        }
        let bare = self.mark_shadowed_keys(&mut definitions);
        let owners = owners
            .into_iter()
            .map(|id: DefinitionId| {
                let holds = |slot: &Slot| matches!(slot, Slot::Key(slot) if slot.shadowed);
                let holds_shadowed = definitions[id.index()].slots.iter().any(holds);
                Owner { id, holds_shadowed }
            })
            .collect();
        let trie = growing.finish(self.source.separator);
        Ok(Keyspace(Arc::new(Inner {
            separator: self.source.separator,
            definitions,
            names: self.names,
            paths,
            owners,
            trie,
            max_len,
            longest_prefix,
            bare,
            source: self.source,
        })))
    }

    /// Finds parameters that hold keys of a definition some of whose keys another one takes, and
    /// what tells them apart.
    fn mark_shadowed_keys(&self, definitions: &mut [Compiled]) -> Option<BareKeys> {
        let shadowed: Vec<bool> =
            definitions.iter().map(|definition| definition.shadowed).collect();
        let mut any = false;
        for slot in definitions.iter_mut().flat_map(|definition| &mut definition.slots) {
            if let Slot::Key(slot) = slot {
                slot.shadowed = slot.targets.iter().any(|target| shadowed[target.index()]);
                any |= slot.shadowed;
            }
        }
        if !any {
            return None;
        }
        let (mut paths, mut owners) = (Vec::new(), Vec::new());
        for (number, flats) in (0u32..).zip(&self.expanded) {
            if self.source.entries[number as usize].absolute {
                continue;
            }
            for flat in flats.iter().flatten() {
                paths.push(flat.cut(self.source.separator));
                owners.push(DefinitionId(number));
            }
        }
        Some(BareKeys { trie: Growing::new(&paths).finish(self.source.separator), owners })
    }

    /// The prefix's pieces; a `key` or a rest cannot stand there.
    pub(crate) fn prefix(&mut self) -> Flat {
        let Some((template, params)) = self.source.prefix.clone() else { return Flat::default() };
        let mut flats = self.flatten(None, &template, &params, &mut Vec::new());
        let flat = flats.pop().unwrap_or_default();
        if flat.spans(self.source.separator)
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
                    let mut flat = flat.clone();
                    let start = flat.pieces.len();
                    flat.pieces.extend(way.pieces.iter().cloned());
                    flat.captures
                        .push(FlatCapture { param: next_param, pieces: start..flat.pieces.len() });
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
        flats
    }

    /// What a parameter may be: one language, or each path of each definition it refers to.
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
                    vec![Flat { pieces: vec![Piece::Typed(language)], captures: Vec::new() }]
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
        let narrowed = !param.encode.is_empty() || !param.without.is_empty();
        if rest || param.normalize.is_some() || narrowed {
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
        let built = Language::shared(param, rest, self.source.separator);
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
        let prefix_literal_len = ops.iter().map(Op::literal_len).sum();
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
            let holes = |segment: &Segment| {
                segment.pieces.iter().filter(|piece| matches!(piece, Piece::Typed(_))).count()
            };
            if path.segments.iter().any(|segment| holes(segment) > MAX_HOLES) {
                self.errors.push(DefineError::new(Some(id), None, DefineErrorKind::TooManyHoles));
            }
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
                    Some(targets) => Slot::Key(self.key_slot(targets)),
                    None => match self.languages.get(&(param.clone(), rest)) {
                        Some(Ok(language)) => Slot::Typed(language.clone()),
                        // Its error is reported already.
                        _ => Slot::Key(self.key_slot(&[])),
                    },
                }
            });
        let slots = slots.collect();
        let range = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        Compiled {
            literal_len: ops.iter().map(Op::literal_len).sum(),
            tagged: flats.iter().any(Flat::has_brace),
            name: entry.name,
            ops,
            params,
            slots,
            paths: range(first)..range(paths.len()),
            min_len: flats.iter().map(Flat::min_len).min().unwrap_or(0),
            max_len: longest(&flats),
            prefix_params,
            prefix_literal_len,
            absolute: entry.absolute,
            max_bare_len: longest(self.expanded[id.index()].iter().flatten()),
            outgrows: None,
            shadowed: false,
        }
    }

    fn rests(entry: &Entry, prefix_params: usize) -> Vec<bool> {
        let mut rests = vec![false; prefix_params];
        rests.extend(entry.template.holes().map(|hole| hole.rest));
        rests
    }

    fn key_slot(&self, names: &[String]) -> KeySlot {
        let targets: Vec<DefinitionId> =
            names.iter().filter_map(|name| self.names.get(name).copied()).collect();
        let flats = targets.iter().filter_map(|target| self.expanded[target.index()].as_ref());
        let paths = flats.flatten().map(|flat| flat.cut(self.source.separator)).collect();
        KeySlot { paths, targets, shadowed: false }
    }
}

/// The length of the longest key of any path; `None` if there is no bound.
fn longest<'f>(flats: impl IntoIterator<Item = &'f Flat>) -> Option<usize> {
    let lengths = flats.into_iter().map(Flat::max_len);
    lengths.max_by_key(|len| len.unwrap_or(usize::MAX)).flatten()
}

/// Adds a literal to every path.
fn push_everywhere(flats: &mut [Flat], text: &str) {
    for flat in flats {
        flat.pieces.push(Piece::Literal(text.into()));
    }
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
