//! An audit without a schema shows the definitions that `keyward infer` drafts, with the keys that they have.

mod support;

use keyward_audit::report::Group;
use keyward_audit::{
    Audit, Collected, Listener, Options, Outcome, ReadOptions, Report, Row, Salt, Stopped, live,
    merge,
};
use keyward_infer::draft::{Definition, Draft, ParamType, PatternPiece};
use keyward_infer::{infer, snippet, write};
use keyward_pattern::Glob;
use keyward_rdb::{Key, Reader, Show, Value, Visitor};
use keyward_testkit::Server;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use support::{Dump, Entry, NOW, Stored, bytes, report};

fn without_a_schema(show_keys: bool) -> Arc<Audit> {
    let options = Options { salt: Salt::of("test"), show_keys, ..Options::default() };
    Arc::new(Audit::new(Vec::new(), &options))
}

fn draft(reader: Reader<'_>) -> Draft {
    let one = NonZero::new(1).unwrap();
    let collected = Collected::from_rdb(reader, one, NOW, &|_| ControlFlow::Continue(())).unwrap();
    infer(&collected.sketch, &keyward_infer::Options::default())
}

/// A definition with the prefix of all keys in its pattern.
fn whole(draft: &Draft, definition: &Definition) -> Definition {
    let mut definition = definition.clone();
    definition.pieces.insert(0, PatternPiece::Text(draft.prefix.clone()));
    if let [PatternPiece::Text(prefix), PatternPiece::Text(text), ..] = &mut definition.pieces[..] {
        text.insert_str(0, prefix);
        definition.pieces.remove(0);
    }
    definition
}

fn pattern(definition: &Definition) -> String {
    definition.pattern(|param| param.ty != ParamType::Named("text".to_owned()))
}

/// The keys of a snapshot, without those that had expired.
#[derive(Default)]
struct Keys {
    clock: u64,
    names: Vec<Box<[u8]>>,
}

impl Visitor for Keys {
    fn key(&mut self, _: &Key<'_>) -> Show {
        Show::NOTHING
    }

    fn value(&mut self, key: &Key<'_>, value: &Value) {
        let fact = key.fact(Some(value));
        if fact.expires_at.is_none_or(|at| at > self.clock) {
            self.names.push(fact.key.into());
        }
    }
}

/// How many of these keys each definition of a draft really has, by pattern.
fn counted(draft: &Draft, keys: &[Box<[u8]>]) -> BTreeMap<String, u64> {
    let schema = keyward_schema::read(&write(draft, "keys")).schema.unwrap();
    let globs: Vec<Glob> = draft.foreign.iter().map(|it| Glob::new(&it.glob)).collect();
    let mut counts = BTreeMap::new();
    for key in keys {
        let foreign = globs.iter().position(|glob| glob.matches(key));
        let own = || schema.compiled.classify(key).map(|id| &schema.keys[id.index()].name.value);
        let name = match (foreign, own()) {
            (Some(at), _) => draft.foreign[at].glob.clone(),
            (None, Some(id)) => {
                let definition = draft.definitions.iter().find(|it| it.id == *id).unwrap();
                pattern(&whole(draft, definition))
            }
            (None, None) => "(no pattern)".to_owned(),
        };
        *counts.entry(name).or_default() += 1;
    }
    counts
}

fn shown(report: &Report) -> BTreeMap<String, u64> {
    let shown = |group: &Group| (group.pattern.to_string(), group.facts.keys);
    report.groups.iter().map(shown).collect()
}

/// Whether a report has the definitions of a draft, with their types and TTLs.
fn has_definitions(report: &Report, draft: &Draft) {
    for definition in &draft.definitions {
        let definition = whole(draft, definition);
        let pattern = pattern(&definition);
        let Some(group) = report.groups.iter().find(|it| it.pattern.as_str() == pattern) else {
            panic!("{pattern} is missing");
        };
        let toml = group.toml.as_deref().unwrap();
        assert!(toml.ends_with(&snippet(&definition)), "{toml}\n{}", snippet(&definition));
    }
}

#[test]
fn an_audit_without_a_schema_shows_what_is_inferred_of_real_applications() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../keyward-infer/corpus/tune");
    for name in [
        "arq",
        "bull",
        "celery",
        "channels",
        "django-redis",
        "house-chat",
        "house-game",
        "house-news",
        "house-rides",
        "laravel",
        "limits",
        "resque",
        "sidekiq",
        "walrus",
    ] {
        let path = corpus.join(name).join("dump.rdb.gz");
        let draft = draft(Reader::open(&path).unwrap());
        let reading = ReadOptions { now: NOW, ..ReadOptions::default() };
        let audit = without_a_schema(true);
        let report = audit.read(Reader::open(&path).unwrap(), name, reading).unwrap();
        let created = Reader::open(&path).unwrap().read(&mut ()).unwrap().created_at.unwrap();
        let mut keys = Keys { clock: created * 1000, ..Keys::default() };
        Reader::open(&path).unwrap().read(&mut keys).unwrap();
        assert_eq!(shown(&report), counted(&draft, &keys.names), "{name}");
        has_definitions(&report, &draft);
    }
}

