//! Plans on real servers.

mod bench;
mod far;
mod letters;
mod migrate;
