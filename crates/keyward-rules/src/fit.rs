//! Whether a pattern fits the layout.
//!
//! A pattern's segments are laid beside the slots of the shape, one by one. What a slot takes
//! follows from what the schema says about it, and else from its name:
//!
//! - a slot with words takes those words, or an enum parameter whose words are among them;
//! - `<id>`, `<user_id>`, `<identifier>` say which one: a parameter, or a reserved word;
//! - `<entity>`, `<attribute>`, `<module>` and the like say what kind: text, or an enum parameter;
//! - any other slot, and the one that takes the rest, takes anything.

use crate::context::Context;
use crate::segment::within;
use crate::words::words;
use keyward_pattern::{Segment, Type};
use keyward_schema::model::{Definition, Layout, Slot, Words};
use keyward_schema::span::{Span, Spanned};
use std::ops::Range;

/// Names of slots that say what kind of thing a key is about.
const KINDS: &[&str] = &[
    "aspect",
    "attribute",
    "business",
    "component",
    "domain",
    "entity",
    "feature",
    "field",
    "kind",
    "module",
    "namespace",
    "object",
    "property",
    "service",
    "type",
];

/// Names of slots that say which one.
const IDENTIFIERS: &[&str] = &["id", "identifier", "uuid"];

/// How many ways there may be to write out the `key` parameters of one pattern.
const MAX_READINGS: usize = 64;

/// Something about a pattern that does not fit.
#[derive(Debug, PartialEq)]
pub(crate) enum Misfit<'a> {
    /// The segment or the whole pattern is not of the shape
    Shape { span: Span, label: String },
    /// A word that its slot does not know
    Word {
        span: Span,
        word: String,
        slot: &'a str,
        of: Option<String>,
        known: &'a [Spanned<String>],
    },
}

/// Lays a definition's pattern beside the layout.
pub(crate) fn misfits<'a>(
    cx: &Context<'a>,
    definition: &'a Definition,
    layout: &'a Layout,
) -> Vec<Misfit<'a>> {
    let readings = Readings { cx, depth: 0 }.of(definition);
    let laid = |positions| Laid { definition, layout, positions };
    if let [reading] = readings.as_slice() {
        return laid(reading).misfits();
    }
    let mut misfits: Vec<Misfit<'a>> = Vec::new();
    for reading in &readings {
        for misfit in laid(reading).misfits() {
            if !misfits.contains(&misfit) {
                misfits.push(misfit);
            }
        }
    }
    misfits
}

/// A segment of a pattern with `key` parameters written out.
#[derive(Debug, Clone)]
struct Position {
    range: Range<usize>,
    held: Held,
}

#[derive(Debug, Clone)]
enum Held {
    Literal(String),
    Words(Vec<String>),
    Param { name: String },
    Rest { name: String },
    Mixed,
}

struct Readings<'c, 'a> {
    cx: &'c Context<'a>,
    depth: usize,
}

impl Readings<'_, '_> {
    /// Every way to write out a pattern: a `key` parameter stands for the segments of each
    /// definition it names.
    fn of(&self, definition: &Definition) -> Vec<Vec<Position>> {
        let mut readings = vec![Vec::new()];
        for segment in definition.pattern.segments(*self.cx.schema.keyspace.separator) {
            let choices = self.segment(definition, &segment);
            readings = readings
                .iter()
                .flat_map(|reading| {
                    choices.iter().map(move |more| [reading.as_slice(), more].concat())
                })
                .take(MAX_READINGS)
                .collect();
        }
        readings
    }

    fn segment(&self, definition: &Definition, segment: &Segment<'_>) -> Vec<Vec<Position>> {
        let range = segment.range.clone();
        let one = |held| vec![vec![Position { range: range.clone(), held }]];
        if let Some(text) = segment.literal() {
            return one(Held::Literal(text.to_owned()));
        }
        let Some(hole) = segment.hole() else { return one(Held::Mixed) };
        let name = hole.name.clone();
        let ty = definition.params.iter().find(|param| *param.name == name).map(|p| &p.param.ty);
        match ty {
            _ if hole.rest => one(Held::Rest { name }),
            Some(Type::Enum(words)) => one(Held::Words(words.clone())),
            Some(Type::Key(names)) if self.depth < 8 => {
                let deeper = Readings { cx: self.cx, depth: self.depth + 1 };
                let named = names.iter().filter_map(|name| self.cx.definition(name));
                let readings = named.flat_map(|key| deeper.of(key));
                readings.map(|reading| placed_at(reading, &range)).take(MAX_READINGS).collect()
            }
            _ => one(Held::Param { name }),
        }
    }
}

fn placed_at(mut reading: Vec<Position>, range: &Range<usize>) -> Vec<Position> {
    for position in &mut reading {
        position.range = range.clone();
    }
    reading
}

/// A pattern beside the layout.
struct Laid<'r, 'a> {
    definition: &'a Definition,
    layout: &'a Layout,
    positions: &'r [Position],
}

