//! The keys that Keyward's store writes beside a definition's own.

use super::{Definition, Invalidate, Lifecycle, Role, Schema, Value};
use crate::span::Spanned;
use keyward_fact::{Duration, KeyType};

/// A key that the store writes beside its owner's: for a cache, its invalidation, or a role.
///
/// `keyward_pattern::derived` builds it from the owner's key and [`Derived::word`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Derived {
    /// Held by the process that is filling a cache entry: a fill that raced an invalidation is dropped
    Lease,
    /// Which keys exist, for an event that leaves a parameter free
    Index,
    /// The expired value, for when the loader fails
    Stale,
    /// A mark that there is no value
    Nothing,
    /// A mark that the value is to be loaded again
    Refresh,
    /// A session's tombstone: nothing makes or reads it again
    Revoked,
    /// When a session ends however often it is used
    Until,
    /// When the sessions of an index end
    Ends,
    /// What became of a refresh token: its successor, and when it was used
    Token,
    /// The last changes of an index's set
    Changes,
    /// The versions of the last changes of an index's reverse
    Versions,
    /// The version of the last change of a key that is renamed across slots
    Version,
    /// The last fence of a lock
    Fence,
    /// Who waits for a fair lock, in order
    Waiters,
    /// Until when those who wait for a fair lock are believed in
    Alive,
    /// What a queue knows of each job
    Jobs,
    /// Entries that an idle worker has just moved from a queue's list
    Taken,
    /// Which jobs of a queue run, and until when
    Leases,
    /// Which jobs of a queue wait for their time
    Due,
    /// Which jobs of a queue could run now, apart from its list
    Ready,
    /// Which jobs of a queue have ended and are retained
    Done,
    /// Why jobs have failed, beside dead letters that are the values themselves
    Letters,
}

impl Derived {
    /// The word in the key: `xc:~lease:{xc:file:7:meta}`.
    pub fn word(self) -> &'static str {
        match self {
            Derived::Lease => "lease",
            Derived::Index => "index",
            Derived::Stale => "stale",
            Derived::Nothing => "none",
            Derived::Refresh => "refresh",
            Derived::Revoked => "revoked",
            Derived::Until => "until",
            Derived::Ends => "ends",
            Derived::Token => "token",
            Derived::Changes => "changes",
            Derived::Versions => "versions",
            Derived::Version => "version",
            Derived::Fence => "fence",
            Derived::Waiters => "waiters",
            Derived::Alive => "alive",
            Derived::Jobs => "jobs",
            Derived::Taken => "taken",
            Derived::Leases => "leases",
            Derived::Due => "due",
            Derived::Ready => "ready",
            Derived::Done => "done",
            Derived::Letters => "letters",
        }
    }

    /// How long it may live; `None` if it may live for ever.
    pub fn longest(self, definition: &Definition) -> Option<Duration> {
        /// How long a load may take where the schema gives no `load_lock`
        const LOAD: Duration = Duration::from_millis(10_000);
        /// How long a waiter keeps its turn without asking again
        const WAIT: Duration = Duration::from_millis(5000);
        /// How long a change of an index may take at most
        const LATE: Duration = Duration::from_millis(600_000);
        /// How long a copy in another slot may be under way at most
        const COPY: Duration = Duration::from_hours(1);
        /// How long it is known why a job failed, where its dead letter never expires
        const LETTERS: Duration = Duration::from_hours(30 * 24);
        let cache = &definition.cache;
        let given = |option: &Option<Spanned<Duration>>| option.as_ref().map(|it| it.value);
        let stale = given(&cache.stale_if_error).unwrap_or(Duration::ZERO);
        // Longer than the key itself, where something outlives it.
        let past = |more: Duration| {
            let ttl = definition.ttl.as_ref()?.longest()?;
            Some(Duration::from_millis(ttl.as_millis().saturating_add(more.as_millis())))
        };
        match self {
            Derived::Lease => Some(given(&cache.load_lock).unwrap_or(LOAD)),
            Derived::Index | Derived::Stale => past(stale),
            Derived::Nothing => given(&cache.negative_ttl),
            Derived::Fence => past(Duration::from_hours(24)),
            Derived::Waiters | Derived::Alive => Some(WAIT),
            // As long as there are jobs.
            Derived::Jobs
            | Derived::Taken
            | Derived::Leases
            | Derived::Due
            | Derived::Ready
            | Derived::Done => None,
            Derived::Revoked | Derived::Until => match definition.role.as_deref() {
                Some(Role::Session(session)) => {
                    given(&session.max_age).max(definition.ttl.as_ref()?.longest())
                }
                _ => None,
            },
            Derived::Refresh | Derived::Ends | Derived::Token => past(Duration::ZERO),
            Derived::Changes | Derived::Versions => Some(LATE),
            Derived::Version => Some(COPY),
            Derived::Letters => past(Duration::ZERO).or(Some(LETTERS)),
        }
    }
}

