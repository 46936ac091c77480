//! One way through a pattern: its segments, and where each parameter lies in them.
//!
//! A pattern has one path, or several where a parameter of type `key` stands for several
//! definitions. In a path nothing is left to resolve: every piece is a literal or a language.

use crate::automaton::{Dfa, Nfa, TooLarge};
use crate::ends::{self, Ends};
use crate::language::Language;
use std::ops::Range;
use std::sync::Arc;

/// A segment with several parameters can need many states; past this, other ways are taken.
const MAX_SEGMENT_STATES: usize = 8192;

/// A piece of a path: fixed bytes, or any word of a language.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Literal(Box<str>),
    Typed(Arc<Language>),
}

/// The pieces of a path before they are cut into segments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flat {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) captures: Vec<FlatCapture>,
}

/// Which pieces make up a parameter's value.
#[derive(Debug, Clone)]
pub(crate) struct FlatCapture {
    pub(crate) param: usize,
    pub(crate) pieces: Range<usize>,
}

/// A path cut at its separators, up to the first piece whose words may contain them: from the segment of that
/// one on, the rest of the key is one segment.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    pub(crate) segments: Vec<Segment>,
    /// Whether the last segment is the rest of the key
    pub(crate) rest: bool,
    captures: Vec<Capture>,
    /// The segment of each parameter, if every parameter is a whole one: where segments end is
    /// then where values do
    wholes: Option<Box<[u8]>>,
}

/// What stands between two separators.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segment {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
struct Capture {
    param: usize,
    first: PieceIndex,
    last: PieceIndex,
}

#[derive(Debug, Clone, Copy)]
struct PieceIndex {
    segment: usize,
    piece: usize,
}

impl Flat {
    /// This path, then that one; the parameters of the second are numbered from `shift`.
    pub(crate) fn then(&self, other: &Flat, shift: usize) -> Flat {
        let mut joined = self.clone();
        let offset = self.pieces.len();
        joined.pieces.extend(other.pieces.iter().cloned());
        joined.captures.extend(other.captures.iter().map(|capture| FlatCapture {
            param: capture.param + shift,
            pieces: capture.pieces.start + offset..capture.pieces.end + offset,
        }));
        joined
    }

    /// Whether its literals open a hash tag.
    pub(crate) fn has_brace(&self) -> bool {
        let brace = |piece: &Piece| matches!(piece, Piece::Literal(text) if text.contains('{'));
        self.pieces.iter().any(brace)
    }

    pub(crate) fn min_len(&self) -> usize {
        let len = |piece: &Piece| match piece {
            Piece::Literal(text) => text.len(),
            Piece::Typed(language) => language.min_len,
        };
        self.pieces.iter().map(len).sum()
    }

    pub(crate) fn max_len(&self) -> Option<usize> {
        let len = |piece: &Piece| match piece {
            Piece::Literal(text) => Some(text.len()),
            Piece::Typed(language) => language.max_len,
        };
        self.pieces.iter().map(len).sum()
    }

    /// The language of all pieces in a row.
    #[cfg(feature = "prove")]
    pub(crate) fn nfa(&self) -> Result<Nfa, TooLarge> {
        Segment { pieces: self.pieces.clone() }.nfa()
    }

    /// Whether some word of some piece may contain the separator.
    pub(crate) fn spans(&self, separator: u8) -> bool {
        self.pieces.iter().any(|piece| piece.spans(separator))
    }

    /// Cuts the path at its separators.
    pub(crate) fn cut(&self, separator: u8) -> Path {
        let mut segments = vec![Segment::default()];
        let mut places = Vec::with_capacity(self.pieces.len());
        let mut rest = false;
        for piece in &self.pieces {
            rest |= piece.spans(separator);
            let text = match piece {
                Piece::Literal(text) if !rest => text,
                _ => {
                    let place = push(&mut segments, piece.clone());
                    places.push((place, place));
                    continue;
                }
            };
            let mut ends: Option<(PieceIndex, PieceIndex)> = None;
            for (number, part) in text.split(separator as char).enumerate() {
                if number > 0 {
                    segments.push(Segment::default());
                }
                let place = push(&mut segments, Piece::Literal(part.into()));
                ends = Some((ends.map_or(place, |(first, _)| first), place));
            }
            places.extend(ends);
        }
        let captures = self
            .captures
            .iter()
            .map(|capture| Capture {
                param: capture.param,
                first: places[capture.pieces.start].0,
                last: places[capture.pieces.end - 1].1,
            })
            .collect();
        Path::new(segments, rest, captures)
    }
}