fn keys(names: impl IntoIterator<Item = String>) -> Dump {
    let entry = |name: String| Entry {
        key: name.into_bytes(),
        ttl: None,
        value: Stored::Text(b"1".to_vec()),
    };
    Dump { entries: names.into_iter().map(entry).collect(), ..Dump::default() }
}

/// The groups of these keys, which must be those of their draft.
fn groups(dump: &Dump) -> BTreeMap<String, u64> {
    let bytes = bytes(&dump.entries);
    let report = report(&without_a_schema(true), &bytes);
    let draft = draft(Reader::from_slice(&bytes));
    let names: Vec<Box<[u8]>> = dump.entries.iter().map(|it| it.key.as_slice().into()).collect();
    let shown = shown(&report);
    assert_eq!(shown, counted(&draft, &names));
    has_definitions(&report, &draft);
    shown
}

#[test]
fn many_prefixes_stay_apart() {
    let word =
        |number: u32| char::from_u32(u32::from(b'a') + number).unwrap().to_string().repeat(5);
    let names = (0..25).flat_map(|prefix| (0..100).map(move |id| format!("{}:{id}", word(prefix))));
    let mut dump = keys(names);
    // What is in them differs, as it does for keys of different uses.
    for (at, entry) in dump.entries.iter_mut().enumerate() {
        match at / 100 % 3 {
            0 => entry.ttl = Some(3000),
            1 => entry.value = Stored::List(vec![b"1".to_vec()]),
            _ => {}
        }
    }
    let groups = groups(&dump);
    assert_eq!(groups.len(), 25, "{groups:?}");
    assert!(groups.values().all(|keys| *keys == 100), "{groups:?}");
}

#[test]
fn an_untyped_part_discards_no_segment_and_words_stay_words() {
    let id = |number: u32| format!("{:08x}-0000-4000-8000-{number:012x}", number * 77_777);
    let names = (0..60).flat_map(|number| {
        [
            format!("report-for-task-{}", id(number)),
            format!("sess:{}", id(number + 100)),
            format!("upload:{number}:state"),
        ]
    });
    let groups = groups(&keys(names));
    let expected = [
        ("report-for-task-{task_id:uuid}", 60),
        ("sess:{sess_id:uuid}", 60),
        ("upload:{upload_id:uint}:state", 60),
    ];
    assert_eq!(groups, expected.map(|(name, keys)| (name.to_owned(), keys)).into());
}

#[test]
fn keys_with_thousands_of_names_in_them_are_counted_exactly() {
    let name = |number: u32| {
        let letter = |shift: u32| char::from(b'a' + u8::try_from(number / shift % 26).unwrap());
        [1, 26, 676, 17576].map(letter).iter().collect::<String>() + "son"
    };
    let names = (0..6000).flat_map(|number| {
        let ends = ["cart", "wishes", "settings"].into_iter().take(1 + number as usize % 3);
        let name = name(number);
        ends.map(move |end| format!("user:{name}:{end}")).collect::<Vec<_>>()
    });
    let groups = groups(&keys(names));
    for (end, keys) in [("cart", 6000), ("wishes", 4000), ("settings", 2000)] {
        let is_it = |name: &str| name.starts_with("user:{") && name.ends_with(&format!("}}:{end}"));
        let own: Vec<u64> = groups.iter().filter(|it| is_it(it.0)).map(|it| *it.1).collect();
        assert_eq!(own, [keys], "{groups:?}");
    }
}

#[test]
fn words_that_few_keys_share_are_hidden_and_what_is_copied_has_none_of_them() {
    let mut names: Vec<String> = (0..40).map(|user| format!("user:{user}:cart")).collect();
    names
        .extend(["secretword:admin", "user:secretname:banned", "user:7:banned"].map(str::to_owned));
    let report = report(&without_a_schema(false), &bytes(&keys(names).entries));
    let json = report.to_json().unwrap();
    for word in ["secretword", "secretname", "admin", "banned"] {
        assert!(!json.contains(word), "{word}");
    }
    let toml = |pattern: &str| {
        let group = report.groups.iter().find(|it| it.pattern.as_str() == pattern);
        group.unwrap_or_else(|| panic!("{:?}", shown(&report))).toml.clone()
    };
    assert_eq!(
        toml("user:{user_id:uint}:cart").unwrap(),
        "[keys.user_cart]\npattern = \"user:{user_id:uint}:cart\"\ntype = \"string\"\nttl = \"none\"\n"
    );
    assert_eq!(toml("<text>:<text>"), None);
}

