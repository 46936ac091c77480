//! How long a peer is waited for.
//!
//! A socket's own timeout starts again with every byte, so a peer that sends one byte a second would never
//! run into it, and nobody could stop the scan meanwhile. Sockets here time out after [`SLICE`], and each
//! time it is asked whether to go on: whether the caller has stopped the scan, whether the reply takes too
//! long for its size, and whether the peer sends anything worth waiting for.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::error::{Error, Fault};

/// The timeout of sockets: how soon a stop is noticed.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// A reply may take the timeout, and a second more for so many bytes.
const BYTES_A_SECOND: u64 = 10 * 1024;

/// Waiting is made up for by so many bytes a second: `+OK` every 0.6 s. A scan over any network sends more.
const TRICKLE: u32 = 8;

/// How long one connection's peer is waited for.
#[derive(Debug, Clone)]
pub(super) struct Wait {
    timeout: Duration,
    stop: Arc<AtomicBool>,
    /// When the reply was first waited for
    since: Option<Instant>,
    /// Bytes received since
    bytes: u64,
    /// Time spent waiting that no bytes have made up for
    owed: Duration,
}

impl Wait {
    pub(super) fn new(timeout: Duration, stop: &Arc<AtomicBool>) -> Self {
        let stop = Arc::clone(stop);
        Wait { timeout, stop, since: None, bytes: 0, owed: Duration::ZERO }
    }

    /// Another reply is expected.
    pub(super) fn begin(&mut self) {
        (self.since, self.bytes) = (None, 0);
    }

    /// The peer shows that it is alive, and may take its time.
    pub(super) fn forgive(&mut self) {
        self.begin();
        self.owed = Duration::ZERO;
    }

    /// Bytes came, after waiting for so long.
    pub(super) fn received(&mut self, bytes: usize, waited: Duration) -> Result<(), Fault> {
        self.bytes += bytes as u64;
        let earned = Duration::from_secs(1) / TRICKLE * u32::try_from(bytes).unwrap_or(u32::MAX);
        self.owed = (self.owed + waited).saturating_sub(earned);
        self.check(Duration::ZERO)
    }

    /// Nothing has come for so long. Fails when it is not worth waiting any longer.
    pub(super) fn check(&mut self, waited: Duration) -> Result<(), Fault> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped.into());
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        let allowed = self.timeout + Duration::from_secs(self.bytes / BYTES_A_SECOND);
        if self.owed + waited <= self.timeout && since.elapsed() <= allowed {
            Ok(())
        } else if self.bytes == 0 {
            Err(self.silence())
        } else {
            let seconds = since.elapsed().as_secs_f64();
            Err(Fault::Lost(format!("only {} bytes came in {seconds:.1} s", self.bytes)))
        }
    }

    /// Why nothing more is expected of a peer that says nothing.
    pub(super) fn silence(&self) -> Fault {
        Fault::Lost(format!("no answer within {} s", self.timeout.as_secs_f64()))
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// Whether a socket's timeout has passed, and nothing else is wrong.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// What the system says, in our words where it is common.
pub(super) fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait() -> Wait {
        Wait::new(Duration::from_secs(10), &Arc::default())
    }

    #[test]
    fn a_trickle_ends_and_a_slow_dialogue_does_not() {
        let second = Duration::from_secs(1);
        let mut trickle = wait();
        let given_up = (0..20).find(|_| trickle.received(1, second).is_err());
        assert!(given_up.is_some_and(|seconds| seconds > 9), "{given_up:?}");
        let mut dialogue = wait();
        for _ in 0..1_000 {
            dialogue.begin();
            dialogue.received(5, Duration::from_millis(600)).expect("a slow network");
        }
    }

    #[test]
    fn silence_ends_and_so_does_whoever_is_stopped() {
        let mut wait = wait();
        wait.check(Duration::from_secs(9)).expect("it may still answer");
        let Err(Fault::Lost(why)) = wait.check(Duration::from_secs(11)) else { panic!() };
        assert_eq!(why, "no answer within 10 s");
        wait.stop.store(true, Ordering::Relaxed);
        assert!(matches!(wait.check(Duration::ZERO), Err(Fault::Fatal(Error::Stopped))));
    }
}
