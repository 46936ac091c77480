//! A report of a media gateway's Redis, made by hand: something of everything that a report can say.

use keyward_audit::report::*;
use std::collections::BTreeMap;

const BOUNDS: [u64; 8] = [60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000];

/// The report.
pub(crate) fn report() -> Report {
    let definitions = definitions();
    let unknown = unknown();
    let foreign = vec![
        Foreign {
            schema: "media-gateway".to_owned(),
            name: "bullmq".to_owned(),
            glob: "bull:*".to_owned(),
            keys: 18_204,
            bytes: 9_412_608,
        },
        Foreign {
            schema: "media-gateway".to_owned(),
            name: "spring_session".to_owned(),
            glob: "spring:session:*".to_owned(),
            keys: 2_310,
            bytes: 1_182_720,
        },
    ];
    let sum = |counts: &mut dyn Iterator<Item = (u64, u64)>| {
        counts.fold(Count::default(), |all, (keys, bytes)| Count {
            keys: all.keys + keys,
            bytes: all.bytes + bytes,
        })
    };
    let below = |it: &Definition| {
        let old =
            it.old_names.iter().fold((0, 0), |all, old| (all.0 + old.keys, all.1 + old.bytes));
        (it.facts.keys + it.derived.keys + old.0, it.facts.bytes + it.derived.bytes + old.1)
    };
    let defined = sum(&mut definitions.iter().map(below));
    let unknown_count = sum(&mut unknown.iter().map(|it| (it.facts.keys, it.facts.bytes)));
    let foreign_count = sum(&mut foreign.iter().map(|it| (it.keys, it.bytes)));
    let bytes = defined.bytes + unknown_count.bytes + foreign_count.bytes;
    let judged = defined.keys + unknown_count.keys;
    let compliant = defined.keys - 12_404 - 8_021 - 3_310 - 2_204;
    let mut report = Report {
        version: VERSION,
        keyward: "0.1.0".to_owned(),
        created_at: "2026-11-15T10:14:02Z".to_owned(),
        source: source(defined.keys + unknown_count.keys + foreign_count.keys),
        schemas: vec![SchemaInfo {
            name: "media-gateway".to_owned(),
            path: Some("examples/media-gateway/keyward.toml".to_owned()),
            definitions: definitions.len() as u64,
        }],
        summary: Summary {
            keys: judged + foreign_count.keys,
            bytes,
            compliance: Some(compliant as f64 / judged as f64),
            judged,
            compliant,
            expired: 1_873,
            foreign: foreign_count,
            unknown: unknown_count,
            defined,
        },
        definitions,
        unknown,
        groups: Vec::new(),
        foreign,
        settings: settings(),
        findings: findings(),
        baseline: None,
        state: State::default(),
    };
    for definition in &mut report.definitions {
        definition.facts.share = definition.facts.bytes as f64 / bytes as f64;
    }
    for group in &mut report.unknown {
        group.facts.share = group.facts.bytes as f64 / bytes as f64;
    }
    report
}

/// The same keys without a schema.
pub(crate) fn without_schema() -> Report {
    let mut report = report();
    let group = |it: Definition| Group {
        pattern: it.pattern.replace('{', "<").replace('}', ">"),
        examples: it.facts.biggest.iter().map(|big| big.key.clone()).collect(),
        facts: Facts { ttl: Ttl { declared: None, too_long: 0, ..it.facts.ttl }, ..it.facts },
        nearest: None,
    };
    let with_keys = report.definitions.drain(..).filter(|it| it.facts.keys > 0).map(group);
    report.groups = with_keys.chain(report.unknown.drain(..)).collect();
    report.groups.sort_by_key(|group| std::cmp::Reverse(group.facts.bytes));
    for group in &mut report.groups {
        group.nearest = None;
    }
    report.schemas.clear();
    report.foreign.clear();
    report.settings.clear();
    report.findings.clear();
    report.summary.compliance = None;
    report.summary.unknown = Count::default();
    report.summary.foreign = Count::default();
    report.source.kind = SourceKind::Rdb;
    report.source.name = "dump.rdb".to_owned();
    report.source.bytes = BytesKind::Estimated;
    report.source.shards.clear();
    report.source.notes.clear();
    report
}