impl Definition {
    /// The derived keys that this definition may have: the one answer for documentation, audit and
    /// ACLs.
    ///
    /// `invalidate = "index"` has its index. A cache entry that is loaded has the lease of whoever loads
    /// it, a copy that outlives it with `stale_if_error`, and marks with `negative_ttl` and for an event that
    /// refreshes it. A lock has its last fence, and the waiters where it is fair. A queue has what its workers
    /// need. A session has its tombstone and its end, a refresh token what became of it.
    pub fn derived(&self) -> Vec<Derived> {
        let mut derived = Vec::new();
        let is_stored =
            matches!(self.role.as_deref(), None | Some(Role::Flag(_) | Role::Ranking(_)));
        if is_stored && self.lifecycle == Lifecycle::Cache {
            derived.push(Derived::Lease);
            derived.extend(self.cache.stale_if_error.as_ref().map(|_| Derived::Stale));
            derived.extend(self.cache.negative_ttl.as_ref().map(|_| Derived::Nothing));
            derived.extend(self.refreshed.then_some(Derived::Refresh));
        }
        if let Some(Role::Lock(lock)) = self.role.as_deref() {
            derived.push(Derived::Fence);
            if lock.fair {
                derived.extend([Derived::Waiters, Derived::Alive]);
            }
        }
        if let Some(Role::Queue(queue)) = self.role.as_deref() {
            use Derived::{Done, Due, Jobs, Leases, Ready, Taken};
            let is_list = self.key_type.as_deref() == Some(&KeyType::List);
            derived.push(Jobs);
            derived.extend(is_list.then_some(Taken));
            derived.extend([Leases, Due, Ready]);
            derived.extend(queue.retain.as_ref().map(|_| Done));
        }
        if self.invalidate.as_ref().is_some_and(|how| how.value == Invalidate::Index) {
            derived.push(Derived::Index);
        }
        match self.role.as_deref() {
            Some(Role::Session(session)) => {
                derived.push(Derived::Revoked);
                derived.extend(session.max_age.as_ref().map(|_| Derived::Until));
            }
            Some(Role::RefreshToken(_)) => derived.push(Derived::Token),
            Some(Role::Index(index)) if index.reverse.is_some() => derived.push(Derived::Changes),
            _ => {}
        }
        derived
    }
}

impl Schema {
    /// The same, with what another definition's role writes beside this one: the ends of the sessions that a set
    /// lists (a sorted set holds them itself), the versions of an index's reverse, and why the jobs among dead letters
    /// failed; and the versions of a key that is renamed on a cluster.
    pub fn derived(&self, definition: &Definition) -> Vec<Derived> {
        let lists = |other: &Definition| match other.role.as_deref() {
            Some(Role::Session(session)) => {
                session.index.as_ref().is_some_and(|index| index.value == *definition.name)
            }
            _ => false,
        };
        let is_set = definition.key_type.as_deref() == Some(&KeyType::Set);
        let ends = is_set && self.keys.iter().any(lists);
        let refers_back = |other: &Definition| match other.role.as_deref() {
            Some(Role::Index(index)) => {
                index.reverse.as_ref().is_some_and(|reverse| reverse.value == *definition.name)
            }
            _ => false,
        };
        let versions = is_set && self.keys.iter().any(refers_back);
        let beside = ends.then_some(Derived::Ends).into_iter();
        let beside = beside.chain(versions.then_some(Derived::Versions));
        let buries = |other: &Definition| {
            self.buries_values(other).is_some_and(|dead| dead.name.value == *definition.name)
        };
        let letters = self.keys.iter().any(buries);
        let beside = beside.chain(letters.then_some(Derived::Letters));
        let mut derived: Vec<Derived> = definition.derived().into_iter().chain(beside).collect();
        if self.may_be_split(definition) {
            // Whoever moves a key to another slot takes its lease.
            derived.extend((!derived.contains(&Derived::Lease)).then_some(Derived::Lease));
            derived.push(Derived::Version);
        }
        derived
    }

