//! Which programs are connected, and whether they are as far as a step of a migration needs.

use crate::error::Error;
use keyward_audit::live::{Primary, Reply};
use keyward_fact::fleet::{Announcement, OWN_PROGRAMS};
use keyward_fact::thousands;
use std::collections::BTreeMap;

/// The phases of a migration, in their order.
pub(crate) const PHASES: [&str; 3] = ["dual-write", "read-fallback", "cleanup"];

/// The programs that are connected to the servers of a keyspace. What connects later is not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fleet {
    /// Clients of this keyspace, by what they announce
    pub announced: BTreeMap<String, u64>,
    /// Clients that do not say what they are, by the name and library that they give
    pub unnamed: BTreeMap<String, u64>,
    /// Servers that do not list their clients to this user
    pub denied: Vec<String>,
}

/// Asks the servers who is connected.
///
/// # Errors
/// If they cannot be asked.
pub fn fleet(primaries: &mut [Primary], keyspace: &str) -> Result<Fleet, Error> {
    let mut fleet = Fleet::default();
    for primary in primaries {
        match primary.command(&[b"CLIENT", b"LIST"])? {
            Reply::Bytes(list) => fleet.add(&String::from_utf8_lossy(&list), keyspace),
            _ => fleet.denied.push(primary.name.clone()),
        }
    }
    Ok(fleet)
}

impl Fleet {
    fn add(&mut self, list: &str, keyspace: &str) {
        for line in list.lines() {
            let field = |name: &str| {
                line.split(' ').find_map(|it| it.strip_prefix(name)).unwrap_or_default()
            };
            let (name, flags) = (field("name="), field("flags="));
            let is_server = flags.contains(['S', 'M']) || name.starts_with("sentinel-");
            if is_server || OWN_PROGRAMS.contains(&name) {
                continue;
            }
            match Announcement::parse(name) {
                Some(said) if said.keyspace == keyspace => {
                    *self.announced.entry(name.to_owned()).or_default() += 1;
                }
                // Another keyspace's programs know nothing of these keys.
                Some(_) => {}
                None => {
                    let library = field("lib-name=");
                    let shown = match (name, library) {
                        ("", "") => "no name".to_owned(),
                        ("", library) => format!("no name, library {library}"),
                        (name, _) => format!("name {name}"),
                    };
                    *self.unnamed.entry(keyward_fact::visible(&shown).into_owned()).or_default() +=
                        1;
                }
            }
        }
    }

    /// Why a step of a migration into this phase cannot be taken now; `None` if nothing was seen that speaks
    /// against it.
    pub fn refuses(&self, migration: &str, phase: &str, accept_unnamed: bool) -> Option<String> {
        let rank = |phase: &str| PHASES.iter().position(|it| *it == phase);
        let is_older = |name: &str| {
            let said = Announcement::parse(name);
            let announced = said.as_ref().and_then(|said| said.phase(migration)).and_then(rank);
            announced < rank(phase)
        };
        let older: Vec<_> = self.announced.iter().filter(|(name, _)| is_older(name)).collect();
        if let Some((name, _)) = older.first() {
            let count: u64 = older.iter().map(|(_, count)| **count).sum();
            return Some(match count {
                1 => format!(
                    "1 connected client, `{name}`, is not in the phase `{phase}` of `{migration}` yet"
                ),
                _ => format!(
                    "{} connected clients are not in the phase `{phase}` of `{migration}` yet; one is `{name}`",
                    thousands(count)
                ),
            });
        }
        self.refuses_unnamed(migration, accept_unnamed)
    }

