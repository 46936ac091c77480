//! Reads keys by a block.

use super::VERSION;
use super::block::Reader;
use crate::DefinitionId;
use crate::automaton::Dfa;
use crate::codec::Codec;
use crate::ends::Ends;
use crate::forms::Forms;
use crate::language::Language;
use crate::path::{Path, Piece, Segment};
use crate::trie::{Growing, GrowingNode, Trie};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Up to so many parameters a key is read without a vector for their places.
const INLINE: usize = 8;

/// A keyspace as generated code holds it: finds the definition of a key, checks and spells values.
///
/// ```
/// use keyward_pattern::{Keyspace, Tables, Template};
///
/// let mut builder = Keyspace::builder(':')?;
/// let meta = builder.define("meta", &Template::parse("file:{id:uint}:meta")?, |_| None);
/// let export = builder.finish().unwrap().export(&[], &[])?;
///
/// let tables = Tables::read(&export.block).unwrap();
/// let found = tables.find(b"file:7:meta").unwrap();
/// assert_eq!((found.definition(), found.spelling(0)), (meta, "7"));
/// let language = export.languages[meta.index()][0].unwrap();
/// assert!(tables.value(language, "007").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tables {
    separator: u8,
    languages: Vec<Arc<Language>>,
    main: Paths,
    /// The keys without the prefix, if there is one
    bare: Option<Paths>,
    /// The keys under old names, by database, each with the number of its first old name and of the first behind them
    former: Vec<(u32, u32, Paths)>,
}

/// The paths of a keyspace, and the way to them.
#[derive(Debug)]
struct Paths {
    max_len: Option<usize>,
    each: Vec<(DefinitionId, Path)>,
    trie: Trie,
}

/// A key that belongs to a definition, and where its parameters lie in it.
#[derive(Debug)]
pub struct Found<'k> {
    key: &'k str,
    definition: DefinitionId,
    inline: [Range<usize>; INLINE],
    spilled: Vec<Range<usize>>,
}

impl<'k> Found<'k> {
    /// The definition.
    pub fn definition(&self) -> DefinitionId {
        self.definition
    }

    /// The text of a parameter.
    ///
    /// # Panics
    /// If the definition has no such parameter.
    pub fn spelling(&self, param: usize) -> &'k str {
        let place =
            if self.spilled.is_empty() { &self.inline[param] } else { &self.spilled[param] };
        &self.key[place.clone()]
    }
}

impl Tables {
    /// Reads a block that [`Keyspace::export`](crate::Keyspace::export) wrote; `None` if it is none.
    pub fn read(block: &[u8]) -> Option<Tables> {
        let mut reader = Reader::new(block);
        if reader.byte()? != VERSION {
            return None;
        }
        let separator = reader.byte()?;
        // Rust has the mapping to lower case at hand.
        reader.list(|reader| {
            (0..4).try_for_each(|_| reader.number().map(|_| ()))?;
            Some(())
        })?;
        let languages = reader.list(|reader| read_language(reader, separator).map(Arc::new))?;
        let segments = reader.list(|reader| read_segment(reader, &languages))?;
        let main = read_paths(&mut reader, &segments, separator)?;
        let bare = match reader.byte()? {
            0 => None,
            _ => Some(read_paths(&mut reader, &segments, separator)?),
        };
        let mut former = Vec::new();
        let mut first = 0u32;
        for _ in 0..reader.number()? {
            let behind = first.checked_add(reader.number()?)?;
            former.push((first, behind, read_paths(&mut reader, &segments, separator)?));
            first = behind;
        }
        reader.is_at_end().then_some(Tables { separator, languages, main, bare, former })
    }

    /// The definition that a key belongs to, if a key inside of it is one of its own definition's.
    pub fn find<'k>(&self, key: &'k [u8]) -> Option<Found<'k>> {
        self.main.find(key, self.separator)
    }

    /// The same for a key without the prefix.
    pub fn find_bare<'k>(&self, key: &'k [u8]) -> Option<Found<'k>> {
        self.bare.as_ref().unwrap_or(&self.main).find(key, self.separator)
    }

    /// The old name that a key has, whose number is its definition.
    pub fn find_former<'k>(&self, key: &'k [u8]) -> Option<Found<'k>> {
        self.former.iter().find_map(|(first, behind, paths)| {
            let mut found = paths.find(key, self.separator)?;
            found.definition.0 = found.definition.0.checked_add(*first)?;
            (found.definition.0 < *behind).then_some(found)
        })
    }

    /// The longest that a key may be without its prefix.
    pub fn max_bare_len(&self) -> Option<usize> {
        self.bare.as_ref().unwrap_or(&self.main).max_len
    }

    /// The value that an application means by a text, normalised; `None` if the language has none.
    pub fn value<'t>(&self, language: u32, text: &'t str) -> Option<Cow<'t, str>> {
        self.languages.get(language as usize)?.value(text, self.separator)
    }

    /// Appends a value's spelling; the value is known to be one.
    pub fn spell(&self, language: u32, value: &str, out: &mut String) {
        match self.languages.get(language as usize) {
            Some(language) => language.codec.write(value, out),
            None => out.push_str(value),
        }
    }

    /// How long a value's spelling is.
    pub fn spelled_len(&self, language: u32, value: &str) -> usize {
        let language = self.languages.get(language as usize);
        language.map_or(value.len(), |language| language.codec.spelled_len(value))
    }

    /// The value that is spelled so in a key that was found.
    pub fn unspell<'t>(&self, language: u32, spelling: &'t str) -> Option<Cow<'t, str>> {
        let language = self.languages.get(language as usize)?;
        language.codec.read(spelling, language.values.as_ref())
    }
}

