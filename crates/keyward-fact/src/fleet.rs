//! What connected programs say of themselves: the name that a client of a schema gives its connections, so
//! that whoever migrates keys sees which programs know of it.

use std::fmt;

/// What the names of all clients of a schema begin with.
const MARK: &str = "keyward:";

/// What Keyward's own programs call their connections. They do not read or write an application's keys by a schema of
/// their own, so that no migration waits for them.
pub const OWN_PROGRAMS: [&str; 4] =
    ["keyward-audit", "keyward-plan", "keyward-serve", "keyward-watch"];

/// The name of a client, as `CLIENT SETNAME` takes it: `keyward:shop:v2=dual-write;v3=cleanup`.
///
/// ```
/// use keyward_fact::fleet::Announcement;
///
/// let name = Announcement::new("shop", [("v2", "dual-write")]);
/// assert_eq!(name.to_string(), "keyward:shop:v2=dual-write");
/// assert_eq!(Announcement::parse("keyward:shop:v2=dual-write"), Some(name));
/// assert_eq!(Announcement::parse("celery"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The name of the keyspace
    pub keyspace: String,
    /// The migrations that the program's schema has, each with its phase as the schema writes it
    pub phases: Vec<(String, String)>,
}

impl Announcement {
    /// What a program with these migrations says.
    pub fn new<'a>(keyspace: &str, phases: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let owned = |(migration, phase): (&str, &str)| (migration.to_owned(), phase.to_owned());
        let phases = phases.into_iter().map(owned).collect();
        Announcement { keyspace: keyspace.to_owned(), phases }
    }

    /// Reads a client's name. `None` if it is no announcement.
    pub fn parse(name: &str) -> Option<Self> {
        let (keyspace, phases) = name.strip_prefix(MARK)?.split_once(':')?;
        let phases = phases.split(';').filter(|it| !it.is_empty()).map(|it| it.split_once('='));
        let phases: Option<Vec<(&str, &str)>> = phases.collect();
        Some(Announcement::new(keyspace, phases?))
    }

    /// The phase that the program has for a migration; `None` if its schema does not have the migration.
    pub fn phase(&self, migration: &str) -> Option<&str> {
        self.phases.iter().find(|(it, _)| it == migration).map(|(_, phase)| phase.as_str())
    }
}

impl fmt::Display for Announcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}{}:", self.keyspace)?;
        for (number, (migration, phase)) in self.phases.iter().enumerate() {
            let between = if number == 0 { "" } else { ";" };
            write!(f, "{between}{migration}={phase}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_announced_is_read_back() {
        let all = [("shop", vec![]), ("shop", vec![("v2", "cleanup"), ("v3", "dual-write")])];
        for (keyspace, phases) in all {
            let said = Announcement::new(keyspace, phases);
            assert_eq!(Announcement::parse(&said.to_string()), Some(said));
        }
    }

    #[test]
    fn other_names_are_no_announcements() {
        for name in ["", "keyward", "keyward:shop", "keyward:shop:v2", "redis-py"] {
            assert_eq!(Announcement::parse(name), None, "{name}");
        }
    }
}
