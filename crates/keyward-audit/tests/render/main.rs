//! Reports as people and programs read them.
#![allow(clippy::cast_precision_loss, reason = "a fixture's shares need no more digits")]
#![allow(clippy::assigning_clones, reason = "a fixture is changed a few times")]

mod browser;
mod engine;
mod fixture;
mod machine;
#[path = "../support/mod.rs"]
mod support;
mod terminal;
