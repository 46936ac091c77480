//! From a keyspace to its block.

use super::VERSION;
use super::block::Writer;
use crate::automaton::Dfa;
use crate::builder::Limit;
use crate::codec::Codec;
use crate::definition::Slot;
use crate::keyspace::Keyspace;
use crate::language::{Language, LanguageError};
use crate::path::{Path, Piece, Segment};
use crate::trie::Growing;
use crate::{Param, Type, lower};
use std::collections::HashMap;
use std::sync::Arc;

/// A keyspace for generated code.
#[derive(Debug, Clone)]
pub struct Export {
    /// The block, see [`Tables`](crate::Tables)
    pub block: Vec<u8>,
    /// For each definition, for each of its parameters, the number of its language; `None` where it
    /// holds a key
    pub languages: Vec<Vec<Option<u32>>>,
    /// The same for the parameters that were given besides
    pub besides: Vec<Option<u32>>,
    /// The same for each old name
    pub former: Vec<Vec<Option<u32>>>,
}

impl Keyspace {
    /// The keyspace as a block that generated code reads keys by, with the languages of some more
    /// parameters, such as those of events, and with the names that its keys had before: the first
    /// definitions, so many as are given, of some keyspaces.
    pub fn export(
        &self,
        besides: &[Param],
        former: &[(usize, &Keyspace)],
    ) -> Result<Export, LanguageError> {
        let mut exporter = Exporter::default();
        let languages = exporter.languages_of(self);
        let mut numbers = Vec::new();
        for param in besides {
            numbers.push(if matches!(param.ty, Type::Key(_)) {
                None
            } else {
                Some(exporter.besides(param, self.0.separator)?)
            });
        }
        let main = self.keyspace_of(&mut exporter);
        let bare = self.without_prefix().map(|bare| bare.keyspace_of(&mut exporter));
        let mut former_languages = Vec::new();
        let mut old_names = Writer::default();
        old_names.number(former.len());
        for (count, keyspace) in former {
            former_languages.extend(exporter.languages_of(keyspace).into_iter().take(*count));
            old_names.number(*count);
            old_names.bytes.extend(keyspace.keyspace_of(&mut exporter));
        }

        let mut out = Writer::default();
        out.byte(VERSION);
        out.byte(self.0.separator);
        exporter.write(&mut out);
        out.bytes.extend(main);
        out.byte(u8::from(bare.is_some()));
        out.bytes.extend(bare.unwrap_or_default());
        out.bytes.extend(old_names.bytes);
        Ok(Export { block: out.bytes, languages, besides: numbers, former: former_languages })
    }

    /// The keyspace without its prefix, if it has one.
    fn without_prefix(&self) -> Option<Keyspace> {
        let mut source = self.0.source.clone();
        source.prefix.take()?;
        source.limit = self.0.max_len.map(|max| Limit { max_len: max.bare, room: 0 });
        source.finish().ok()
    }

    fn keyspace_of(&self, exporter: &mut Exporter) -> Vec<u8> {
        let mut out = Writer::default();
        let paths = &self.0.paths;
        out.number(self.0.max_len.map_or(0, |max| max.whole.max(1)));
        out.number(paths.len());
        for (path, owner) in paths.iter().zip(&self.0.owners) {
            out.number(owner.id.0);
            exporter.path(path, &mut out);
        }
        exporter.nodes(&Growing::new(paths), &mut out);
        out.bytes
    }
}

/// Numbers languages and segments as they are met.
#[derive(Default)]
struct Exporter {
    languages: Vec<Arc<Language>>,
    /// By the parameter that was given besides
    others: HashMap<Param, u32>,
    segments: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
}

impl Exporter {
    /// The numbers of the languages of each definition's parameters.
    fn languages_of(&mut self, keyspace: &Keyspace) -> Vec<Vec<Option<u32>>> {
        let mut number = |slot: &Slot| match slot {
            Slot::Typed(language) => Some(self.language(language)),
            Slot::Key(_) => None,
        };
        let definitions = keyspace.0.definitions.iter();
        definitions.map(|it| it.slots.iter().map(&mut number).collect()).collect()
    }

