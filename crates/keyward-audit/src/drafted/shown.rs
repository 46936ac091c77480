//! What may be shown of a draft.

use super::REST;
use crate::document::is_sound;
use crate::mask::Masked;
use crate::mask::shared::{Sharing, hidden};
use crate::segment::SEPARATORS;
use keyward_infer::draft::{Definition, Draft, Foreign, ParamType, PatternPiece};
use keyward_infer::{Piece, snippet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What stands for words that must not be shown.
const HIDDEN: &str = "<text>";

/// What is shown of a definition of a draft.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shown {
    /// Its whole pattern, hidden words as `<text>`
    pattern: String,
    /// The same as it is laid over masked keys: segments with kinds in angle brackets
    segments: Vec<String>,
    /// As it stands in a schema
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snippet: Option<Snippet>,
}

/// A definition as it stands in a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Snippet {
    /// What else to know
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    notes: BTreeSet<String>,
    /// `[keys.user_cart]`
    table: String,
    lines: Vec<String>,
}

impl Shown {
    /// Of keys that no definition has.
    pub(super) fn rest() -> Self {
        Shown { pattern: REST.to_owned(), segments: vec!["<rest>".to_owned()], snippet: None }
    }

    fn foreign(foreign: &Foreign) -> Self {
        // The table of well-known software has no `"` and no backslash in its texts but where TOML has them too.
        let lines = [("doc", &foreign.about), ("glob", &foreign.glob)];
        let snippet = Snippet {
            notes: BTreeSet::new(),
            table: format!("[foreign.{}]", foreign.id),
            lines: lines.map(|(name, text)| format!("{name} = {text:?}")).to_vec(),
        };
        Shown {
            pattern: foreign.glob.clone(),
            segments: vec!["<rest>".to_owned()],
            snippet: Some(snippet),
        }
    }

    /// What tells it from others: the pattern, and the types of parameters that do not stand in it.
    pub(super) fn identity(&self) -> String {
        let lines = self.snippet.iter().flat_map(|it| &it.lines);
        let params = lines.filter(|line| line.starts_with("params = ")).map(String::as_str);
        std::iter::once(self.pattern.as_str()).chain(params).collect::<Vec<_>>().join("\n")
    }

    /// Of two with the same identity, what both say.
    pub(super) fn merge(&mut self, other: Shown) {
        self.snippet = match (self.snippet.take(), other.snippet) {
            (Some(ours), Some(theirs)) => Some(ours.and(theirs)),
            _ => None,
        };
        self.segments = std::mem::take(&mut self.segments).min(other.segments);
    }

    pub(crate) fn pattern(&self) -> Masked {
        Masked::drafted(&self.pattern)
    }

    pub(crate) fn segments(&self) -> &[String] {
        &self.segments
    }

    /// The definition, to be copied into a schema.
    pub(crate) fn toml(&self) -> Option<String> {
        let Snippet { notes, table, lines } = self.snippet.as_ref()?;
        let notes = notes.iter().map(|note| format!("# {note}\n"));
        let lines = lines.iter().map(|line| format!("{line}\n"));
        Some(notes.chain([format!("{table}\n")]).chain(lines).collect())
    }
}

impl Snippet {
    fn new(definition: &Definition, separator: char) -> Option<Self> {
        let text = snippet(definition);
        let mut lines = text.lines().map(str::to_owned);
        let table = lines.next()?;
        let mut notes = BTreeSet::new();
        let has_capital = |piece: &PatternPiece| matches!(piece, PatternPiece::Text(text) if text.chars().any(char::is_uppercase));
        if definition.pieces.iter().any(has_capital) {
            notes.insert("[keyspace] needs `case = \"any\"`.".to_owned());
        }
        if separator != ':' {
            notes.insert(format!("[keyspace] needs `separator = \"{separator}\"`."));
        }
        Some(Snippet { notes, table, lines: lines.collect() })
    }

    /// What both say: an id, and the lines that both have.
    fn and(self, other: Snippet) -> Snippet {
        let lines = self.lines.into_iter().filter(|line| other.lines.contains(line));
        Snippet {
            notes: self.notes.into_iter().chain(other.notes).collect(),
            table: self.table.min(other.table),
            lines: lines.collect(),
        }
    }
}

/// What is shown of all definitions of a draft, and of other software after them. `keys` says how many keys each has.
pub(super) fn all(draft: &Draft, keys: impl Fn(usize) -> u64, reveal: bool) -> Vec<Shown> {
    let whole: Vec<Definition> = draft.definitions.iter().map(|it| whole(draft, it)).collect();
    let segments: Vec<Vec<Segment>> = whole.iter().map(Segment::all).collect();
    let mut concealed: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); whole.len()];
    if !reveal {
        let places: Vec<usize> = (0..whole.len()).filter(|at| keys(*at) > 0).collect();
        conceal(&segments, &keys, 0, &places, &mut concealed);
    }
    let own =
        whole.iter().zip(&segments).zip(&concealed).map(|((definition, segments), hidden)| {
            if hidden.is_empty() {
                Shown {
                    pattern: pattern(definition),
                    segments: segments.iter().map(Segment::look).collect(),
                    snippet: Snippet::new(definition, draft.separator),
                }
            } else {
                masked(definition, segments, hidden, draft.separator)
            }
        });
    own.chain(draft.foreign.iter().map(Shown::foreign)).collect()
}

