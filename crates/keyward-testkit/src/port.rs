use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

/// Below 32768, where Linux begins to hand out ports to outgoing connections: a server that is
/// stopped and restarted finds its port still free, and a client that keeps knocking on a stopped
/// server's port cannot by chance connect to itself.
const RANGE: std::ops::Range<u16> = 12_000..32_000;

/// A loopback port that nobody listens on right now. Somebody else may still take it first, so
/// whoever starts a server on it tries again with another.
pub(crate) fn free() -> u16 {
    let width = u64::from(RANGE.end - RANGE.start);
    (0..1_000)
        .map(|_| {
            let random = RandomState::new().hash_one(0);
            RANGE.start + u16::try_from(random % width).expect("the range is a range of u16")
        })
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("no free loopback port after 1,000 attempts")
}
