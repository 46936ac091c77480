//! `/s/{server}/server`: what the server says about itself, and whether its settings are those of the schema.

use super::charts::{self, Asked};
use super::frame::{At, Visit, answer};
use super::words::{
    Moment, Number, UNKNOWN, ago, counted, micros, number_if_known, seconds, size, size_if_known,
};
use crate::info::{NodeInfo, Slow};
use axum::extract::{Path, Query};
use axum::response::Response;
use keyward_fact::thousands;
use keyward_page::{per_cent, percent, share};
use minijinja::context;
use serde::Serialize;
use std::collections::BTreeMap;

/// Rows of a table of commands.
const MOST: usize = 15;

pub(super) async fn page(
    visit: Visit,
    Path(server): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    answer(visit, server, move |at| {
        let words = at.known.words(at);
        let settings = words.and_then(|it| it.page.get_attr("settings").ok());
        let info = at.current.info.clone();
        let nodes = info.as_ref().map(|it| it.nodes.as_slice()).unwrap_or_default();
        let nodes: Vec<Node> = nodes.iter().map(|it| Node::new(at, it)).collect();
        let page = context! {
            settings => settings,
            nodes => nodes,
            away => info.as_ref().map(|it| it.away.clone()).unwrap_or_default(),
            charts => charts::server(at, &asked),
            ranges => asked.ranges(&format!("{}/server", at.base)),
        };
        at.page("server.html", "/server", "Server", page)
    })
    .await
}

#[derive(Debug, Serialize)]
struct Node {
    name: String,
    facts: Vec<String>,
    numbers: Vec<Number>,
    databases: Vec<(String, String, String)>,
    replicas: Vec<(String, String, String, String)>,
    latency: Vec<(String, String, String, String)>,
    commands: Vec<(String, String, String, String)>,
    slow: Vec<SlowRow>,
    denied: Vec<String>,
}

/// Slow commands of one kind, on keys of one definition.
#[derive(Debug, Serialize)]
struct SlowRow {
    definition: String,
    href: Option<String>,
    command: String,
    count: String,
    longest: String,
    last: String,
    key: Option<String>,
}

impl Node {
    fn new(at: &At<'_>, node: &NodeInfo) -> Self {
        let family = match node.family.as_deref() {
            Some("valkey") => "Valkey",
            _ => "Redis",
        };
        let version = node.version.as_ref().map(|it| format!("{family} {it}"));
        let uptime = node.uptime.map(|it| format!("up for {}", seconds(it)));
        let second = |at: u64| Moment::new(at.saturating_mul(1000)).text;
        let facts = [version, node.role.clone(), uptime, node.maxmemory_policy.clone()];
        Node {
            name: node.name.clone(),
            facts: facts.into_iter().flatten().collect(),
            numbers: numbers(at, node),
            databases: (node.databases.iter())
                .map(|(name, it)| (name.clone(), thousands(it.keys), thousands(it.expires)))
                .collect(),
            replicas: (node.replicas.iter())
                .map(|it| {
                    let lag = it.lag.map_or_else(|| UNKNOWN.to_owned(), seconds);
                    (it.address.clone(), it.state.clone(), lag, size_if_known(it.behind))
                })
                .collect(),
            latency: (node.latency.iter())
                .map(|it| {
                    let [last, max] = [it.millis, it.max].map(|it| format!("{} ms", thousands(it)));
                    (it.event.clone(), last, max, second(it.at))
                })
                .collect(),
            commands: (node.commands.iter().take(MOST))
                .map(|it| {
                    let average = match it.average {
                        few if few < 1000.0 => format!("{few:.1} µs"),
                        _ => micros(it.micros / it.calls.max(1)),
                    };
                    (it.command.clone(), thousands(it.calls), average, micros(it.micros))
                })
                .collect(),
            slow: slow(at, &node.slow),
            denied: node.denied.clone(),
        }
    }
}

