//! Reports as people and programs read them.
#![allow(clippy::cast_precision_loss, reason = "a fixture's shares need no more digits")]

mod fixture;
mod machine;
mod terminal;