/// The keyspace a week later.
pub(crate) fn a_week_later() -> Report {
    let mut report = report();
    report.created_at = "2026-11-22T10:13:40Z".to_owned();
    report.source.clock = report.created_at.clone();
    for definition in &mut report.definitions {
        let (keys, bytes) = match definition.name.as_str() {
            "content_metadata" => (131, 142),
            "active_session" => (104, 104),
            "user_watchlist" => (100, 164),
            "search_results" => (61, 58),
            _ => (100, 100),
        };
        definition.facts.keys = definition.facts.keys * keys / 100;
        definition.facts.bytes = definition.facts.bytes * bytes / 100;
    }
    let flag = report.definitions.iter_mut().find(|it| it.name == "rollout").unwrap();
    flag.facts = facts(12, 1_440, "string", &[("embstr", 12)], "none", &[], 12, (120, 2));
    report.definitions.retain(|it| it.name != "trending");
    report.unknown.remove(0);
    report.unknown.push(group("tmp:import:<int>", 4_021, 2_122_000, "list", None, 4_021));
    report.findings.retain(|it| it.rule != "wrong-type");
    for finding in &mut report.findings {
        if finding.rule == "ttl-missing" {
            finding.count = 31_870;
            finding.share = 0.362;
            finding.message = format!("{}: 31,870 of 88,021 (36.2 %)", finding.what);
        }
    }
    report.findings.push(finding(
        ("unknown-key", Severity::Warning, None, Some("tmp:import:<int>")),
        "no definition has keys like `tmp:import:<int>`",
        (4_021, 200_000, 2_122_000),
        &[],
        &[],
    ));
    let mut summary = Count::default();
    for definition in &report.definitions {
        summary.keys += definition.facts.keys;
        summary.bytes += definition.facts.bytes;
    }
    report.summary.keys = summary.keys + report.summary.unknown.keys;
    report.summary.bytes = summary.bytes + report.summary.unknown.bytes;
    report.summary.compliance = Some(0.941);
    report.settings[1].ok = Some(true);
    report.settings[1].got = Some("noeviction".to_owned());
    report
}

fn source(keys: u64) -> Source {
    Source {
        kind: SourceKind::Scan,
        name: "redis://cache-1.internal:6379".to_owned(),
        server: Server { family: Some("redis".to_owned()), version: Some("7.0.15".to_owned()) },
        bytes: BytesKind::MemoryUsage,
        checked: true,
        clock: "2026-11-15T10:12:44Z".to_owned(),
        complete: true,
        sample: None,
        shards: vec![Shard {
            name: "cache-1.internal:6379".to_owned(),
            keys_seen: keys + 1_873,
            dbsize: Some(keys + 1_861),
            run_id: Some("8f0c".to_owned()),
        }],
        notes: vec![
            "lengths and fields were not looked at: HLEN, LLEN and their kind reset a key's idle time \
             on this allkeys-lru server; `--touch` looks anyway"
                .to_owned(),
            "scanning counts as keyspace hits: `keyspace_hits` rose by about 1,900,000".to_owned(),
        ],
    }
}

