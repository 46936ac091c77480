//! Instances on real servers, asked over HTTP.

mod access;
mod answers;
mod instance;
mod servers;
mod survives;