fn numbers(at: &At<'_>, node: &NodeInfo) -> Vec<Number> {
    let number =
        |label, value: String, more: String| Number { label, value, more, ..Number::default() };
    let rate = |rate: Option<f64>| rate.map_or_else(String::new, |it| format!("{it:.1} a second"));
    let bound = node.maxmemory.filter(|it| *it > 0);
    let part = node.used_memory.zip(bound).map(|(used, bound)| share(used, bound));
    let clients = match (node.maxclients, node.blocked) {
        (Some(most), Some(blocked)) => {
            format!("of {}; {} blocked", thousands(most), thousands(blocked))
        }
        (Some(most), None) => format!("of {}", thousands(most)),
        _ => String::new(),
    };
    let fragmentation =
        node.fragmentation.map_or_else(|| UNKNOWN.to_owned(), |it| format!("{it:.2}"));
    let mut numbers = vec![
        Number {
            label: "Memory",
            value: size_if_known(node.used_memory),
            more: match (bound, part) {
                (Some(bound), Some(part)) => format!("{} of {}", percent(part), size(bound)),
                _ => "no bound is set".to_owned(),
            },
            tone: part.map_or("", |it| if it >= 0.9 { "bad" } else { "" }),
            href: String::new(),
            bar: part.map(per_cent),
        },
        number("Commands a second", number_if_known(node.ops), String::new()),
        number(
            "Hit rate",
            node.hit_rate.map_or_else(|| UNKNOWN.to_owned(), percent),
            node.hits.zip(node.misses).map_or_else(String::new, |(hits, misses)| {
                format!("{} hits, {} misses since the start", thousands(hits), thousands(misses))
            }),
        ),
        Number {
            tone: if node.evicted_rate.is_some_and(|it| it > 0.0) { "mild" } else { "" },
            ..number("Evicted", number_if_known(node.evicted), rate(node.evicted_rate))
        },
        number("Expired", number_if_known(node.expired), rate(node.expired_rate)),
        number("Clients", number_if_known(node.clients), clients),
        Number {
            tone: if node.fragmentation.is_some_and(|it| it > 1.5) { "mild" } else { "" },
            ..number(
                "Fragmentation",
                fragmentation,
                "memory of the process over memory in use".to_owned(),
            )
        },
    ];
    numbers.push(snapshot(at, node));
    numbers
}

/// How old the last snapshot is, against what `save` asks for.
fn snapshot(at: &At<'_>, node: &NodeInfo) -> Number {
    let kept = &node.persistence;
    let aof = match kept.aof {
        Some(true) => "append-only file on",
        Some(false) => "append-only file off",
        None => "",
    };
    let save = kept.save.as_deref().map(str::trim);
    let (value, more) = match (kept.last_save, save) {
        (_, Some("")) => ("off".to_owned(), aof.to_owned()),
        (Some(last), _) => {
            let late = kept.late(at.now / 1000).map(|it| format!("late by {}", seconds(it)));
            let changes = kept.changes.map(|it| counted(it, "write") + " since");
            let words = [late, changes, Some(aof.to_owned())].into_iter().flatten();
            let words: Vec<String> = words.filter(|it| !it.is_empty()).collect();
            (ago(last.saturating_mul(1000), at.now), words.join("; "))
        }
        _ => (UNKNOWN.to_owned(), aof.to_owned()),
    };
    let failed = kept.last_ok == Some(false) || kept.aof_ok == Some(false);
    let late = kept.late(at.now / 1000).is_some();
    let tone = if failed || late { "bad" } else { "" };
    let more = if failed { format!("the last write failed; {more}") } else { more };
    Number { label: "Last snapshot", value, more, tone, ..Number::default() }
}

/// By definition and command, those that took the longest first.
fn slow(at: &At<'_>, slow: &[Slow]) -> Vec<SlowRow> {
    type Kind<'s> = (Option<(&'s str, &'s str)>, &'s str);
    let mut kinds: BTreeMap<Kind<'_>, Vec<&Slow>> = BTreeMap::new();
    for it in slow {
        let definition = it.schema.as_deref().zip(it.definition.as_deref());
        kinds.entry((definition, &it.command)).or_default().push(it);
    }
    let longest = |all: &[&Slow]| all.iter().map(|it| it.micros).max().unwrap_or(0);
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, all)| std::cmp::Reverse(longest(all)));
    let row = |((definition, command), all): (_, Vec<&Slow>)| {
        let definition: Option<(&str, &str)> = definition;
        let worst = all.iter().max_by_key(|it| it.micros);
        let last = all.iter().map(|it| it.at).max().unwrap_or(0);
        SlowRow {
            definition: definition.map(|(_, name)| name.to_owned()).unwrap_or_default(),
            href: definition.map(|(schema, name)| at.definition(schema, name)),
            command: String::from(command),
            count: thousands(all.len() as u64),
            longest: micros(longest(&all)),
            last: Moment::new(last.saturating_mul(1000)).text,
            key: worst.and_then(|it| it.key.clone()),
        }
    };
    kinds.into_iter().take(MOST).map(row).collect()
}
