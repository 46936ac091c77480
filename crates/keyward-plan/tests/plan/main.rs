//! Plans on real servers.

mod bench;
mod binary_options;
mod converted;
mod far;
mod fix;
mod forget;
mod indexed;
mod letters;
mod media_gateway;
mod migrate;
mod queues;
mod refused;
mod steps;
mod undo;
