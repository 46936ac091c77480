//! Nothing that a key, a field, a member or a value holds is shown, in whatever form, unless a schema declares it or
//! many keys share it.

mod support;

use keyward_audit::render::{self, Shown};
use keyward_audit::{
    Audit, Options, ReadOptions, Report, Salt, Subject, compare, difference, merge,
};
use keyward_rdb::Reader;
use keyward_schema::Style;
use keyward_testkit::Peer;
use proptest::prelude::*;
use std::sync::{Arc, LazyLock, Mutex};
use support::{Entry, NOW, Stored, TODAY, bytes, report, schema};

const SHOP: &str = r#"
[keyspace]
name = "shop"
prefix = "shop:"
[keys.cart]
pattern = "cart:{user_id:uint}"
ttl = "7d"
fields = { items = "uint", owner = { ref = "user.name" } }
[keys.user]
pattern = "user:{name:slug}"
value = "uint"
ttl = "none"
invalidate = "index"
[keys.tags]
pattern = "tags:{lang}:{path:text}"
params = { lang = ["de", "en"] }
type = "set"
member = ["red", "green"]
max_len = 1
ttl = "1h"
[keys.open]
pattern = "open:{word}"
params = { word = { type = "slug", pii = false } }
value = "uint"
[foreign.bull]
glob = "bull:*"
[migrations.v2]
phase = "cleanup"
renames = { user = "User:{name}" }
"#;

/// With a schema and without one.
static AUDITS: LazyLock<[Arc<Audit>; 2]> = LazyLock::new(|| {
    let subjects = [vec![Subject::new(schema(SHOP))], Vec::new()];
    subjects.map(|subjects| {
        let options = Options { salt: Salt::of("salt"), today: TODAY, ..Options::default() };
        Arc::new(Audit::new(subjects, &options))
    })
});

/// Texts that stand nowhere else, of every kind that keys hold.
fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "zq[a-z]{6,12}",
        "zq[a-z]{4,6}[_.-][a-z]{3,6}",
        "zq[a-z]{3,5}[0-9]{2,4}[a-z]{2,4}",
        "ZQ[A-Z]{6,10}",
        "88[0-9]{12}",
        "[0-9a-f]{4}zq[a-z0-9]{8,20}",
        "zq[a-z]{4,8}@mail[.]org",
        "00000000-0000-4000-8000-[0-9a-f]{12}",
        "zqé[a-zé]{5,9}",
    ]
}

/// Keys that hold a secret somewhere: at one place, in fewer keys than a word needs to be shown.
fn planted(secret: &str, place: usize, copies: u64) -> Vec<Entry> {
    let key = |key: String| (key, Stored::Text(b"1".to_vec()));
    let own = || secret.as_bytes().to_vec();
    let entry = |number: u64| {
        let (key, value) = match place {
            0 => key(format!("{secret}:{number}")),
            1 => key(format!("zone:{number}:{secret}")),
            2 => key(format!("shop:{secret}:{number}")),
            3 => key(format!("shop:cart:{secret}x{number}")),
            4 => key(format!("shop:user:{secret}-{number}")),
            5 => key(format!("shop:tags:{secret}:{number}")),
            6 => key(format!("shop:open:{secret}!{number}")),
            7 => key(format!("User:{secret}{number}")),
            8 => key(format!("bull:{secret}:{number}")),
            9 => key(format!("shop:~index:{{shop:user:{secret}{number}}}")),
            10 => key(format!("shop:crat:{secret}/{number}|{secret}")),
            11 => key(format!("shop_{secret}_{number}")),
            12 => (format!("shop:cart:{number}"), Stored::Hash(vec![(own(), b"1".to_vec())])),
            13 => {
                let fields = vec![(b"items".to_vec(), own()), (b"owner".to_vec(), own())];
                (format!("shop:cart:{number}"), Stored::Hash(fields))
            }
            14 => (format!("shop:user:u{number}"), Stored::Text(own())),
            15 => (format!("shop:tags:de:{number}"), Stored::Set(vec![own(), b"red".to_vec()])),
            16 => (format!("queue:{number}"), Stored::List(vec![own()])),
            _ => (secret.to_owned(), Stored::Zset(vec![(own(), 1.0)])),
        };
        Entry { key: key.into_bytes(), ttl: None, value }
    };
    (0..copies).map(entry).collect()
}

/// Keys without a secret, in numbers that let their words be shown.
fn common() -> Vec<Entry> {
    let key = |number: u64| match number % 4 {
        0 => format!("shop:cart:{number}0"),
        1 => format!("zone:{number}:eu"),
        2 => format!("sess:{number}"),
        _ => format!("shop:crat:{number}"),
    };
    (1000..1060)
        .map(|number| Entry {
            key: key(number).into_bytes(),
            ttl: Some(60),
            value: Stored::Text(b"1".to_vec()),
        })
        .collect()
}

/// Everything that can be written of these keys, by the name of the form.
fn outputs(audit: &Arc<Audit>, entries: &[Entry]) -> Vec<(&'static str, String)> {
    let dump = bytes(entries);
    let rows = Arc::new(Mutex::new(String::new()));
    let listed = rows.clone();
    let reading = ReadOptions {
        now: NOW,
        listener: Some(Box::new(move |row| listed.lock().unwrap().push_str(&format!("{row:?}\n")))),
        ..ReadOptions::default()
    };
    let whole = audit.read(Reader::from_slice(&dump), "dump.rdb", reading).unwrap();
    let other = report(audit, &bytes(&common()));
    let merged = merge(vec![whole.clone(), other.clone()]).unwrap();
    let mut compared = whole.clone();
    compare(&mut compared, &other, "other.json", 0.5);
    let style = Style { color: false, width: 400 };
    let changed = difference(&other, &whole, 0.5);
    let mut outputs = vec![
        ("rows", rows.lock().unwrap().clone()),
        ("difference", render::difference(&changed, &style, Shown::All)),
        ("difference in JSON", serde_json::to_string(&changed).unwrap()),
    ];
    for (name, report) in [("audit", &whole), ("merge", &merged), ("baseline", &compared)] {
        outputs.push((name, forms(report, &style)));
    }
    outputs
}

