//! Whether the servers have memory for the copies that a plan makes.

use crate::document::{Plan, Row};
use crate::error::Error;
use keyward_audit::live::{Primary, Reply};
use keyward_fact::Size;

/// What the servers have left, together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Room {
    /// Bytes until `maxmemory`
    left: u64,
    /// What happens then
    policy: String,
}

impl Room {
    /// Asks the servers; `None` where one has no bound, or does not say so.
    pub(crate) fn of(primaries: &mut [Primary]) -> Result<Option<Self>, Error> {
        let mut room = Room { left: 0, policy: String::new() };
        for primary in primaries {
            let Reply::Bytes(info) = primary.command(&[b"INFO", b"memory"])? else {
                return Ok(None);
            };
            let info = String::from_utf8_lossy(&info).into_owned();
            let field =
                |name: &str| info.lines().find_map(|line| line.trim_end().strip_prefix(name));
            let number = |name: &str| field(name).and_then(|it| it.parse::<u64>().ok());
            let (Some(used), Some(most @ 1..)) = (number("used_memory:"), number("maxmemory:"))
            else {
                return Ok(None);
            };
            room.left = room.left.saturating_add(most.saturating_sub(used));
            field("maxmemory_policy:").unwrap_or_default().clone_into(&mut room.policy);
        }
        Ok(Some(room).filter(|room| !room.policy.is_empty()))
    }

    /// Why so many bytes do not fit, if they do not.
    pub(crate) fn refuses(&self, bytes: u64) -> Option<String> {
        if bytes <= self.left {
            return None;
        }
        let then = match self.policy.as_str() {
            "noeviction" => "refuse writes".to_owned(),
            policy => format!("evict other keys (`{policy}`)"),
        };
        let (bytes, left) = (Size::from_bytes(bytes), Size::from_bytes(self.left));
        Some(format!(
            "the copies need about {}, and the servers have {} left: they would {then}",
            bytes.human(),
            left.human()
        ))
    }
}

/// How many bytes the copies of a plan take, about.
pub(crate) fn of_copies(plan: &Plan) -> u64 {
    plan.rows.iter().filter_map(|row: &Row| row.copy_bytes).fold(0, u64::saturating_add)
}
