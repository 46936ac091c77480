//! Events: exact keys first, then those that an index knows, then what only a search can find.

use super::core::Core;
use super::error::Error;
use super::lua::{Lua, lua};
use super::measure;
use super::missed::{Outstanding, Sending, What};
use super::names::course;
use super::names::{Names, former};
use super::pipeline::in_rounds;
use super::request::{Answers, Calls};
use super::scan;
use crate::generated::{Search, glob_of, known};
use crate::{Definition, Event, Key, Keyspace, Prefix};
use futures_util::future::join;
use keyward_pattern::{Glob, derived, escape_glob, owner_of};
use redis::Value;
use std::collections::HashSet;
use std::sync::Arc;

static REFRESH: Lua = lua!("lua/refresh.lua");

/// What may stand beside a key.
pub(super) const BESIDE: [&str; 4] = ["lease", "stale", "none", "refresh"];

/// What an event has removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Invalidated {
    /// How many keys were there and are gone
    pub removed: u64,
    /// How many keys were there and are served until they are loaded again
    pub refreshed: u64,
    /// How many keys were known in full
    pub exact: usize,
    /// How many times others were looked up in an index
    pub indexed: usize,
    /// How many times others were looked for among all keys
    pub searched: usize,
    /// Whether the server could not be asked. What is invalid is remembered, and removed before this
    /// process reads anything from the server again
    pub postponed: bool,
}

/// The indexes that must know of a key.
pub(super) fn indexes_of<K: Key>(
    key: &K,
    prefix: &<K::Keyspace as Keyspace>::Prefix,
    names: &Names,
) -> Vec<String> {
    let indexes = K::DEFINITION.behaviour.indexes;
    if indexes.is_empty() {
        return Vec::new();
    }
    let mut values = Spelled(Vec::with_capacity(K::DEFINITION.params.len()));
    key.visit(&mut values);
    let index = |bound: &&[usize]| {
        let spelled = values.0.iter().enumerate();
        let spelled: Vec<Option<String>> =
            spelled.map(|(at, value)| bound.contains(&at).then(|| value.clone())).collect();
        derived(names.prefix(), &glob_of(K::DEFINITION, prefix, &spelled), "index")
    };
    indexes.iter().filter_map(index).collect()
}

/// The values of a key as they stand in it.
struct Spelled(Vec<String>);

impl crate::generated::Visitor for Spelled {
    fn literal(&mut self, _: &'static str) {}

    fn param(&mut self, value: &impl crate::ParamValue) {
        self.0.extend(known(value).map(|(spelled, _)| spelled));
    }
}

/// What becomes of a key that an event names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Removed,
    /// Served until somebody has loaded it again
    Refreshed,
}

impl Fate {
    fn of<E: Event>(definition: &Definition) -> Self {
        if E::REFRESHES.contains(&definition.number) { Fate::Refreshed } else { Fate::Removed }
    }

    /// What is sent about a key. One that has several names is removed: no mark would be under all of them.
    fn calls(self, names: &Names, indexes: &[String], cluster: bool) -> Calls {
        let beside = ["lease", "none", "refresh"].map(|word| names.derived(word));
        if let (Fate::Refreshed, [Some(lease), Some(none), Some(due)], true) =
            (self, &beside, names.others.is_empty())
        {
            return Calls::one(REFRESH.call(&[names.name.as_str(), lease, none, due], |_| {}));
        }
        course::forget(names, &[], indexes, cluster)
    }
}

/// How many keys there were, by what became of them.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    removed: u64,
    refreshed: u64,
}

impl Count {
    fn note(&mut self, fate: Fate, there: bool) {
        match fate {
            Fate::Removed => self.removed += u64::from(there),
            Fate::Refreshed => self.refreshed += u64::from(there),
        }
    }
}

