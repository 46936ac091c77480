//! Plans on real servers.

mod bench;
mod far;
mod forget;
mod letters;
mod migrate;
