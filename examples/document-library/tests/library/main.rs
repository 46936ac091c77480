//! The library, from Markdown to keys and back, on real servers.

mod add;
mod audit;
mod commands;
mod concurrent;
mod convention;
mod corpus;
mod crash;
mod documents;
mod front_matter;
mod harness;
mod hostile;
mod large;
mod tree;
mod verify;
