//! Measures drafts with keyspaces that real applications wrote, and the table of well-known software with their keys.
//! `corpus/README.md` says where they come from and how it was judged what is true of them.
#![allow(clippy::cast_precision_loss, reason = "shares of some thousand keys")]

mod apps;
mod foreign;
mod language;
mod score;
mod truth;
