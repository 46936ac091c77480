//! Where an unknown key breaks the layout of its schema. Only words that the schema declares are in it.

use keyward_fact::{KeyType, thousands};
use keyward_pattern::{Part, Template, nearest};
use keyward_schema::model::{Layout, Meaning, Schema, Slot, Words};
#[cfg(feature = "exchange")]
use serde::{Deserialize, Serialize};

/// Where a key breaks a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "exchange", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Breach {
    /// The segment of the key, counted from 1, the prefix's included
    pub segment: usize,
    /// What is wrong there
    pub wrong: Wrong,
}

/// What is wrong with a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "exchange", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Wrong {
    /// It is not the text that every key has there
    Literal(String),
    /// It is not a word of the slot
    Word {
        /// The slot's name
        slot: String,
        /// The words that fit; where one was most likely meant, this one alone
        fit: Vec<String>,
    },
    /// It is a word of the slot that means another type
    Type {
        /// The word
        word: String,
        /// The type that it means
        means: String,
        /// The type that the key has
        stored: String,
    },
    /// The key ends before this slot
    Short(String),
    /// The layout has only so many slots
    Long(usize),
}

impl Breach {
    /// The first segment where a key breaks the layout; `None` where it does not, and where the key does not have the
    /// schema's prefix.
    pub fn find(schema: &Schema, key: &[u8], stored: &KeyType) -> Option<Breach> {
        let layout = schema.layout.as_ref()?;
        let separator = *schema.keyspace.separator;
        let key = str::from_utf8(key).ok()?;
        let prefix = match schema.keyspace.prefix.as_ref().map_or(&[][..], |it| Template::parts(it))
        {
            [] => "",
            [Part::Literal(text)] => text,
            _ => return None,
        };
        let words: Vec<&str> = key.strip_prefix(prefix)?.split(separator).collect();
        let before = prefix.matches(separator).count();
        let breach = |at: usize, wrong| Some(Breach { segment: before + at + 1, wrong });
        for (at, word) in words.iter().enumerate() {
            let Some(slot) = layout.slots.get(at) else {
                let takes_rest = layout.slots.last().is_some_and(|slot| slot.rest);
                let long = || breach(at, Wrong::Long(layout.slots.len()));
                return if takes_rest { None } else { long() };
            };
            if let Some(wrong) = wrong(layout, slot, &words, word, stored) {
                return breach(at, wrong);
            }
        }
        let missing = layout.slots.get(words.len()).filter(|slot| !slot.optional)?;
        breach(words.len(), Wrong::Short(name(missing)))
    }

    /// In words; `found` is what the segment holds, where that may be shown.
    pub fn describe(&self, found: Option<&str>) -> String {
        let segment = self.segment;
        let this = found.map_or_else(|| format!("segment {segment}"), |found| format!("`{found}`"));
        match &self.wrong {
            Wrong::Literal(text) => format!("the layout has `{text}` as segment {segment}"),
            Wrong::Word { slot, fit } => match &fit[..] {
                [] => format!("{this} is not a {slot} of the layout"),
                [only] => format!("{this} is not a {slot} of the layout: `{only}`?"),
                _ => format!("{this} is not a {slot} of the layout: use {}", listed(fit)),
            },
            Wrong::Type { word, means, stored } => {
                format!("`{word}` is the layout's word for a {means}, and this key is a {stored}")
            }
            Wrong::Short(slot) => format!("it ends before the {slot} of the layout"),
            Wrong::Long(slots) => {
                format!("the layout has {} slots", thousands(*slots as u64))
            }
        }
    }
}

fn wrong(
    layout: &Layout,
    slot: &Slot,
    words: &[&str],
    word: &str,
    stored: &KeyType,
) -> Option<Wrong> {
    if let Some(text) = &slot.literal {
        return (text != word).then(|| Wrong::Literal(text.clone()));
    }
    let fit = fitting(layout, slot, words)?;
    if !fit.contains(&word) {
        let near = nearest(word, fit.iter().copied());
        let capitals = fit.iter().copied().find(|it| it.eq_ignore_ascii_case(word));
        let fit = match capitals.or(near) {
            Some(near) => vec![near.to_owned()],
            None => fit.into_iter().map(str::to_owned).collect(),
        };
        return Some(Wrong::Word { slot: name(slot), fit });
    }
    let mut means = layout.means.iter().filter(|(known, _)| known.value == word);
    means.find_map(|(_, meaning)| match &meaning.value {
        Meaning::Type(means) if means.stored() != stored.stored() => Some(Wrong::Type {
            word: word.to_owned(),
            means: means.name().to_owned(),
            stored: stored.name().to_owned(),
        }),
        _ => None,
    })
}

/// The words that fit a slot; `None` where it takes anything.
fn fitting<'s>(layout: &Layout, slot: &'s Slot, words: &[&str]) -> Option<Vec<&'s str>> {
    let of_earlier = match slot.words.as_ref()? {
        Words::Fixed(_) => None,
        Words::By { slot: earlier, words: lists } => {
            let at = layout.slots.iter().position(|it| it.name.as_ref() == Some(&earlier.value));
            let word = at.and_then(|at| words.get(at));
            lists.iter().find(|(known, _)| Some(&known.as_str()) == word).map(|(_, list)| list)
        }
    };
    Some(match of_earlier {
        Some(list) => list.iter().map(|word| word.value.as_str()).collect(),
        None => slot.words().collect(),
    })
}

fn name(slot: &Slot) -> String {
    slot.name.as_deref().or(slot.literal.as_deref()).unwrap_or("slot").to_owned()
}

/// `a`, `b` or `c`, and how many more there are.
fn listed(words: &[String]) -> String {
    const MOST: usize = 5;
    let quoted: Vec<String> = words.iter().take(MOST).map(|word| format!("`{word}`")).collect();
    match (&quoted[..], words.len().saturating_sub(MOST)) {
        ([all @ .., last], 0) if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        (all, 0) => all.join(", "),
        (all, more) => format!("{} or one of {} more", all.join(", "), thousands(more as u64)),
    }
}