fn definitions() -> Vec<Definition> {
    let hash = |big: u64, keys: u64| [("listpack", keys - big), ("hashtable", big)];
    let all = vec![
        definition(
            ("active_session", "session:active:{session_id}", "session", "identity"),
            facts(
                412_004,
                161_505_568,
                "hash",
                &hash(212, 412_004),
                "7d",
                &[0, 0, 1, 4, 60, 340, 7],
                0,
                (392, 3),
            ),
            &[("session_id", "regex", 412_004)],
        ),
        definition(
            ("session_index", "session:user:{user_id}", "session", "identity"),
            facts(
                203_118,
                48_748_320,
                "set",
                &hash(88, 203_118),
                "30d",
                &[0, 0, 0, 1, 9, 60, 120],
                0,
                (240, 4),
            ),
            &[("user_id", "uuid", 203_201)],
        ),
        definition(
            ("content_metadata", "content:meta:{content_id}", "cache", "catalogue"),
            facts(
                184_220,
                218_115_904,
                "hash",
                &hash(61_310, 184_220),
                "1d",
                &[1, 6, 20, 90, 66],
                0,
                (1_184, 24),
            ),
            &[("content_id", "regex", 184_004)],
        ),
        definition(
            ("content_availability", "content:avail:{content_id}:{region}", "cache", "catalogue"),
            facts(
                391_402,
                62_624_320,
                "string",
                &[("embstr", 391_402)],
                "1h",
                &[6, 80, 300, 0, 0, 0, 0, 8],
                0,
                (160, 18),
            ),
            &[("content_id", "regex", 171_902), ("region", "regex", 42)],
        ),
        definition(
            ("search_results", "search:results:{query_hash}", "cache", "catalogue"),
            facts(
                41_870,
                96_301_000,
                "string",
                &[("raw", 41_870)],
                "10m",
                &[8, 33],
                0,
                (2_300, 2_140),
            ),
            &[("query_hash", "hex(64)", 41_620)],
        ),
        definition(
            ("user_watchlist", "user:watchlist:{user_id}", "cache", "audience"),
            facts(
                88_021,
                71_296_000,
                "zset",
                &hash(9_204, 88_021),
                "5m",
                &[14, 60],
                12_404,
                (810, 31),
            ),
            &[("user_id", "uuid", 88_310)],
        ),
        definition(
            ("recommendations", "rec:user:{user_id}:{window}", "cache", "audience"),
            facts(
                120_448,
                55_406_080,
                "list",
                &[("quicklist", 2_204), ("listpack", 118_244)],
                "1h..6h",
                &[0, 10, 44, 66],
                0,
                (460, 20),
            ),
            &[("user_id", "uuid", 60_224), ("window", "1m | 5m | 1h | 1d", 4)],
        ),
        definition(
            ("trending", "rec:trending:{region}", "cache", "audience"),
            facts(42, 1_204_224, "zset", &[("skiplist", 42)], "15m", &[3, 39], 0, (28_672, 400)),
            &[("region", "regex", 42)],
        ),
        definition(
            ("session_blacklist", "session:blacklist:{session_id}", "retained", "identity"),
            facts(
                6_204,
                694_848,
                "string",
                &[("embstr", 6_204)],
                "30d",
                &[0, 0, 0, 0, 1, 2, 3],
                0,
                (112, 20),
            ),
            &[("session_id", "regex", 6_190)],
        ),
        definition(
            ("token_blacklist", "auth:blacklist:{token_jti}", "retained", "identity"),
            facts(
                14_882,
                1_428_672,
                "string",
                &[("embstr", 14_882)],
                "up to 24h",
                &[0, 1, 3, 5, 5],
                0,
                (96, 7),
            ),
            &[("token_jti", "regex", 14_920)],
        ),
        definition(
            ("api_limit", "rate:api:{client}:{window}", "temporary", "identity"),
            facts(
                31_004,
                2_976_384,
                "string",
                &[("int", 31_004)],
                "by window",
                &[25, 4, 2],
                0,
                (96, 8),
            ),
            &[("client", "uuid | ip", 28_110), ("window", "1m | 5m | 1h | 1d", 4)],
        ),
        definition(
            ("job_queue", "queue:jobs:{job_type}", "protected", "platform"),
            facts(9, 5_767_168, "list", &[("quicklist", 9)], "none", &[], 9, (640_000, 3_200)),
            &[("job_type", "regex", 9)],
        ),
        definition(
            ("feature_flag", "feature:flag:{flag_name}", "protected", "platform"),
            facts(118, 21_240, "hash", &[("listpack", 118)], "none", &[], 118, (180, 6)),
            &[("flag_name", "regex", 118)],
        ),
        definition(
            ("rollout", "feature:rollout:{flag_name}", "protected", "platform"),
            facts(0, 0, "string", &[], "none", &[], 0, (1, 1)),
            &[("flag_name", "regex", 0)],
        ),
        definition(
            ("oauth_state", "auth:oauth:{state}", "temporary", "identity"),
            facts(0, 0, "string", &[], "10m", &[], 0, (1, 1)),
            &[("state", "regex", 0)],
        ),
    ];
    all.into_iter().map(with_history).collect()
}