/// Does what an event says.
pub(super) async fn emit<E: Event>(
    core: &Core,
    event: &E,
    prefix: &<E::Keyspace as Keyspace>::Prefix,
) -> Result<Invalidated, Error> {
    if let Some(definition) = E::Keyspace::DEFINITIONS.first() {
        core.suits(definition)?;
    }
    core.link.announced.learn(E::Keyspace::ANNOUNCEMENT);
    let keys = event.keys();
    let fates: Vec<Fate> = keys.iter().map(|key| Fate::of::<E>(key.definition())).collect();
    let names: Vec<Names> = keys.iter().map(|key| Names::of(key, prefix)).collect();
    let searches = event.searches_with_prefix(prefix);
    let indexed = searches.iter().filter(|it| !it.definition.behaviour.indexes.is_empty()).count();
    let mut done = Invalidated {
        exact: names.len(),
        indexed,
        searched: searches.len() - indexed,
        ..Invalidated::default()
    };
    let counted = match core.settle().await {
        Ok(()) => apply::<E>(core, &names, &fates, &searches, prefix).await,
        Err(error) => Err(error),
    };
    if let Err(error) = &counted {
        let labels = [("event", E::NAME), ("kind", error.kind())];
        measure::count("keyward_invalidation_errors_total", 1, &labels);
    }
    match counted {
        Ok(count) => (done.removed, done.refreshed) = (count.removed, count.refreshed),
        Err(error) if error.is_unavailable() => {
            let missed = outstanding::<E::Keyspace>(names.clone(), searches.clone(), prefix);
            let first = core.missed.is_empty();
            if !core.missed.add(missed) {
                return Err(error);
            }
            done.postponed = true;
            // An outage is worth one line, however much happens meanwhile.
            if first {
                tracing::warn!(
                    target: "keyward", event = E::NAME, %error, "invalidations are postponed"
                );
            } else {
                tracing::debug!(target: "keyward", event = E::NAME, "an invalidation is postponed");
            }
        }
        Err(error) => return Err(error),
    }
    // What this process holds, and what it was loading meanwhile, may be old.
    forget_here(core, &names, &searches);
    measure::count("keyward_invalidations_total", 1, &[("event", E::NAME)]);
    measure::count("keyward_invalidated_keys_total", done.removed, &[("event", E::NAME)]);
    Ok(done)
}

fn forget_here(core: &Core, names: &[Names], searches: &[Search]) {
    let exact: HashSet<&str> = names.iter().flat_map(Names::all).collect();
    for name in &exact {
        core.l1.remove(name);
    }
    let globs: Vec<Glob> = searches.iter().map(|search| Glob::new(&search.glob)).collect();
    let is_old =
        |key: &str| exact.contains(key) || globs.iter().any(|glob| glob.matches(key.as_bytes()));
    if !globs.is_empty() {
        core.l1.remove_if(is_old);
    }
    core.flights.forget(is_old);
}

/// Removes or refreshes exact keys and what searches find; how many there were.
async fn apply<E: Event>(
    core: &Core,
    names: &[Names],
    fates: &[Fate],
    searches: &[Search],
    prefix: &<E::Keyspace as Keyspace>::Prefix,
) -> Result<Count, Error> {
    let mut count = Count::default();
    let of =
        |names: &[Names]| names.iter().zip(fates).map(|(it, fate)| (it.clone(), *fate)).collect();
    end_all(core, of(names), &[], &mut count).await?;
    for search in searches {
        let fate = Fate::of::<E>(search.definition);
        resolve_as::<E::Keyspace>(core, search, prefix, fate, &mut count).await?;
    }
    Ok(count)
}

/// Removes these keys under all their names.
pub(super) async fn forget_all(core: &Core, names: &[Names]) -> Result<(), Error> {
    let names = names.iter().map(|it| (it.clone(), Fate::Removed)).collect();
    end_all(core, names, &[], &mut Count::default()).await
}

/// Removes or refreshes these keys under all their names.
async fn end_all(
    core: &Core,
    names: Vec<(Names, Fate)>,
    indexes: &[String],
    count: &mut Count,
) -> Result<(), Error> {
    let cluster = core.is_cluster();
    let calls = names.iter().map(|(it, fate)| fate.calls(it, indexes, cluster)).collect();
    for ((_, fate), answers) in names.iter().zip(in_rounds(core, calls).await?) {
        // A key is one key, however many names it has.
        count.note(*fate, was_there(&answers?));
    }
    Ok(())
}

/// Whether a key was there that was removed.
pub(super) fn was_there(answers: &Answers) -> bool {
    let first = match &answers.first {
        Value::Array(parts) => parts.first(),
        answer => Some(answer),
    };
    first.into_iter().chain(&answers.rest).any(|answer| *answer == Value::Int(1))
}

/// Removes or refreshes what one search finds.
async fn resolve_as<S: Keyspace>(
    core: &Core,
    search: &Search,
    prefix: &S::Prefix,
    fate: Fate,
    count: &mut Count,
) -> Result<(), Error> {
    let mut start = String::new();
    prefix.write(&mut start);
    if search.definition.behaviour.indexes.is_empty() {
        by_scan::<S>(core, search, prefix, fate, count).await?;
    } else {
        by_index::<S>(core, search, prefix, fate, count).await?;
    }
    let known = crate::former::of::<S>(search.definition).map(|(_, it)| it);
    for it in known.chain(crate::former::converted::<S>(search.definition)) {
        // A program that does not know the new name yet writes only the old one, and no index.
        let Some(glob) = crate::former::glob::<S>(it.parts, prefix, &search.values) else {
            continue;
        };
        let meant = |name: &str| former::meant::<S>(search, prefix, name);
        let mut found = scan::Scan::new(core, format!("*{glob}*"));
        let mut page = found.next().await?;
        while let Some(keys) = page {
            let keys = keys.iter().filter_map(|key| std::str::from_utf8(key).ok());
            let keys = keys
                .filter_map(|key| meant(key).or_else(|| meant(owner_of(&start, key)?.0)))
                .map(|key| Names::of(&key, prefix));
            let ending = end_all(core, once_each(keys.collect(), Fate::Removed), &[], count);
            page = beside(ending, &mut found).await?;
        }
    }
    Ok(())
}