/// A definition with the prefix that a draft takes off its patterns.
fn whole(draft: &Draft, definition: &Definition) -> Definition {
    let mut definition = definition.clone();
    match definition.pieces.first_mut() {
        _ if draft.prefix.is_empty() => {}
        Some(PatternPiece::Text(text)) => text.insert_str(0, &draft.prefix),
        _ => definition.pieces.insert(0, PatternPiece::Text(draft.prefix.clone())),
    }
    definition
}

/// The pattern as people read it: `user:{user_id:uint}:cart`.
fn pattern(definition: &Definition) -> String {
    definition.pattern(|param| param.ty != ParamType::Named("text".to_owned()))
}

/// What stands between two separators in a pattern.
#[derive(Debug, Default)]
struct Segment {
    pieces: Vec<Piece>,
    /// The separator behind it
    end: Option<char>,
}

impl Segment {
    fn all(definition: &Definition) -> Vec<Segment> {
        let (mut all, mut last) = (Vec::new(), Segment::default());
        for piece in &definition.pieces {
            match piece {
                PatternPiece::Param(number) => {
                    last.pieces.push(Piece::Param(definition.params[*number].ty.clone()));
                }
                PatternPiece::Text(text) => {
                    let is_end = |it: char| SEPARATORS.map(char::from).contains(&it);
                    for part in text.split_inclusive(is_end) {
                        let inside = part.trim_end_matches(is_end);
                        if !inside.is_empty() {
                            last.pieces.push(Piece::Text(inside.to_owned()));
                        }
                        last.end = part[inside.len()..].chars().next();
                        if last.end.is_some() {
                            all.push(std::mem::take(&mut last));
                        }
                    }
                }
            }
        }
        if !last.pieces.is_empty() {
            all.push(last);
        }
        all
    }

    /// What it looks like: `cart_<uint>:`.
    fn look(&self) -> String {
        let mut look = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => look.push_str(text),
                Piece::Param(ParamType::Named(name)) => {
                    look.extend(["<", name.as_str(), ">"]);
                }
                Piece::Param(ParamType::Rest) => look.push_str("<rest>"),
                Piece::Param(_) => look.push_str(HIDDEN),
            }
        }
        look.extend(self.end);
        look
    }

    fn has_word(&self) -> bool {
        let is_word = |piece: &Piece| matches!(piece, Piece::Text(text) if text.chars().any(char::is_alphanumeric));
        self.pieces.iter().any(is_word)
    }

    /// The same without its words.
    fn hidden(&self) -> Segment {
        let text = ParamType::Named("text".to_owned());
        Segment { pieces: vec![Piece::Param(text)], end: self.end }
    }
}

/// Notes which segments of these definitions must be hidden, of those that are alike before a place.
fn conceal(
    segments: &[Vec<Segment>],
    keys: &dyn Fn(usize) -> u64,
    at: usize,
    members: &[usize],
    concealed: &mut [BTreeSet<usize>],
) {
    let looks: Vec<(usize, Vec<String>)> = members
        .iter()
        .map(|member| (*member, segments[*member].iter().skip(at).map(Segment::look).collect()))
        .collect();
    let mut words: BTreeMap<&str, Sharing<'_>> = BTreeMap::new();
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (member, looks) in &looks {
        if let Some((look, below)) = looks.split_first()
            && segments[*member][at].has_word()
        {
            let sharing = words.entry(look).or_default();
            sharing.keys += keys(*member);
            sharing.below.insert(below.iter().map(String::as_str).collect());
        }
    }
    let hidden = hidden(&words);
    for (member, looks) in &looks {
        let Some(look) = looks.first() else { continue };
        let is_hidden = hidden.contains(look.as_str());
        if is_hidden {
            concealed[*member].insert(at);
        }
        let shown = if is_hidden { segments[*member][at].hidden().look() } else { look.clone() };
        places.entry(shown).or_default().push(*member);
    }
    for members in places.into_values() {
        conceal(segments, keys, at + 1, &members, concealed);
    }
}

/// A definition some words of which must not be shown: parameters stand for them.
fn masked(
    definition: &Definition,
    segments: &[Segment],
    concealed: &BTreeSet<usize>,
    separator: char,
) -> Shown {
    let (mut pieces, mut looks) = (Vec::new(), Vec::new());
    let (mut params, mut stand_ins) = (0, Vec::new());
    for (at, segment) in segments.iter().enumerate() {
        let hidden = concealed.contains(&at).then(|| segment.hidden());
        if hidden.is_some() {
            stand_ins.push(params);
        }
        let segment = hidden.as_ref().unwrap_or(segment);
        looks.push(segment.look());
        params += segment.pieces.iter().filter(|it| matches!(it, Piece::Param(_))).count();
        pieces.extend(segment.pieces.iter().cloned());
        pieces.extend(segment.end.map(|end| Piece::Text(end.to_string())));
    }
    let has_word = (segments.iter().enumerate())
        .any(|(at, segment)| !concealed.contains(&at) && segment.has_word());
    let stand_in = keyward_infer::definition(pieces, definition.key_type.clone(), definition.ttl);
    let mut text = pattern(&stand_in);
    for param in stand_ins.into_iter().filter_map(|at| stand_in.params.get(at)) {
        text = text.replace(&format!("{{{}}}", param.name), HIDDEN);
    }
    let sound = has_word && is_sound(&snippet(&stand_in), separator);
    let mut snippet = Snippet::new(&stand_in, separator).filter(|_| sound);
    if let Some(snippet) = &mut snippet {
        snippet.notes.insert("A parameter stands for words that few keys share.".to_owned());
    }
    Shown { pattern: text, segments: looks, snippet }
}