/// Former names, derived keys, idle times and TTLs that are too long, where there are some.
fn with_history(mut definition: Definition) -> Definition {
    match definition.name.as_str() {
        "active_session" => {
            definition.derived = Count { keys: 212, bytes: 20_352 };
            definition.old_names.push(OldName {
                migration: "v2".to_owned(),
                pattern: "sess:{session_id}".to_owned(),
                keys: 3_310,
                bytes: 1_297_520,
            });
        }
        "content_availability" => definition.facts.ttl.too_long = 8_021,
        "search_results" => {
            definition.facts.idle = Some(distribution(41_870, 220, 3));
        }
        "content_metadata" => {
            definition.facts.types.insert("string".to_owned(), 2_204);
            *definition.facts.types.get_mut("hash").unwrap() -= 2_204;
            definition.facts.idle = Some(distribution(184_220, 5_400, 4));
        }
        _ => {}
    }
    definition
}

fn unknown() -> Vec<Group> {
    let nearest = |definition: &str, pattern: &str, why: &str| {
        Some(Nearest {
            schema: "media-gateway".to_owned(),
            definition: definition.to_owned(),
            pattern: pattern.to_owned(),
            why: why.to_owned(),
        })
    };
    vec![
        group(
            "usr:watchlist:<uuid>",
            21_330,
            14_910_000,
            "zset",
            nearest("user_watchlist", "user:watchlist:{user_id}", "segment 1 is `usr`, not `user`"),
            21_330,
        ),
        group("debug:dump:<int>", 812, 9_830_400, "string", None, 812),
        group(
            "rate:api:<ipv6>",
            4_102,
            451_220,
            "string",
            nearest(
                "api_limit",
                "rate:api:{client}:{window}",
                "it has 10 segments, not 4: a raw IPv6 address contains the separator",
            ),
            0,
        ),
        group("<script>alert('key')</script>:<int>", 3, 360, "string", None, 3),
    ]
}

fn settings() -> Vec<Setting> {
    let setting = |name: &str, want: &str, got: Option<&str>, why: &str| Setting {
        schema: "media-gateway".to_owned(),
        name: name.to_owned(),
        want: want.to_owned(),
        got: got.map(str::to_owned),
        ok: got.map(|got| got == want),
        why: why.to_owned(),
    };
    vec![
        setting("maxmemory", "4gb", Some("4gb"), "the bound that the alerts are about"),
        setting(
            "maxmemory-policy",
            "noeviction",
            Some("allkeys-lru"),
            "`session_blacklist`, `token_blacklist` and `job_queue` must not be evicted",
        ),
        setting("appendonly", "yes", Some("yes"), "queues and flags must survive a restart"),
        setting("save", "", None, "INFO does not tell it, and CONFIG is denied"),
    ]
}

