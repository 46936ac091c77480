//! Several sources as one.

use crate::report::{BytesKind, Sample, Server, Source, SourceKind, Unread};

impl Source {
    /// What is true of all of these.
    pub(super) fn of(sources: &[Source]) -> Source {
        let same = |of: fn(&Source) -> &Option<String>| {
            let mut all = sources.iter().map(of);
            let first = all.next().cloned().flatten();
            first.filter(|first| all.all(|it| it.as_ref() == Some(first)))
        };
        let mut names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let mut shards: Vec<_> = sources.iter().flat_map(|source| source.shards.clone()).collect();
        shards.sort();
        let mut source = Source {
            kind: sources.iter().map(|source| source.kind).min().unwrap_or(SourceKind::Rdb),
            name: names.join(", "),
            server: Server {
                family: same(|source| &source.server.family),
                version: same(|source| &source.server.version),
            },
            bytes: sources.first().map_or(BytesKind::Unknown, |source| source.bytes),
            checked: sources.iter().all(|source| source.checked),
            clock: sources.iter().map(|source| source.clock.clone()).max().unwrap_or_default(),
            complete: !sources.is_empty() && sources.iter().all(|source| source.complete),
            narrowed: sources.iter().find_map(|source| source.narrowed.clone()),
            keys_unread: sources.iter().any(|source| source.keys_unread),
            values_unread: sources.iter().filter_map(|it| it.values_unread).reduce(Unread::and),
            sample: sources.iter().filter_map(|source| source.sample).reduce(wider),
            shards,
            notes: Vec::new(),
        };
        sources.iter().flat_map(|it| &it.notes).for_each(|note| source.note(note));
        if sources.iter().any(|it| it.kind != source.kind) {
            source.note("the shards were not all read in the same way");
        }
        source
    }
}

/// The sample whose shares may be off by more.
fn wider(one: Sample, other: Sample) -> Sample {
    if one.error < other.error { other } else { one }
}
