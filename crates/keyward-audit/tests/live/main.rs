//! Live servers, read through their real protocol.

mod broken;
mod cluster;
mod disturb;
mod hostile;
mod lost;
mod refused;
mod sentinel;
mod single;
mod snapshot;
mod support;
mod watch;
mod watch_careful;
mod watch_servers;