    fn language(&mut self, language: &Arc<Language>) -> u32 {
        let same = |known: &Arc<Language>| Arc::ptr_eq(known, language) || **known == **language;
        let at = self.languages.iter().position(same).unwrap_or_else(|| {
            self.languages.push(language.clone());
            self.languages.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn besides(&mut self, param: &Param, separator: u8) -> Result<u32, LanguageError> {
        if let Some(&known) = self.others.get(param) {
            return Ok(known);
        }
        let number = self.language(&Arc::new(Language::of(param, separator)?));
        self.others.insert(param.clone(), number);
        Ok(number)
    }

    fn segment(&mut self, segment: &Segment) -> u32 {
        let mut out = Writer::default();
        out.number(segment.pieces.len());
        for piece in &segment.pieces {
            match piece {
                Piece::Literal(text) => {
                    out.byte(0);
                    out.text(text.as_bytes());
                }
                Piece::Typed(language) => {
                    out.byte(1);
                    out.number(self.language(language));
                }
            }
        }
        let fresh = u32::try_from(self.segments.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(out.bytes.clone()).or_insert(fresh);
        if number == fresh {
            self.segments.push(out.bytes);
        }
        number
    }

    fn path(&mut self, path: &Path, out: &mut Writer) {
        out.byte(u8::from(path.rest));
        out.number(path.segments.len());
        for segment in &path.segments {
            out.number(self.segment(segment));
        }
        let captures: Vec<[usize; 5]> = path.captures().collect();
        out.number(captures.len());
        for number in captures.into_iter().flatten() {
            out.number(number);
        }
    }

    fn nodes(&mut self, growing: &Growing, out: &mut Writer) {
        out.number(growing.nodes.len());
        for node in &growing.nodes {
            out.number(node.literals.len());
            for (text, child) in &node.literals {
                out.text(text);
                out.number(*child);
            }
            out.number(node.edges.len());
            for (matcher, child) in &node.edges {
                out.number(self.segment(growing.segment(*matcher)));
                out.number(*child);
            }
            out.number(node.rests.len());
            for (matcher, paths) in &node.rests {
                out.number(self.segment(growing.segment(*matcher)));
                out.number(paths.first().copied().unwrap_or_default());
            }
            out.number(node.ends.first().map_or(0, |path| path + 1));
        }
    }

    fn write(&self, out: &mut Writer) {
        let ranges = if self.languages.iter().any(|language| language.lower) {
            lower::ranges()
        } else {
            &[]
        };
        out.number(ranges.len());
        for &(first, last, step, offset) in ranges {
            out.number(first);
            out.number(last);
            out.number(step);
            out.number(((offset << 1) ^ (offset >> 31)).cast_unsigned());
        }
        out.number(self.languages.len());
        for language in &self.languages {
            write_language(language, out);
        }
        out.number(self.segments.len());
        for segment in &self.segments {
            out.bytes.extend(segment);
        }
    }
}

fn write_language(language: &Language, out: &mut Writer) {
    out.byte(language.hint());
    out.byte(match &language.codec {
        Codec::Plain => 0,
        Codec::Percent { .. } => 1,
        Codec::Mapped(_) => 2,
    });
    out.byte(u8::from(language.lower) | language.forms.bits());
    write_dfa(&language.spelling, out);
    if let Some(values) = &language.values {
        write_dfa(values, out);
    }
    if let Codec::Mapped(table) = &language.codec {
        let replaced =
            || (0u8..).zip(table.iter()).filter_map(|(at, word)| Some((at, word.as_ref()?)));
        out.number(replaced().count());
        for (byte, word) in replaced() {
            out.byte(byte);
            out.text(word.as_bytes());
        }
    }
}

fn write_dfa(dfa: &Dfa, out: &mut Writer) {
    out.number(dfa.class_count());
    out.number(dfa.states());
    out.number(dfa.number(dfa.start()));
    out.runs((0..=u8::MAX).map(|byte| u32::from(dfa.class(byte))));
    for (accepting, row) in dfa.table() {
        out.byte(u8::from(accepting));
        out.runs(row);
    }
}