impl Piece {
    fn spans(&self, separator: u8) -> bool {
        matches!(self, Piece::Typed(language) if language.spelling.uses(separator))
    }
}

fn push(segments: &mut [Segment], piece: Piece) -> PieceIndex {
    let segment = segments.len() - 1;
    let pieces = &mut segments[segment].pieces;
    pieces.push(piece);
    PieceIndex { segment, piece: pieces.len() - 1 }
}

impl Path {
    fn new(segments: Vec<Segment>, rest: bool, captures: Vec<Capture>) -> Self {
        let is_whole = |capture: &Capture| {
            let (first, last) = (capture.first, capture.last);
            let mut pieces = segments[first.segment].pieces.iter().enumerate();
            // What stands before a separator and behind it is cut to nothing.
            let is_nothing =
                |piece: &Piece| matches!(piece, Piece::Literal(text) if text.is_empty());
            first.segment == last.segment
                && first.piece == last.piece
                && pieces.all(|(number, piece)| number == first.piece || is_nothing(piece))
        };
        let simple = segments.len() <= ends::MOST
            && captures.iter().enumerate().all(|(at, it)| it.param == at && is_whole(it));
        let whole = |capture: &Capture| u8::try_from(capture.first.segment).unwrap_or(u8::MAX);
        let wholes = simple.then(|| captures.iter().map(whole).collect());
        Path { segments, rest, captures, wholes }
    }

    /// The same as [`Path::capture`] into a vector that is used again.
    #[inline]
    pub(crate) fn locate(
        &self,
        key: &[u8],
        separator: u8,
        ends: &Ends,
        places: &mut Vec<Range<usize>>,
    ) -> Option<()> {
        places.clear();
        if let Some(wholes) = &self.wholes {
            self.ends_with(key, ends)?;
            // One by one: most keys have one parameter, and `extend` is a call of fifty instructions.
            for segment in wholes {
                places.push(ends.segment((*segment).into()));
            }
            return Some(());
        }
        places.resize(self.captures.len(), 0..0);
        self.capture(key, separator, ends, places)
    }

    /// Where each parameter's spelling lies in a key that was found to belong to this path, with
    /// the ends that were noted on the way. `None` if it does not after all.
    pub(crate) fn capture(
        &self,
        key: &[u8],
        separator: u8,
        ends: &Ends,
        out: &mut [Range<usize>],
    ) -> Option<()> {
        if let Some(wholes) = &self.wholes {
            self.ends_with(key, ends)?;
            for (place, segment) in out.iter_mut().zip(wholes) {
                *place = ends.segment((*segment).into());
            }
            return Some(());
        }
        let mut start = 0;
        let mut captures = self.captures.iter();
        let mut capture = captures.next();
        let last = self.segments.len() - 1;
        let mut open = 0;
        for (number, segment) in self.segments.iter().enumerate() {
            let end = match ends.end(number) {
                _ if number == last => key.len(),
                Some(end) => end,
                None => start + find(separator, key.get(start..)?),
            };
            // Captures are in order and do not overlap: at each segment only the next one counts.
            while let Some(current) = capture {
                if current.first.segment == number {
                    open = start + segment.start_of(current.first.piece, &key[start..end])?;
                }
                if current.last.segment != number {
                    break;
                }
                let close = start + segment.end_of(current.last.piece, &key[start..end])?;
                out[current.param] = open..close;
                capture = captures.next();
                if capture.is_none_or(|next| next.first.segment != number) {
                    break;
                }
            }
            start = end + 1;
        }
        (start == key.len() + 1).then_some(())
    }

    /// Whether the last segment was seen to end where the key does.
    #[inline]
    fn ends_with(&self, key: &[u8], ends: &Ends) -> Option<()> {
        (ends.end(self.segments.len() - 1) == Some(key.len())).then_some(())
    }

    /// How many parameters it has.
    pub(crate) fn capture_count(&self) -> usize {
        self.captures.len()
    }

