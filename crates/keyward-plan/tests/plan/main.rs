//! Plans on real servers.

mod bench;
mod far;
mod fix;
mod migrate;
