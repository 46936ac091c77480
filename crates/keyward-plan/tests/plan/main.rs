//! Plans on real servers.

mod bench;
mod far;
mod fix;
mod forget;
mod letters;
mod migrate;
