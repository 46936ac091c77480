//! `[layout]`: the shape that every pattern follows.

use crate::span::Spanned;

/// `[layout]`: the shape that every pattern follows.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The shape as written
    pub text: Spanned<String>,
    /// Its slots, in order
    pub slots: Vec<Slot>,
    /// Words with a meaning of their own (`all`, `active`, `default`)
    pub reserved: Vec<Spanned<String>>,
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