    /// Parameter, first segment and piece, last segment and piece of each capture, in order.
    pub(crate) fn captures(&self) -> impl Iterator<Item = [usize; 5]> {
        self.captures.iter().map(|Capture { param, first, last }| {
            [*param, first.segment, first.piece, last.segment, last.piece]
        })
    }

    /// A path from its parts; `None` if they do not fit together.
    pub(crate) fn from_parts(
        segments: Vec<Segment>,
        rest: bool,
        captures: &[[usize; 5]],
    ) -> Option<Path> {
        let exists = |place: &PieceIndex| {
            segments.get(place.segment).is_some_and(|segment| place.piece < segment.pieces.len())
        };
        let mut read = Vec::with_capacity(captures.len());
        for &[param, first_segment, first_piece, last_segment, last_piece] in captures {
            let first = PieceIndex { segment: first_segment, piece: first_piece };
            let last = PieceIndex { segment: last_segment, piece: last_piece };
            if param >= captures.len() || !exists(&first) || !exists(&last) {
                return None;
            }
            read.push(Capture { param, first, last });
        }
        (!segments.is_empty()).then(|| Path::new(segments, rest, read))
    }

    /// The first parameter that has something of a segment.
    #[cfg(feature = "prove")]
    pub(crate) fn param_at(&self, segment: usize) -> Option<usize> {
        let mut captures = self.captures.iter();
        let found = captures.find(|c| (c.first.segment..=c.last.segment).contains(&segment))?;
        Some(found.param)
    }

    /// Where the key's segments end, if it belongs to this path.
    #[cfg(feature = "prove")]
    pub(crate) fn ends(&self, key: &[u8], separator: u8) -> Option<Ends> {
        let mut ends = Ends::new();
        let last = self.segments.len() - 1;
        let mut start = 0;
        for number in 0..last {
            let end = start + find(separator, key.get(start..)?);
            ends.note(number, end);
            start = end + 1;
        }
        ends.note(last, key.len());
        self.matches(key, separator).then_some(ends)
    }

    /// Whether the whole key belongs to this path.
    pub(crate) fn matches(&self, key: &[u8], separator: u8) -> bool {
        let mut rest = Some(key);
        let last = self.segments.len() - 1;
        for (number, segment) in self.segments.iter().enumerate() {
            let Some(bytes) = rest else { return false };
            if number == last && self.rest {
                return segment.matches(bytes);
            }
            let end = find(separator, bytes);
            if !segment.matches(&bytes[..end]) {
                return false;
            }
            rest = bytes.get(end + 1..);
        }
        rest.is_none()
    }
}

