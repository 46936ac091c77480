//! The keys that Keyward's store writes beside a definition's own.

use super::{Definition, Invalidate, Lifecycle, Role};
use crate::span::Spanned;
use keyward_fact::Duration;

/// A key that the store writes beside its owner's, for a cache or its invalidation.
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
    Due,
}

impl Derived {
    /// The word in the key: `xc:~lease:{xc:file:7:meta}`.
    pub fn word(self) -> &'static str {
        match self {
            Derived::Lease => "lease",
            Derived::Index => "index",
            Derived::Stale => "stale",
            Derived::Nothing => "none",
            Derived::Due => "due",
        }
    }

    /// How long it may live; `None` if it may live for ever.
    pub fn longest(self, definition: &Definition) -> Option<Duration> {
        /// How long a load may take where the schema gives no `load_lock`
        const LOAD: Duration = Duration::from_millis(10_000);
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
            Derived::Due => past(Duration::ZERO),
        }
    }
}

impl Definition {
    /// The derived keys that this definition may have: the one answer for documentation, audit and
    /// ACLs.
    ///
    /// `invalidate = "index"` has its index. A cache entry that is loaded has the lease of whoever loads
    /// it, a copy that outlives it with `stale_if_error`, and marks with `negative_ttl` and for an event that
    /// refreshes it.
    pub fn derived(&self) -> Vec<Derived> {
        let mut derived = Vec::new();
        let is_stored =
            matches!(self.role.as_deref(), None | Some(Role::Flag(_) | Role::Ranking(_)));
        if is_stored && self.lifecycle == Lifecycle::Cache {
            derived.push(Derived::Lease);
            derived.extend(self.cache.stale_if_error.as_ref().map(|_| Derived::Stale));
            derived.extend(self.cache.negative_ttl.as_ref().map(|_| Derived::Nothing));
            derived.extend(self.refreshed.then_some(Derived::Due));
        }
        if self.invalidate.as_ref().is_some_and(|how| how.value == Invalidate::Index) {
            derived.push(Derived::Index);
        }
        derived
    }
}

#[cfg(test)]
mod tests {
    use crate::read;

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
[keys.login]
pattern = "login:{user:uint}"
rate_limit = { limit = 10, window = "1m" }
"#,
        )
        .schema
        .expect("a schema without errors");
        let words = |name: &str| {
            let definition = schema.keys.iter().find(|key| *key.name == name).expect("it is there");
            definition.derived().into_iter().map(super::Derived::word).collect::<Vec<_>>()
        };
        assert_eq!(words("price"), ["lease", "index"]);
        for name in ["stock", "import", "mail", "login"] {
            assert!(words(name).is_empty(), "{name}");
        }
    }
}