fn findings() -> Vec<Finding> {
    vec![
        finding(
            ("ttl-missing", Severity::Error, Some("user_watchlist"), None),
            "`user_watchlist` ends after 5m, but keys have no TTL",
            (12_404, 88_021, 9_923_200),
            &[
                "give them one now: `keyward plan fix --rule ttl-missing`",
                "look for a ZADD without an EXPIRE in what `audience` writes",
            ],
            &[("user:watchlist:<uuid#a3f9>", None), ("user:watchlist:<uuid#07c1>", None)],
        ),
        finding(
            ("ttl-too-long", Severity::Error, Some("content_availability"), None),
            "keys of `content_availability` live longer than 1h",
            (8_021, 391_402, 1_283_360),
            &["look for an EXPIRE in the wrong unit: 3600000 s instead of ms"],
            &[
                ("content:avail:tt0111161:de", Some("TTL 41 d 16 h")),
                ("content:avail:tt0068646:us", Some("TTL 41 d 15 h")),
                ("content:avail:tt0468569:fr", Some("TTL 41 d 15 h")),
                ("content:avail:tt0050083:de", Some("TTL 41 d 12 h")),
            ],
        ),
        finding(
            ("wrong-type", Severity::Error, Some("content_metadata"), None),
            "keys of `content_metadata` are no hash",
            (2_204, 184_220, 2_644_800),
            &["an older release wrote JSON strings; they end with their TTL, or remove them"],
            &[("content:meta:tt0133093", Some("string"))],
        ),
        finding(
            ("server-setting", Severity::Error, None, Some("maxmemory-policy")),
            "`maxmemory-policy` is `allkeys-lru`, not `noeviction`",
            (1, 1, 0),
            &["set it, or declare what is true: 21,095 keys may be evicted that must not be"],
            &[],
        ),
        finding(
            ("unknown-key", Severity::Warning, None, Some("usr:watchlist:<uuid>")),
            "no definition has keys like `usr:watchlist:<uuid>`",
            (21_330, 1_519_589, 14_910_000),
            &["did you mean `user_watchlist`? segment 1 is `usr`, not `user`"],
            &[("usr:watchlist:<uuid#5d11>", None)],
        ),
        finding(
            ("old-name", Severity::Warning, Some("active_session"), Some("sess:{session_id}")),
            "keys of `active_session` still have their former name `sess:{session_id}`",
            (3_310, 415_314, 1_297_520),
            &["migration `v2` is in phase read-fallback; remove them after 2026-12-31"],
            &[("sess:<regex#19ab>", None)],
        ),
        Finding {
            sampled: true,
            ..finding(
                ("dangling-reference", Severity::Warning, Some("session_index"), Some("member")),
                "members of `session_index` name sessions that are gone",
                (118, 2_048, 0),
                &["prune the index when a session ends: `session = { index = … }` does it"],
                &[("session:user:<uuid#88e0>", Some("<regex#41f0>"))],
            )
        },
        finding(
            ("oversized-collection", Severity::Warning, Some("job_queue"), None),
            "keys of `job_queue` have more than 9,999 elements",
            (1, 9, 4_194_304),
            &["see whether its workers are alive"],
            &[("queue:jobs:thumbnail", Some("48,120 elements"))],
        ),
    ]
}

type About<'a> = (&'a str, Severity, Option<&'a str>, Option<&'a str>);

pub(crate) fn finding(
    (rule, severity, definition, subject): About<'_>,
    what: &str,
    (count, of, bytes): (u64, u64, u64),
    help: &[&str],
    examples: &[(&str, Option<&str>)],
) -> Finding {
    let share = count as f64 / of as f64;
    let thousands = keyward_fact::thousands;
    Finding {
        rule: rule.to_owned(),
        severity,
        schema: Some("media-gateway".to_owned()),
        definition: definition.map(str::to_owned),
        subject: subject.map(str::to_owned),
        count,
        of,
        share,
        bytes,
        message: if rule == "server-setting" {
            what.to_owned()
        } else {
            format!("{what}: {} of {} ({:.1} %)", thousands(count), thousands(of), share * 100.0)
        },
        help: help.iter().map(|it| (*it).to_owned()).collect(),
        examples: examples
            .iter()
            .map(|(key, detail)| Example {
                hash: String::new(),
                key: (*key).to_owned(),
                detail: detail.map(str::to_owned),
            })
            .collect(),
        sampled: false,
        change: None,
        what: what.to_owned(),
    }
}

fn definition(
    (name, pattern, lifecycle, owner): (&str, &str, &str, &str),
    mut facts: Facts,
    params: &[(&str, &str, u64)],
) -> Definition {
    let example = pattern.replace('{', "<").replace('}', "#4f9d>");
    facts.biggest = (1..=facts.keys.min(3))
        .map(|number| Big {
            key: example.replace("#4f9d", &format!("#{:04x}", number * 0x1a2b)),
            bytes: facts.sizes.max / number,
            length: Some(facts.lengths.max / number),
            db: 0,
            hash: number.to_string(),
        })
        .collect();
    Definition {
        schema: "media-gateway".to_owned(),
        name: name.to_owned(),
        pattern: pattern.to_owned(),
        group: pattern.split(':').next().map(str::to_owned),
        owner: Some(owner.to_owned()),
        lifecycle: lifecycle.to_owned(),
        declared_type: facts.types.keys().next().cloned(),
        params: params
            .iter()
            .map(|(name, ty, distinct)| Param {
                name: (*name).to_owned(),
                ty: (*ty).to_owned(),
                distinct: *distinct,
                error: 0.008,
                sketch: String::new(),
            })
            .collect(),
        facts,
        old_names: Vec::new(),
        derived: Count::default(),
    }
}