#[test]
fn reports_of_shards_are_merged_by_pattern() {
    let of = |from: u32, to: u32, seconds: u64| {
        let mut dump = keys((from..to).map(|user| format!("user:{user}:cart")));
        dump.entries.iter_mut().for_each(|entry| entry.ttl = Some(seconds));
        report(&without_a_schema(false), &bytes(&dump.entries))
    };
    let merged = merge(vec![of(0, 50, 3000), of(50, 90, 80_000)]).unwrap();
    assert_eq!(shown(&merged), [("user:{user_id:uint}:cart".to_owned(), 90)].into());
    // The shards do not agree on a TTL.
    assert_eq!(
        merged.groups[0].toml.as_deref().unwrap(),
        "[keys.user_cart]\npattern = \"user:{user_id:uint}:cart\"\ntype = \"string\"\n"
    );
}

/// A server with keys of several kinds.
fn filled(server: &Server) -> Vec<Box<[u8]>> {
    let mut commands: Vec<Vec<String>> = Vec::new();
    for number in 0..1500u64 {
        let id = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let queue = ["mail", "image", "video"][usize::try_from(number % 3).unwrap()];
        let all = [
            format!("HSET user:{number}:cart items 1 total {number}"),
            format!("SET session:{id:016x} {number} EX 80000"),
            format!("RPUSH queue:{queue}:jobs {number}"),
            format!("SADD tag:{}:members {number}", number % 40),
        ];
        commands.extend(all.map(|it| it.split(' ').map(str::to_owned).collect()));
    }
    let commands: Vec<Vec<&str>> =
        commands.iter().map(|it| it.iter().map(String::as_str).collect()).collect();
    server.connect().pipeline(&commands).unwrap();
    let names: BTreeSet<Box<[u8]>> = commands.iter().map(|it| it[1].as_bytes().into()).collect();
    names.into_iter().collect()
}

fn quick() -> live::Options {
    let mut options = live::Options::default();
    options.bound = None;
    options
}

#[test]
fn an_audit_of_a_server_without_a_schema_shows_what_is_inferred_of_it() {
    for server in Server::all() {
        let names = filled(&server);
        let report = without_a_schema(true).observe(&server.url(), &quick(), || None, NOW).unwrap();
        let collected = Collected::from_server(&server.url(), &quick()).unwrap();
        let draft = infer(&collected.sketch, &keyward_infer::Options::default());
        assert_eq!(shown(&report), counted(&draft, &names));
        has_definitions(&report, &draft);
        assert!(report.source.complete);
        assert_eq!(report.source.values_unread, None);
    }
}

#[test]
fn a_scan_without_a_schema_that_was_stopped_goes_on_as_one_pass() {
    let server = Server::redis();
    let names = filled(&server);
    let audit = without_a_schema(true);
    let whole = audit.observe(&server.url(), &quick(), || None, NOW).unwrap();
    let options = quick();
    let stop = options.stop.clone();
    let listener = || {
        let (mut told, stop) = (0, stop.clone());
        let told: Listener = Box::new(move |_: &Row<'_>| {
            told += 1;
            stop.store(told > 1000, Ordering::SeqCst);
        });
        Some(told)
    };
    let ended = audit.observe_on(&server.url(), &options, None, listener, NOW);
    let Ok(Outcome::Stopped(stopped)) = ended else { panic!("it was not stopped") };
    assert!((1000..names.len() as u64).contains(&stopped.keys()), "{}", stopped.keys());
    let go_on = |stopped: &Stopped| {
        let ended = audit.observe_on(&server.url(), &quick(), Some(stopped), || None, NOW);
        let Ok(Outcome::Whole(report)) = ended else { panic!("it was not read") };
        report
    };
    let shown_with_toml = |report: &Report| -> BTreeMap<String, (u64, Option<String>)> {
        let shown = |it: &Group| (it.pattern.to_string(), (it.facts.keys, it.toml.clone()));
        report.groups.iter().map(shown).collect()
    };
    assert_eq!(shown_with_toml(&go_on(&stopped)), shown_with_toml(&whole));
    // A file has no keys in it: each half has the patterns of its own draft.
    let kept: Stopped = serde_json::from_str(&serde_json::to_string(&stopped).unwrap()).unwrap();
    let report = go_on(&kept);
    assert_eq!(report.summary.keys, names.len() as u64);
    assert_eq!(shown(&report).values().sum::<u64>(), names.len() as u64);
    assert_eq!(shown(&report)["user:{user_id:uint}:cart"], 1500);
}