impl Paths {
    fn find<'k>(&self, key: &'k [u8], separator: u8) -> Option<Found<'k>> {
        if self.max_len.is_some_and(|max| key.len() > max) {
            return None;
        }
        let mut ends = Ends::new();
        let number = self.trie.find(key, &mut ends)?;
        let (definition, path) = &self.each[number as usize];
        let key = std::str::from_utf8(key).ok()?;
        let mut found = Found {
            key,
            definition: *definition,
            inline: [const { 0..0 }; INLINE],
            spilled: Vec::new(),
        };
        let params = path.capture_count();
        let places = if params <= INLINE {
            &mut found.inline[..params]
        } else {
            found.spilled.resize(params, 0..0);
            &mut found.spilled
        };
        path.capture(key.as_bytes(), separator, &ends, places)?;
        Some(found)
    }
}

fn read_language(reader: &mut Reader<'_>, separator: u8) -> Option<Language> {
    let hint = reader.byte()?;
    let codec = reader.byte()?;
    let forms = reader.byte()?;
    let spelling = read_dfa(reader)?;
    let values = if codec > 0 { Some(read_dfa(reader)?) } else { None };
    let codec = match codec {
        0 => Codec::Plain,
        1 => Codec::percent(separator),
        2 => {
            let mapping = reader.list(|reader| {
                let char = char::from(reader.byte()?);
                Some((char, std::str::from_utf8(reader.text()?).ok()?.to_owned()))
            })?;
            Codec::mapped(&mapping).ok()?
        }
        _ => return None,
    };
    Some(Language::from_parts(
        spelling,
        values,
        codec,
        forms & 1 == 1,
        Forms::from_bits(forms),
        hint,
    ))
}

fn read_dfa(reader: &mut Reader<'_>) -> Option<Dfa> {
    let class_count = reader.index(257)? as usize;
    let states = reader.number()? as usize;
    let start = reader.index(states)?;
    let mut classes = [0; 256];
    for (class, read) in classes.iter_mut().zip(reader.runs(256, class_count)?) {
        *class = u8::try_from(read).ok()?;
    }
    let (mut accepting, mut rows) = (Vec::new(), Vec::new());
    for _ in 0..states {
        accepting.push(reader.byte()? == 1);
        rows.push(reader.runs(class_count, states)?);
    }
    Dfa::from_table(classes, &rows, &accepting, start)
}

fn read_segment(reader: &mut Reader<'_>, languages: &[Arc<Language>]) -> Option<Segment> {
    let pieces = reader.list(|reader| match reader.byte()? {
        0 => Some(Piece::Literal(std::str::from_utf8(reader.text()?).ok()?.into())),
        1 => Some(Piece::Typed(languages[reader.index(languages.len())? as usize].clone())),
        _ => None,
    })?;
    Some(Segment { pieces })
}

fn read_paths(reader: &mut Reader<'_>, segments: &[Segment], separator: u8) -> Option<Paths> {
    let max_len = Some(reader.number()? as usize).filter(|&max| max > 0);
    let paths = reader.list(|reader| {
        let definition = DefinitionId(reader.number()?);
        let rest = reader.byte()? == 1;
        let segments =
            reader.list(|reader| Some(segments[reader.index(segments.len())? as usize].clone()))?;
        let captures = reader.list(|reader| {
            let mut capture = [0; 5];
            for number in &mut capture {
                *number = reader.number()? as usize;
            }
            Some(capture)
        })?;
        Some((definition, Path::from_parts(segments, rest, &captures)?))
    })?;
    let matchers = reader.nodes(segments, paths.len())?;
    let trie = Growing::from_nodes(matchers, segments.to_vec()).finish(separator);
    Some(Paths { max_len, each: paths, trie })
}

impl Reader<'_> {
    fn nodes(&mut self, segments: &[Segment], paths: usize) -> Option<Vec<GrowingNode>> {
        let nodes = self.list(|reader| {
            let literals = reader.list(|reader| Some((reader.text()?.into(), reader.number()?)))?;
            let edges =
                reader.list(|reader| Some((reader.index(segments.len())?, reader.number()?)))?;
            let rests = reader
                .list(|reader| Some((reader.index(segments.len())?, vec![reader.index(paths)?])))?;
            let end = reader.index(paths + 1)?;
            let ends = end.checked_sub(1).into_iter().collect();
            Some(GrowingNode { literals: literals.into_iter().collect(), edges, rests, ends })
        })?;
        let children = |node: &GrowingNode| {
            let literals = node.literals.values().copied();
            literals.chain(node.edges.iter().map(|&(_, child)| child)).collect::<Vec<u32>>()
        };
        // A step leads on, never back, so that every walk ends.
        let forward = (0u32..).zip(&nodes).all(|(number, node)| {
            let leaf = node.literals.is_empty() && node.edges.is_empty() && node.rests.is_empty();
            children(node).into_iter().all(|child| child > number && (child as usize) < nodes.len())
                && (number == 0 || !leaf || !node.ends.is_empty())
        });
        (forward && !nodes.is_empty()).then_some(nodes)
    }
}