    /// Why what was done in this phase cannot be taken back now: clients that are further rely on it. `None` if nothing was
    /// seen that speaks against it.
    pub fn refuses_undo(
        &self,
        migration: &str,
        phase: &str,
        accept_unnamed: bool,
    ) -> Option<String> {
        let rank = |phase: &str| PHASES.iter().position(|it| *it == phase);
        let is_later = |name: &str| {
            let said = Announcement::parse(name);
            let announced = said.as_ref().and_then(|said| said.phase(migration)).and_then(rank);
            announced > rank(phase)
        };
        let later: Vec<_> = self.announced.iter().filter(|(name, _)| is_later(name)).collect();
        if let Some((name, _)) = later.first() {
            let count: u64 = later.iter().map(|(_, count)| **count).sum();
            return Some(match count {
                1 => format!(
                    "1 connected client, `{name}`, is beyond the phase `{phase}` of `{migration}`"
                ),
                _ => format!(
                    "{} connected clients are beyond the phase `{phase}` of `{migration}`; one is `{name}`",
                    thousands(count)
                ),
            });
        }
        self.refuses_unnamed(migration, accept_unnamed)
    }

    fn refuses_unnamed(&self, migration: &str, accept_unnamed: bool) -> Option<String> {
        if accept_unnamed {
            return None;
        }
        if let Some(server) = self.denied.first() {
            return Some(format!("{server} does not list its clients to this user"));
        }
        let (example, _) = self.unnamed.first_key_value()?;
        let count: u64 = self.unnamed.values().sum();
        Some(match count {
            1 => format!(
                "1 connected client does not announce a phase of `{migration}`; it has {example}"
            ),
            _ => format!(
                "{} connected clients do not announce a phase of `{migration}`; one has {example}",
                thousands(count)
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(names: &[&str]) -> Fleet {
        let line =
            |name: &&str| format!("id=1 addr=127.0.0.1:5 name={name} age=1 flags=N lib-name=\n");
        let mut fleet = Fleet::default();
        fleet.add(&names.iter().map(line).collect::<String>(), "shop");
        fleet
    }

    #[test]
    fn an_older_client_stops_a_step_and_a_newer_one_does_not() {
        let both = fleet(&["keyward:shop:v2=dual-write", "keyward:shop:v2=read-fallback"]);
        assert_eq!(both.refuses("v2", "dual-write", false), None);
        assert!(both.refuses("v2", "read-fallback", false).unwrap().starts_with("1 connected"));
        let three = ["keyward:shop:v2=dual-write"; 3];
        let said = fleet(&three).refuses("v2", "cleanup", false).unwrap();
        assert!(said.starts_with("3 connected clients are not in the phase"), "{said}");
        // Whoever does not know the migration at all is older too.
        assert!(fleet(&["keyward:shop:"]).refuses("v2", "dual-write", true).is_some());
        // Another keyspace's clients do not matter.
        assert_eq!(fleet(&["keyward:bank:"]).refuses("v2", "cleanup", false), None);
    }

    #[test]
    fn a_later_client_stops_an_undo_and_an_older_one_does_not() {
        let both = fleet(&["keyward:shop:v2=dual-write", "keyward:shop:v2=read-fallback"]);
        assert_eq!(both.refuses_undo("v2", "read-fallback", false), None);
        assert!(both.refuses_undo("v2", "dual-write", true).unwrap().starts_with("1 connected"));
        assert_eq!(fleet(&["keyward:shop:"]).refuses_undo("v2", "dual-write", false), None);
        assert!(fleet(&["celery"]).refuses_undo("v2", "cleanup", false).is_some());
        assert_eq!(fleet(&["celery"]).refuses_undo("v2", "cleanup", true), None);
    }

    #[test]
    fn a_client_without_a_name_stops_a_step_unless_it_is_accepted() {
        let unnamed = fleet(&["", "celery"]);
        assert!(unnamed.refuses("v2", "cleanup", false).unwrap().starts_with("2 connected"));
        assert_eq!(unnamed.refuses("v2", "cleanup", true), None);
    }

    #[test]
    fn own_programs_and_sentinels_stop_no_step() {
        for own in OWN_PROGRAMS.into_iter().chain(["sentinel-1234-cmd"]) {
            assert_eq!(fleet(&[own]).refuses("v2", "cleanup", false), None, "{own}");
        }
        // A name is no way around the gate.
        assert!(fleet(&["keyward-worker"]).refuses("v2", "cleanup", false).is_some());
    }
}
