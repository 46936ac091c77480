//! Waits for replicas that fall behind.

use crate::control::Control;
use crate::error::Error;
use keyward_audit::live::{Primary, Reply};
use std::thread;
use std::time::{Duration, Instant};

/// How many bytes a replica may be behind.
const BEHIND: u64 = 32 * 1024 * 1024;
/// How often replicas are asked about.
const EVERY: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(100);
/// For how long a replica that does not catch up is waited for.
const LONGEST: Duration = Duration::from_mins(10);

/// How far the replicas of one server are behind.
pub(crate) struct Lag {
    primary: Primary,
    asked: Instant,
}

impl Lag {
    pub(crate) fn new(primary: &Primary) -> Result<Self, Error> {
        Ok(Lag { primary: primary.again()?, asked: Instant::now() })
    }

    /// Waits until no replica that is online is far behind, and says so meanwhile.
    pub(crate) fn wait(&mut self, control: &Control) -> Result<(), Error> {
        if self.asked.elapsed() < EVERY {
            return Ok(());
        }
        let mut waits = false;
        let waited = self.wait_for_replicas(control, &mut waits);
        if waits {
            control.lose(None);
        }
        waited
    }

    fn wait_for_replicas(&mut self, control: &Control, waits: &mut bool) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            self.asked = Instant::now();
            let Reply::Bytes(info) = self.primary.command(&[b"INFO", b"replication"])? else {
                // Whoever may not ask does not wait.
                return Ok(());
            };
            if behind(&String::from_utf8_lossy(&info)).is_none_or(|bytes| bytes <= BEHIND) {
                return Ok(());
            }
            if start.elapsed() > LONGEST {
                return Err(Error::unfinished(
                    format!("a replica of {} stays more than 32 MB behind", self.primary.name),
                    "look after the replica, and apply the plan again",
                ));
            }
            *waits = true;
            control.lose(Some(format!(
                "a replica of {} is more than 32 MB behind",
                self.primary.name
            )));
            thread::sleep(PAUSE);
            control.wait()?;
        }
    }
}

/// How many bytes the slowest replica is behind.
fn behind(info: &str) -> Option<u64> {
    let field = |name: &str| info.lines().find_map(|line| line.trim_end().strip_prefix(name));
    let written: u64 = field("master_repl_offset:")?.parse().ok()?;
    let replicas = info.lines().filter(|line| line.starts_with("slave"));
    let online = replicas.filter(|line| line.contains("state=online"));
    let read = |line: &str| {
        let offset = line.split(',').find_map(|pair| pair.trim().strip_prefix("offset="))?;
        offset.parse::<u64>().ok()
    };
    online.filter_map(read).map(|offset| written.saturating_sub(offset)).max()
}

#[cfg(test)]
mod tests {
    use super::behind;

    #[test]
    fn the_slowest_replica_counts() {
        let info = "role:master\r\nslave0:ip=10.0.0.2,port=6380,state=online,offset=50,lag=0\r\n\
                    slave1:ip=10.0.0.3,port=6380,state=wait_bgsave,offset=0,lag=0\r\n\
                    slave2:ip=10.0.0.4,port=6380,state=online,offset=90,lag=0\r\n\
                    master_repl_offset:100\r\n";
        assert_eq!(behind(info), Some(50));
        assert_eq!(behind("master_repl_offset:100\r\n"), None);
    }
}