impl Segment {
    /// The segment as one fixed text, if it is one.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut whole = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => whole.push_str(text),
                Piece::Typed(_) => return None,
            }
        }
        Some(whole)
    }

    /// The segment's language, whole.
    pub(crate) fn nfa(&self) -> Result<Nfa, TooLarge> {
        Nfa::concat(self.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => Nfa::literal(text.as_bytes()),
            Piece::Typed(language) => Nfa::from_dfa(&language.spelling),
        }))
    }

    /// The same, deterministic.
    pub(crate) fn dfa(&self) -> Result<Dfa, TooLarge> {
        if let [Piece::Typed(language)] = self.pieces.as_slice() {
            return Ok(language.spelling.clone());
        }
        self.nfa()?.determinize(MAX_SEGMENT_STATES)
    }

    /// Whether the pieces can be laid over the bytes.
    pub(crate) fn matches(&self, bytes: &[u8]) -> bool {
        match self.single() {
            Some((before, language, after)) => bytes
                .strip_prefix(before.as_bytes())
                .and_then(|rest| rest.strip_suffix(after.as_bytes()))
                .is_some_and(|inside| language.matches(inside)),
            None => self.boundaries(bytes).is_some(),
        }
    }

    /// The one language in the segment, and what stands around it; `None` if there are several or none.
    pub(crate) fn single(&self) -> Option<(String, &Arc<Language>, String)> {
        let mut found = None;
        let (mut before, mut after) = (String::new(), String::new());
        for piece in &self.pieces {
            match (piece, &found) {
                (Piece::Literal(text), None) => before.push_str(text),
                (Piece::Literal(text), Some(_)) => after.push_str(text),
                (Piece::Typed(language), None) => found = Some(language),
                (Piece::Typed(_), Some(_)) => return None,
            }
        }
        found.map(|language| (before, language, after))
    }

    fn start_of(&self, piece: usize, bytes: &[u8]) -> Option<usize> {
        let before: usize = literal_len(&self.pieces[..piece]).unwrap_or(usize::MAX);
        if before != usize::MAX {
            return Some(before);
        }
        if let Some(after) = literal_len(&self.pieces[piece..]) {
            return bytes.len().checked_sub(after);
        }
        Some(self.boundaries(bytes)?[piece])
    }

    fn end_of(&self, piece: usize, bytes: &[u8]) -> Option<usize> {
        self.start_of(piece + 1, bytes)
    }

    /// Where each piece starts, and the end. Follows all readings at once; an unambiguous pattern
    /// has one that goes through.
    fn boundaries(&self, bytes: &[u8]) -> Option<Vec<usize>> {
        const NEVER: u32 = u32::MAX;
        // For each piece, for each place, where the piece began that may end there.
        let mut begun: Vec<Vec<u32>> = Vec::with_capacity(self.pieces.len());
        let mut ends = vec![NEVER; bytes.len() + 1];
        ends[0] = 0;
        for piece in &self.pieces {
            let mut next = vec![NEVER; bytes.len() + 1];
            match piece {
                Piece::Literal(text) => {
                    for at in (0..=bytes.len()).filter(|&at| ends[at] != NEVER) {
                        if bytes[at..].starts_with(text.as_bytes()) {
                            next[at + text.len()] = u32::try_from(at).ok()?;
                        }
                    }
                }
                Piece::Typed(language) => {
                    let dfa = &language.spelling;
                    let mut active: Vec<(u32, u32)> = Vec::new();
                    for at in 0..=bytes.len() {
                        if ends[at] != NEVER {
                            active.push((dfa.start(), u32::try_from(at).ok()?));
                        }
                        if let Some(&(_, from)) =
                            active.iter().find(|&&(state, _)| dfa.accepting(state))
                        {
                            next[at] = from;
                        }
                        let Some(&byte) = bytes.get(at) else { break };
                        for (state, _) in &mut active {
                            *state = dfa.next(*state, byte);
                        }
                        active.retain(|&(state, _)| !Dfa::is_dead(state));
                        active.sort_unstable();
                        active.dedup_by_key(|&mut (state, _)| state);
                    }
                }
            }
            begun.push(next.clone());
            ends = next;
        }
        let mut boundaries = vec![bytes.len()];
        for starts in begun.iter().rev() {
            let start = starts[*boundaries.last()?];
            if start == NEVER {
                return None;
            }
            boundaries.push(start as usize);
        }
        boundaries.reverse();
        (boundaries[0] == 0).then_some(boundaries)
    }
}

/// The length of pieces that are all literals.
fn literal_len(pieces: &[Piece]) -> Option<usize> {
    let mut len = 0;
    for piece in pieces {
        match piece {
            Piece::Literal(text) => len += text.len(),
            Piece::Typed(_) => return None,
        }
    }
    Some(len)
}

/// Where the byte first stands, or the length. Keys are short: eight bytes at a time beat a call
/// into a vectorised search.
#[inline]
pub(crate) fn find(byte: u8, bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        let x = u64::from_le_bytes(*word) ^ (ONES * u64::from(byte));
        let found = x.wrapping_sub(ONES) & !x & HIGH;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at + tail.iter().position(|&other| other == byte).unwrap_or(tail.len())
}

/// What every text of these segments begins with.
pub(crate) fn leading(segments: &[Segment], separator: u8) -> Vec<u8> {
    let mut text = Vec::new();
    for (index, segment) in segments.iter().enumerate() {
        if index > 0 {
            text.push(separator);
        }
        for piece in &segment.pieces {
            match piece {
                Piece::Literal(literal) => text.extend_from_slice(literal.as_bytes()),
                Piece::Typed(_) => return text,
            }
        }
    }
    text
}

/// Whether two beginnings can be of one text.
pub(crate) fn agree(left: &[u8], right: &[u8]) -> bool {
    left.iter().zip(right).all(|(a, b)| a == b)
}
