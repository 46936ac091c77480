//! Whether the servers have memory for the copies that a plan makes.

use crate::document::{Plan, Row};
use crate::error::Error;
use keyward_audit::live::{Primary, Reply};
use keyward_fact::Size;

/// How many slots a cluster has.
const SLOTS: u16 = 16384;

/// What one server has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Room {
    server: String,
    /// How many slots it has: that share of the copies is for it
    slots: u64,
    /// Bytes until `maxmemory`
    left: u64,
    /// What happens then
    policy: String,
}

impl Room {
    /// Asks the servers. One without a bound, or that does not say so, has room for everything.
    pub(crate) fn of_all(primaries: &mut [Primary]) -> Result<Vec<Self>, Error> {
        let mut rooms = Vec::new();
        for primary in primaries {
            let Reply::Bytes(info) = primary.command(&[b"INFO", b"memory"])? else { continue };
            let slots = (0..SLOTS).filter(|slot| primary.has(*slot)).count() as u64;
            rooms.extend(Room::read(&primary.name, slots, &String::from_utf8_lossy(&info)));
        }
        Ok(rooms)
    }

    fn read(server: &str, slots: u64, info: &str) -> Option<Self> {
        let field = |name: &str| info.lines().find_map(|line| line.trim_end().strip_prefix(name));
        let number = |name: &str| field(name).and_then(|it| it.parse::<u64>().ok());
        let most = number("maxmemory:").filter(|most| *most > 0)?;
        Some(Room {
            server: server.to_owned(),
            slots,
            left: most.saturating_sub(number("used_memory:")?),
            policy: field("maxmemory_policy:")?.to_owned(),
        })
    }

    /// Why its share of so many bytes does not fit, if it does not.
    fn refuses(&self, bytes: u64) -> Option<String> {
        let share = u128::from(bytes) * u128::from(self.slots) / u128::from(SLOTS);
        let share = u64::try_from(share).unwrap_or(u64::MAX);
        if share <= self.left {
            return None;
        }
        let then = match self.policy.as_str() {
            "noeviction" => "refuse writes".to_owned(),
            policy => format!("evict other keys (`{policy}`)"),
        };
        let (share, left) = (Size::from_bytes(share), Size::from_bytes(self.left));
        Some(format!(
            "the copies need about {} on {}, which has {} left: it would {then}",
            share.human(),
            self.server,
            left.human()
        ))
    }
}

/// Why so many bytes of copies do not fit, if they do not fit on one of the servers.
pub(crate) fn refuses(rooms: &[Room], bytes: u64) -> Option<String> {
    rooms.iter().find_map(|room| room.refuses(bytes))
}

/// How many bytes the copies of a plan take, about.
pub(crate) fn of_copies(plan: &Plan) -> u64 {
    plan.rows.iter().filter_map(|row: &Row| row.copy_bytes).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_judged_by_its_share_and_its_own_policy() {
        let info = |used: u64, policy: &str| {
            format!("used_memory:{used}\r\nmaxmemory:1000\r\nmaxmemory_policy:{policy}\r\n")
        };
        let half = u64::from(SLOTS) / 2;
        let full = Room::read("a", half, &info(900, "allkeys-lru")).unwrap();
        let empty = Room::read("b", half, &info(0, "noeviction")).unwrap();
        let rooms = [full, empty];
        assert_eq!(refuses(&rooms, 200), None, "100 bytes for each");
        let why = refuses(&rooms, 400).unwrap();
        assert!(why.contains("on a, which") && why.contains("evict"), "{why}");
        assert!(
            refuses(&rooms[1..], 4000)
                .unwrap()
                .contains("on b, which has 1000 B left: it would refuse")
        );
        let unbound = "used_memory:9\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n";
        assert_eq!(Room::read("c", half, unbound), None);
    }
}