    /// Whether the names of a definition's keys may be in different slots as long as a migration lasts, and are kept in
    /// step by versions.
    fn may_be_split(&self, definition: &Definition) -> bool {
        let mut renames = self.migrations.iter().flat_map(|it| &it.renames);
        *self.keyspace.cluster
            && !matches!(
                definition.role.as_deref(),
                Some(Role::Lock(_) | Role::RateLimit(_) | Role::Queue(_))
            )
            && renames.any(|it| it.definition.value == definition.name.value)
    }

    /// The dead letters of a queue, if they hold its values as they are, and not objects that say why a job failed: both
    /// are lists of the same type, which is not any JSON.
    pub fn buries_values(&self, queue: &Definition) -> Option<&Definition> {
        let Some(Role::Queue(role)) = queue.role.as_deref() else { return None };
        let name = role.dead_letter.as_ref()?;
        let dead = self.keys.iter().find(|key| key.name.value == name.value)?;
        let value = &dead.value.as_ref()?.value;
        let is_any = *value == Value::Json { of: None, zstd: false };
        let is_same = queue.value.as_ref().is_some_and(|own| own.value == *value);
        let is_list = queue.key_type.as_deref() == Some(&KeyType::List);
        (is_list && is_same && !is_any).then_some(dead)
    }
}

#[cfg(test)]
mod tests {
    use crate::read;

    #[test]
    fn what_is_renamed_on_a_cluster_has_a_version() {
        for (cluster, expected) in [(true, &["lease", "version"][..]), (false, &[])] {
            let schema = read(&format!(
                r#"
version = 1
[keyspace]
name = "shop"
cluster = {cluster}
[keys.stock]
pattern = "stock:{{sku:slug}}"
value = "uint"
ttl = "none"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
stock = "old:stock:{{sku}}"
"#
            ));
            let schema = schema.schema.expect("a schema without errors");
            let derived = schema.derived(&schema.keys[0]);
            let words: Vec<&str> = derived.into_iter().map(super::Derived::word).collect();
            assert_eq!(words, expected);
        }
    }

    #[test]
    fn only_what_the_store_writes_has_derived_keys() {
        let schema = read(
            r#"
version = 1
[keyspace]
name = "shop"
[keys.price]
pattern = "price:{sku:slug}"
value = "uint"
ttl = "10m"
invalidate = "index"
[keys.stock]
pattern = "stock:{sku:slug}"
value = "uint"
ttl = "none"
[keys.import]
pattern = "import"
lock = {}
ttl = "30s"
[keys.mail]
pattern = "mail"
queue = {}
value = "json"
[keys.alarm]
pattern = "alarm"
type = "stream"
queue = { retain = "1h", dead_letter = "any" }
[keys.label]
pattern = "label"
queue = { dead_letter = "old_label" }
value = "text"
[keys.old_label]
pattern = "label:old"
type = "list"
value = "text"
ttl = "none"
[keys.job]
pattern = "job"
queue = { dead_letter = "any" }
value = "json"
[keys.any]
pattern = "any"
type = "list"
value = "json"
ttl = "none"
[keys.login]
pattern = "login:{user:uint}"
rate_limit = { limit = 10, window = "1m" }
"#,
        )
        .schema
        .expect("a schema without errors");
        let words = |name: &str| {
            let definition = schema.keys.iter().find(|key| *key.name == name).expect("it is there");
            schema.derived(definition).into_iter().map(super::Derived::word).collect::<Vec<_>>()
        };
        assert_eq!(words("price"), ["lease", "index"]);
        assert_eq!(words("import"), ["fence"]);
        assert_eq!(words("mail"), ["jobs", "taken", "leases", "due", "ready"]);
        assert_eq!(words("alarm"), ["jobs", "leases", "due", "ready", "done"]);
        // Dead letters that are values cannot say why a job failed, and any JSON can.
        assert_eq!(words("old_label"), ["letters"]);
        for name in ["stock", "login", "any"] {
            assert!(words(name).is_empty(), "{name}");
        }
    }
}
