//! Plans on real servers.

mod bench;
mod migrate;
