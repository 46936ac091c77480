//! Plans on real servers.

mod bench;
mod far;
mod migrate;
