//! Instances on real servers, asked over HTTP.

mod access;
mod answers;
mod fleet;
mod instance;
mod servers;
mod shapes;
mod survives;
mod webhooks;
