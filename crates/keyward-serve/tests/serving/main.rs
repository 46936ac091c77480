//! Instances on real servers, asked over HTTP.

mod access;
mod answers;
mod compare;
mod fleet;
mod instance;
mod servers;
mod shapes;
mod survives;
mod webhooks;
