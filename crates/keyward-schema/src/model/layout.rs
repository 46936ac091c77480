//! `[layout]`: the shape that every pattern follows.

use super::Lifecycle;
use crate::span::Spanned;
use keyward_fact::KeyType;

/// `[layout]`: the shape that every pattern follows.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The shape as written
    pub text: Spanned<String>,
    /// Its slots, in order
    pub slots: Vec<Slot>,
    /// Words with a meaning of their own (`all`, `active`, `default`)
    pub reserved: Vec<Spanned<String>>,
    /// What words of its slots say about their keys
    pub means: Vec<(Spanned<String>, Spanned<Meaning>)>,
}

/// What a word says about the keys that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// They are of this type
    Type(KeyType),
    /// They have the role of this name
    Role(&'static str),
    /// They have this lifecycle
    Lifecycle(Lifecycle),
}

/// One slot of the layout's shape.
#[derive(Debug, Clone)]
pub struct Slot {
    /// `entity` in `<entity>`; a literal slot has none
    pub name: Option<String>,
    /// The text of a literal slot (`v2` in `<namespace>:v2:<entity>`)
    pub literal: Option<String>,
    /// Whether it may be left out: `[:<subkey>]`
    pub optional: bool,
    /// Whether it takes the rest: `<identifier...>`
    pub rest: bool,
    /// The words allowed here
    pub words: Option<Words>,
}

impl Slot {
    /// Every word that is allowed here.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let lists: Vec<&[Spanned<String>]> = match &self.words {
            None => Vec::new(),
            Some(Words::Fixed(words)) => vec![words],
            Some(Words::By { words, .. }) => words.iter().map(|(_, words)| &words[..]).collect(),
        };
        lists.into_iter().flatten().map(|word| word.value.as_str())
    }
}

/// The words allowed in a slot.
#[derive(Debug, Clone)]
pub enum Words {
    /// The same words always
    Fixed(Vec<Spanned<String>>),
    /// Words that depend on the word in an earlier slot
    By {
        /// The earlier slot
        slot: Spanned<String>,
        /// For each of its words, the words allowed here
        words: Vec<(Spanned<String>, Vec<Spanned<String>>)>,
    },
}