fn group(
    pattern: &str,
    keys: u64,
    bytes: u64,
    kind: &str,
    nearest: Option<Nearest>,
    none: u64,
) -> Group {
    let buckets: &[u64] = if none == keys { &[] } else { &[20, 3] };
    let mut facts = facts(keys, bytes, kind, &[], "", buckets, none, (bytes / keys, 4));
    facts.ttl.declared = None;
    let example = pattern.replace('>', "#77aa>");
    Group { pattern: pattern.to_owned(), facts, examples: vec![example], nearest }
}

#[allow(clippy::too_many_arguments)]
fn facts(
    keys: u64,
    bytes: u64,
    kind: &str,
    encodings: &[(&str, u64)],
    declared: &str,
    weights: &[u64],
    none: u64,
    (size, length): (u64, u64),
) -> Facts {
    let expiring = keys - none;
    let weight: u64 = weights.iter().sum::<u64>().max(1);
    let mut buckets: Vec<TtlBucket> = (0..=BOUNDS.len())
        .map(|at| TtlBucket {
            up_to: BOUNDS.get(at).copied(),
            keys: weights.get(at).map_or(0, |it| expiring * it / weight),
        })
        .collect();
    let counted: u64 = buckets.iter().map(|bucket| bucket.keys).sum();
    if let Some(last) = weights.iter().rposition(|it| *it > 0) {
        buckets[last].keys += expiring - counted;
    }
    let middle = weights.iter().enumerate().max_by_key(|(_, it)| **it).map_or(0, |it| it.0);
    Facts {
        keys,
        bytes,
        share: 0.0,
        types: [(kind.to_owned(), keys)].into(),
        encodings: encodings
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect::<BTreeMap<_, _>>(),
        ttl: Ttl {
            declared: Some(declared.to_owned()),
            none,
            expiring,
            expired: 0,
            too_long: 0,
            remaining: if expiring == 0 {
                Distribution::default()
            } else {
                let least = if middle == 0 { 0 } else { BOUNDS[middle - 1] };
                distribution(expiring, least + (BOUNDS[middle] - least) / 3, 2)
            },
            buckets,
        },
        sizes: distribution(keys, size, 3),
        lengths: distribution(keys, length, 4),
        idle: None,
        freq: None,
        biggest: Vec::new(),
    }
}

/// Numbers around a middle, ever fewer towards both sides.
fn distribution(count: u64, middle: u64, spread: u32) -> Distribution {
    let top = middle.max(1).ilog2();
    let mut histogram = Vec::new();
    let mut left = count;
    for power in top.saturating_sub(spread)..=top + spread {
        let share = count / (3 << (2 * power.abs_diff(top)).min(40));
        let here = if power == top + spread { left.min(share.max(1)) } else { share.min(left) };
        left -= here;
        if here > 0 {
            let (from, to) = (1u64 << power, (1u64 << (power + 1)) - 1);
            histogram.push(Bar { from, to, count: here });
        }
    }
    if let Some(bar) = histogram.iter_mut().max_by_key(|bar| bar.count) {
        bar.count += left;
    }
    let quantile = |percent: u64| {
        let wanted = (count * percent).div_ceil(100);
        let mut seen = 0;
        let bar = histogram.iter().find(|bar| {
            seen += bar.count;
            seen >= wanted
        });
        bar.map_or(0, |bar| bar.to)
    };
    let max = histogram.last().map_or(0, |bar| bar.to - 7);
    let (p50, p90, p99) = (quantile(50).min(max), quantile(90).min(max), quantile(99).min(max));
    Distribution { p50, p90, p99, max, histogram }
}