/// Each key once, however many of its names and of what stands beside them were found.
fn once_each(mut names: Vec<Names>, fate: Fate) -> Vec<(Names, Fate)> {
    names.sort_by(|a, b| a.name.cmp(&b.name));
    names.dedup_by(|a, b| a.name == b.name);
    names.into_iter().map(|it| (it, fate)).collect()
}

/// Whether a key is one that a search means.
fn meant<S: Keyspace>(search: &Search, prefix: &S::Prefix, key: &[u8]) -> Option<S> {
    let (behind, key) = crate::generated::parse::<S>(key)?;
    (behind == *prefix && former::is_meant(search, &key)).then_some(key)
}

/// Removes the keys that a scan finds, and what was derived from others that are not there: leases of those
/// who are about to fill them, copies that outlived them. All of these begin with the prefix and contain the
/// rest of the key, so that one scan finds both.
async fn by_scan<S: Keyspace>(
    core: &Core,
    search: &Search,
    prefix: &S::Prefix,
    fate: Fate,
    count: &mut Count,
) -> Result<(), Error> {
    let mut start = String::new();
    prefix.write(&mut start);
    let mut begin = String::new();
    escape_glob(&start, &mut begin);
    let rest = search.glob.strip_prefix(&begin).unwrap_or(&search.glob);
    let mut found = scan::Scan::new(core, format!("{begin}*{rest}*"));
    let mut page = found.next().await?;
    while let Some(keys) = page {
        // What is derived from a key goes with it in one step: a fill finds its lease, or comes too late.
        let owners = keys.iter().filter_map(|key| {
            meant::<S>(search, prefix, key).or_else(|| {
                let (owner, _) = owner_of(&start, std::str::from_utf8(key).ok()?)?;
                meant::<S>(search, prefix, owner.as_bytes())
            })
        });
        let names = owners.map(|key| Names::of(&key, prefix)).collect();
        let ending = end_all(core, once_each(names, fate), &[], count);
        page = beside(ending, &mut found).await?;
    }
    Ok(())
}

/// The next keys that a scan finds, which are looked for while others are removed.
async fn beside(
    ending: impl Future<Output = Result<(), Error>>,
    found: &mut scan::Scan<'_>,
) -> Result<Option<Vec<Vec<u8>>>, Error> {
    let (ended, page) = join(ending, found.next()).await;
    ended?;
    page
}

/// Removes the keys that an index knows.
async fn by_index<S: Keyspace>(
    core: &Core,
    search: &Search,
    prefix: &S::Prefix,
    fate: Fate,
    count: &mut Count,
) -> Result<(), Error> {
    let mut start = String::new();
    prefix.write(&mut start);
    let Some(index) = derived(&start, &search.glob, "index") else { return Ok(()) };
    let mut cursor = 0u64;
    loop {
        let mut cmd = redis::cmd("ZSCAN");
        cmd.arg(&index).arg(cursor).arg("COUNT").arg(1000);
        let answer = core.ask(&cmd).await?;
        let (next, members): (u64, Vec<(Vec<u8>, f64)>) = redis::from_redis_value(answer)
            .map_err(|_| Error::Unavailable("the answer to ZSCAN cannot be understood".into()))?;
        let keys = members.iter().filter_map(|(key, _)| meant::<S>(search, prefix, key));
        let names = keys.map(|key| (Names::of(&key, prefix), fate)).collect();
        end_all(core, names, std::slice::from_ref(&index), count).await?;
        cursor = next;
        if cursor == 0 {
            return Ok(());
        }
    }
}

/// What could not be sent, to be sent later: then all of it is removed, since it may be old for long.
fn outstanding<S: Keyspace>(
    names: Vec<Names>,
    searches: Vec<Search>,
    prefix: &S::Prefix,
) -> Vec<Outstanding> {
    let names = names
        .into_iter()
        .map(|names| Outstanding { id: names.own().to_owned(), what: What::Key(names) });
    let searches = searches.into_iter().map(|search| {
        let definition = search.definition;
        let id = format!("{}\n{}\n{:?}", search.glob, definition.name, search.values);
        let scans = definition.behaviour.indexes.is_empty()
            || !definition.former.is_empty()
            || crate::former::converted::<S>(definition).next().is_some();
        let prefix = prefix.clone();
        let sending: Arc<Sending> = Arc::new(move |core: &Core| {
            let (search, prefix) = (search.clone(), prefix.clone());
            Box::pin(async move {
                let count = &mut Count::default();
                resolve_as::<S>(core, &search, &prefix, Fate::Removed, count).await
            })
        });
        let what = if scans { What::Scan(definition.name, sending) } else { What::Index(sending) };
        Outstanding { id, what }
    });
    names.chain(searches).collect()
}