impl<'a> Laid<'_, 'a> {
    fn misfits(&self) -> Vec<Misfit<'a>> {
        let mut misfits = Vec::new();
        for (index, position) in self.positions.iter().enumerate() {
            let Some(slot) = self.slot(index) else {
                let label = format!("the layout has {}", slots(self.layout.slots.len()));
                misfits.push(self.shape(position, label));
                break;
            };
            misfits.extend(self.held_by(slot, position));
            // It takes any number of segments: what follows has no slot of its own.
            if matches!(position.held, Held::Rest { .. }) {
                break;
            }
        }
        let required = self.layout.slots.iter().filter(|slot| !slot.optional).count();
        let takes_rest =
            self.positions.iter().any(|position| matches!(position.held, Held::Rest { .. }));
        if self.positions.len() < required && !takes_rest {
            let missing = &self.layout.slots[self.positions.len()];
            misfits.push(Misfit::Shape {
                span: self.definition.pattern.span.clone(),
                label: format!("ends before {}", shown(missing)),
            });
        }
        misfits
    }

    fn slot(&self, index: usize) -> Option<&'a Slot> {
        let rest = || self.layout.slots.last().filter(|slot| slot.rest);
        self.layout.slots.get(index).or_else(rest)
    }

    fn held_by(&self, slot: &'a Slot, position: &Position) -> Vec<Misfit<'a>> {
        if let Some(expected) = &slot.literal {
            let same = matches!(&position.held, Held::Literal(text) if text == expected);
            return if same {
                vec![]
            } else {
                vec![self.shape(position, format!("not `{expected}`"))]
            };
        }
        match (&slot.words, &position.held) {
            (_, Held::Literal(word)) if word.is_empty() && !slot.rest => {
                vec![self.shape(position, format!("{} is empty", shown(slot)))]
            }
            (Some(_), Held::Literal(word)) => self.word(slot, position, word).into_iter().collect(),
            (Some(_), Held::Words(words)) => {
                words.iter().filter_map(|word| self.word(slot, position, word)).collect()
            }
            (Some(_), Held::Param { name } | Held::Rest { name }) => {
                let label = format!("{} accepts only its own words, not `{{{name}}}`", shown(slot));
                vec![self.shape(position, label)]
            }
            (Some(_), Held::Mixed) => {
                vec![self.shape(position, format!("{} accepts only its own words", shown(slot)))]
            }
            (None, held) => self.by_name(slot, position, held).into_iter().collect(),
        }
    }

    fn by_name(&self, slot: &'a Slot, position: &Position, held: &Held) -> Option<Misfit<'a>> {
        if slot.rest {
            return None;
        }
        let last = words(slot.name.as_deref().unwrap_or_default()).pop().unwrap_or_default();
        let label = match held {
            Held::Rest { name } => format!("`{{{name}...}}` takes more than {}", shown(slot)),
            Held::Literal(word) if IDENTIFIERS.contains(&last.as_str()) => {
                if self.layout.reserved.iter().any(|reserved| reserved.value == *word) {
                    return None;
                }
                format!("{} must be a parameter, not the word `{word}`", shown(slot))
            }
            Held::Param { name } if KINDS.contains(&last.as_str()) => {
                format!("{} must be a word, not `{{{name}}}`", shown(slot))
            }
            _ => return None,
        };
        Some(self.shape(position, label))
    }

    /// Judges one word, by the words of the slot and of the earlier slot they depend on.
    fn word(&self, slot: &'a Slot, position: &Position, word: &str) -> Option<Misfit<'a>> {
        let misfit = |of: Option<&str>, known: &'a [Spanned<String>]| Misfit::Word {
            span: self.span(position),
            word: word.to_owned(),
            slot: slot.name.as_deref().unwrap_or_default(),
            of: of.map(str::to_owned),
            known,
        };
        match slot.words.as_ref()? {
            Words::Fixed(known) => (!contains(known, word)).then(|| misfit(None, known)),
            Words::By { slot: earlier, words } => {
                self.words_in(earlier).into_iter().find_map(|of| {
                    let listed = words.iter().find(|(word, _)| word.value == of);
                    let known = listed.map_or(&[][..], |(_, known)| known);
                    (!contains(known, word)).then(|| misfit(Some(of), known))
                })
            }
        }
    }

    /// The words an earlier slot can hold in this pattern and knows; a word it does not know is
    /// reported there, and says nothing here.
    fn words_in(&self, slot: &str) -> Vec<&str> {
        let slots = &self.layout.slots;
        let Some(index) = slots.iter().position(|other| other.name.as_deref() == Some(slot)) else {
            return Vec::new();
        };
        let held = match self.positions.get(index).map(|position| &position.held) {
            Some(Held::Literal(word)) => std::slice::from_ref(word),
            Some(Held::Words(words)) => words,
            _ => &[],
        };
        let known = |word: &&str| match &slots[index].words {
            Some(Words::Fixed(known)) => contains(known, word),
            _ => true,
        };
        held.iter().map(String::as_str).filter(known).collect()
    }

    fn shape(&self, position: &Position, label: String) -> Misfit<'a> {
        Misfit::Shape { span: self.span(position), label }
    }

    fn span(&self, position: &Position) -> Span {
        within(&self.definition.pattern, position.range.clone())
    }
}

fn contains(known: &[Spanned<String>], word: &str) -> bool {
    known.iter().any(|known| known.value == word)
}

fn shown(slot: &Slot) -> String {
    match (&slot.name, &slot.literal) {
        (Some(name), _) => format!("`<{name}>`"),
        (None, Some(literal)) => format!("`{literal}`"),
        (None, None) => "a slot".to_owned(),
    }
}

fn slots(count: usize) -> String {
    if count == 1 { "1 slot".to_owned() } else { format!("{count} slots") }
}
