//! Slows down who changes keys, by what other clients wait for.

use std::thread;
use std::time::{Duration, Instant};

use super::error::{Error, Fault};
use super::options::Bound;
use super::pace::Pace;
use super::primary::Primary;
use super::probe::Probe;

/// How many keys of one server may be changed at once: PINGs on a connection of its own measure what
/// another client waits for, as an audit does it.
pub struct Throttle {
    pace: Pace,
    probe: Option<Probe>,
    name: String,
}

impl Throttle {
    /// Begins to measure; without a bound, nothing is slowed down.
    ///
    /// # Errors
    /// If no second connection can be made.
    pub fn begin(primary: &Primary, bound: Option<Bound>) -> Result<Self, Error> {
        let mut connection = primary.open()?;
        let early = |fault: Fault| fault.early(&primary.name);
        let mut fastest = Duration::MAX;
        for _ in 0..5 {
            let start = Instant::now();
            connection.command(&["PING"]).map_err(early)?;
            fastest = fastest.min(start.elapsed());
        }
        let pace = Pace::new(bound, fastest, Instant::now());
        let probe = bound.map(|_| Probe::begin(connection, fastest));
        Ok(Throttle { pace, probe, name: primary.name.clone() })
    }

    /// How many keys may be sent together now.
    pub fn window(&self) -> usize {
        self.pace.window()
    }

    /// How many keys one SCAN should ask for.
    pub fn count(&self) -> usize {
        self.pace.count().load(std::sync::atomic::Ordering::Relaxed)
    }

    /// So many keys were changed by so many commands since `began`: waits as long as others need it.
    ///
    /// # Errors
    /// If the connection that measures broke.
    pub fn rest(&mut self, keys: usize, commands: u64, began: Instant) -> Result<(), Error> {
        self.pace.sent(keys, commands, began);
        self.pace.is_full();
        self.pace.looked_up(keys, Instant::now());
        if let Some(probe) = &self.probe
            && let Some((mut took, fastest)) =
                probe.round().map_err(|fault| fault.into_error(&self.name, 0))?
        {
            self.pace.probed(&mut took, fastest);
        }
        let pause = self.pace.rest(began.elapsed()).max(self.pace.due(Instant::now()));
        if !pause.is_zero() {
            thread::sleep(pause);
        }
        Ok(())
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        if let Some(probe) = self.probe.take() {
            probe.end();
        }
    }
}