fn forms(report: &Report, style: &Style) -> String {
    [
        report.to_json().unwrap(),
        render::terminal(report, style, Shown::All),
        render::summary(report, style),
        render::concise(report),
        render::html(report),
        render::github(report, &|_| None),
        render::sarif(report, &|_| None),
    ]
    .join("\n")
}

/// A server with one key that a secret names, which repeats its arguments in the error of one command.
fn complaining(secret: &str, command: &'static str, error: &'static str) -> Peer {
    let secret = secret.to_owned();
    let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
    Peer::new(move |words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = match &words[..] {
            [name, ..] if *name == command => {
                format!("-{}\r\n", error.replace("{key}", &secret).replace("{command}", command))
            }
            ["PING", mark] => bulk(mark),
            ["PING"] => "+PONG\r\n".to_owned(),
            ["INFO"] => bulk(
                "run_id:1\r\nrole:master\r\nmaxmemory_policy:noeviction\r\ncluster_enabled:0\r\n",
            ),
            ["SELECT", "0"] | ["CLIENT", ..] => "+OK\r\n".to_owned(),
            ["DBSIZE"] | ["HLEN", ..] => ":1\r\n".to_owned(),
            ["SCAN", ..] => format!("*2\r\n$1\r\n0\r\n*1\r\n{}", bulk(&secret)),
            ["TYPE", ..] => "+hash\r\n".to_owned(),
            ["OBJECT", ..] => bulk("listpack"),
            ["PTTL", ..] => ":-1\r\n".to_owned(),
            ["MEMORY", ..] => ":56\r\n".to_owned(),
            ["HSCAN", ..] => format!("*2\r\n$1\r\n0\r\n*2\r\n{}{}", bulk("n"), bulk("1")),
            ["CONFIG", ..] => "*0\r\n".to_owned(),
            _ => "-ERR unknown command\r\n".to_owned(),
        };
        answer.into_bytes()
    })
}

#[test]
fn no_error_of_a_server_shows_a_key() {
    const COMMANDS: [&str; 14] = [
        "PING", "INFO", "SELECT", "CLIENT", "CONFIG", "DBSIZE", "SCAN", "TYPE", "OBJECT", "PTTL",
        "MEMORY", "HLEN", "HSCAN", "AUTH",
    ];
    const ERRORS: [&str; 7] = [
        "ERR unknown command '{command}', with args beginning with: '{key}' ",
        "ERR unknown command `{key}`, with args beginning with: `{key}`, ",
        "NOPERM User {key} has no permissions to run the '{key}' command",
        "NOPERM No permissions to access {key}",
        "WRONGTYPE {key}",
        "ERR {key}",
        "{key}",
    ];
    let secret = "shop:cart:zqsecret";
    for command in COMMANDS {
        for error in ERRORS {
            let peer = complaining(secret, command, error);
            let mut options = keyward_audit::live::Options::default();
            options.bound = None;
            let url = peer.url().replace("redis://", "redis://:password@");
            let text = match AUDITS[0].observe(&url, &options, || None, NOW) {
                Ok(report) => forms(&report, &Style { color: false, width: 400 }),
                Err(error) => format!("{error} {error:?} {}", error.help()),
            };
            assert!(!text.contains("zqsecret"), "{command} {error}: {text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_form_shows_a_secret(
        secrets in proptest::collection::vec((secret(), 0usize..18, 1u64..5), 1..6),
    ) {
        let mut entries = common();
        let mut known = std::collections::HashSet::new();
        entries.extend(secrets.iter().flat_map(|(secret, place, copies)| planted(secret, *place, *copies)));
        entries.retain(|entry| known.insert(entry.key.clone()));
        for audit in &*AUDITS {
            for (name, text) in outputs(audit, &entries) {
                for (secret, place, _) in &secrets {
                    let at = text.find(secret.as_str());
                    let around = at.map(|at| text[..at + secret.len()].lines().last());
                    prop_assert!(around.is_none(), "{name} shows a secret of place {place}: {around:?}");
                }
            }
        }
    }
}

#[test]
fn what_is_declared_or_shared_is_shown() {
    let mut entries = common();
    for number in 0..5 {
        entries.extend([
            Entry {
                key: format!("shop:tags:de:path-{number}").into_bytes(),
                ttl: None,
                value: Stored::Set(vec![b"red".to_vec(), b"green".to_vec()]),
            },
            Entry {
                key: format!("shop:open:anything-{number}").into_bytes(),
                ttl: None,
                value: Stored::Text(b"words".to_vec()),
            },
            Entry {
                key: format!("basket:{number}").into_bytes(),
                ttl: None,
                value: Stored::Text(b"1".to_vec()),
            },
        ]);
    }
    let report = report(&AUDITS[0], &bytes(&entries));
    let text = render::terminal(&report, &Style { color: false, width: 100 }, Shown::All);
    assert!(text.contains("shop:tags:de:<text#"), "{text}");
    assert!(text.contains("shop:open:anything-"), "{text}");
    assert!(text.contains("`basket:<number>`"), "{text}");
    assert!(
        text.contains("did you mean `shop:cart:{user_id:uint}`? segment 2 is `crat`, not `cart`"),
        "{text}"
    );
}
