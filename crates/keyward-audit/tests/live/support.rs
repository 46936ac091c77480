//! An observer that keeps all it is told, and servers with something in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyward_audit::Observer;
use keyward_audit::live::{self, Ended, Error, Options, Seen, Shard};
use keyward_fact::{Element, Encoding, Fact, Show};
use keyward_testkit::{Cluster, Server};

/// Keeps every key, and calls somebody when it was told of so many.
#[derive(Clone, Default)]
pub(crate) struct Everything {
    /// By database and name; a name that was told twice is there once, but counted
    pub(crate) keys: BTreeMap<(u64, String), Told>,
    pub(crate) count: usize,
    show: Option<usize>,
    at: Option<(usize, Arc<dyn Fn() + Send + Sync>)>,
    elements: Vec<String>,
}

/// What was seen of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Observed {
    pub(crate) encoding: Option<Encoding>,
    pub(crate) length: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) whole: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) key_type: String,
    pub(crate) ttl: Option<u64>,
    pub(crate) idle: Option<u64>,
    pub(crate) freq: Option<u8>,
    pub(crate) observed: Observed,
    pub(crate) elements: Vec<String>,
}

impl Everything {
    /// Asks for so many bytes of each element.
    pub(crate) fn showing(limit: usize) -> Self {
        Everything { show: Some(limit), ..Everything::default() }
    }

    /// Calls somebody when it was told of so many keys.
    pub(crate) fn calling(count: usize, hook: &Arc<dyn Fn() + Send + Sync>) -> Self {
        Everything { at: Some((count, Arc::clone(hook))), ..Everything::default() }
    }

    /// Calls somebody else when it was told of so many more keys.
    pub(crate) fn then_calling(mut self, more: usize, hook: &Arc<dyn Fn() + Send + Sync>) -> Self {
        self.at = Some((self.count + more, Arc::clone(hook)));
        self
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.keys.keys().map(|(_, name)| name.as_str()).collect()
    }

    pub(crate) fn get(&self, name: &str) -> &Told {
        &self.keys[&(0, name.to_owned())]
    }
}

impl Observer for Everything {
    fn wants(&self, _: &Fact<'_>) -> Show {
        self.show.map_or(Show::NOTHING, Show::up_to)
    }

    fn begin(&mut self, fact: &Fact<'_>) -> Show {
        self.elements.clear();
        self.wants(fact)
    }

    fn element(&mut self, element: &Element<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.elements.push(match element {
            Element::Text(excerpt) => format!("{} of {}", text(excerpt.bytes), excerpt.len),
            Element::Field { name, value, .. } => {
                format!("{} = {}", text(name.bytes), text(value.bytes))
            }
            Element::Item(excerpt) | Element::Member(excerpt) => text(excerpt.bytes),
            Element::Scored { member, score } => format!("{} at {score}", text(member.bytes)),
            other => format!("{other:?}"),
        });
    }

    fn end(&mut self, fact: &Fact<'_>) {
        let Fact { encoding, length, bytes, whole, .. } = *fact;
        let told = Told {
            key_type: fact.key_type.to_string(),
            ttl: fact.expires_at,
            idle: fact.idle,
            freq: fact.freq,
            observed: Observed { encoding, length, bytes, whole },
            elements: std::mem::take(&mut self.elements),
        };
        self.keys.insert((fact.db, String::from_utf8_lossy(fact.key).into_owned()), told);
        self.count += 1;
        if let Some((count, hook)) = &self.at
            && *count == self.count
        {
            hook();
        }
    }
}

/// Without the bound, so that tests are quick.
pub(crate) fn quick() -> Options {
    let mut options = Options::default();
    options.bound = None;
    options
}

/// Reads all, with an observer for each shard.
#[track_caller]
pub(crate) fn read(
    url: &str,
    options: &Options,
    make: impl Fn(&Shard) -> Everything + Sync,
) -> Seen<Everything> {
    match live::observe(url, options, make).and_then(Ended::whole) {
        Ok(seen) => seen,
        Err(error) => panic!("{error}"),
    }
}

/// Reads all of one server.
#[track_caller]
pub(crate) fn read_one(url: &str, options: &Options) -> (Seen<()>, Everything) {
    let mut seen = read(url, options, |_| Everything::default());
    assert_eq!(seen.shards.len(), 1);
    let (shard, told) = seen.shards.remove(0);
    let Seen { name, clock, bytes, sample, notes, .. } = seen;
    (Seen { name, clock, bytes, sample, shards: vec![(shard, ())], notes }, told)
}

/// The error of a reading that must fail.
#[track_caller]
pub(crate) fn fail(url: &str, options: &Options) -> Error {
    match live::observe(url, options, |_| Everything::default()).and_then(Ended::whole) {
        Ok(seen) => panic!("it was read: {:?}", seen.notes),
        Err(error) => error,
    }
}

/// As a person sees it, with ports out of the way.
pub(crate) fn shown(error: &Error, server: &Server) -> String {
    plain(&format!("error: {error}\nhelp: {}", error.help()), &[server])
}

/// Without what differs from run to run.
pub(crate) fn plain(text: &str, servers: &[&Server]) -> String {
    let mut text = text.to_owned();
    for (number, server) in servers.iter().enumerate() {
        text = text.replace(&server.address(), &format!("<server {number}>"));
        text = text.replace(&server.socket().display().to_string(), "<socket>");
    }
    text
}

/// Fills a server with so many small strings, and gives their names in order.
pub(crate) fn fill(server: &Server, count: usize) -> Vec<String> {
    let mut names: Vec<String> = (0..count).map(|number| format!("key:{number}")).collect();
    let commands: Vec<Vec<&str>> = names.iter().map(|name| vec!["SET", name, "value"]).collect();
    server.connect().pipeline(&commands).expect("the server takes keys");
    names.sort();
    names
}

/// Fills a cluster with so many small strings, and gives their names in order.
pub(crate) fn fill_cluster(cluster: &Cluster, count: usize) -> Vec<String> {
    let mut names: Vec<String> = (0..count).map(|number| format!("key:{number}")).collect();
    for primary in cluster.primaries() {
        let commands: Vec<Vec<&str>> =
            names.iter().map(|name| vec!["SET", name, "value"]).collect();
        // What is another's is refused by each but one.
        primary.connect().pipeline(&commands).expect("the server takes keys");
    }
    names.sort();
    names
}
