//! Any bytes as a key of a keyspace with every kind of type: no panic, and `classify` agrees with `parse`.
#![no_main]

use keyward_pattern::{Keyspace, Normalize, Param, Template, Type, Value};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static KEYSPACE: LazyLock<Keyspace> = LazyLock::new(|| {
    let mut builder = Keyspace::builder(':').unwrap();
    let resolve = |name: &str| match name {
        "lower" => Some(Param { normalize: Some(Normalize::Lower), ..Type::Text.into() }),
        "path" => Some(Param {
            encode: vec![('/', "~1".into()), ('~', "~0".into())],
            ..Type::Text.into()
        }),
        "unreserved" => Some(Param { except: vec!["all".into()], ..Type::Text.into() }),
        "parent" => Some(Type::Key(vec!["d0".into(), "d4".into()]).into()),
        "union" => Some(Type::Any(vec![Type::Uuid, Type::Ip]).into()),
        "dir" | "leaf" => Some(Param { without: "/".into(), ..Type::Text.into() }),
        "regex" => Some(Type::Regex("[a-z][a-z0-9_]{1,9}".into()).into()),
        _ => None,
    };
    for (number, pattern) in [
        "doc:{id:uuid}:{n:digits(3)}",
        "{parent}:children",
        "w:{lower}",
        "p:{path}:x",
        "m:{unreserved}",
        "e:{e:encoded}",
        "u:{union}",
        "r:{regex}-{n:uint}",
        "cart:{#id:int}",
        "lock:{rest...}",
        "lock:fixed",
        "d:{d:date}:{l:locale}",
        "t:{a:unix}:{b:unix_ms}:{c:slug}:{d:word}",
        "i:{a:ulid}:{b:email}:{c:base64url(4)}:{d:alnum(3)}:{e:base64url}:{f:alnum}",
        "b:{queue...}:wait",
        "b:{queue...}:{n:uint}",
        "{#dir...}/{leaf}",
        "rl:{client:raw_ip}:{word:word}m",
        "{any}",
    ]
    .iter()
    .enumerate()
    {
        builder.define(&format!("d{number}"), &Template::parse(pattern).unwrap(), resolve);
    }
    builder.finish().unwrap()
});

fuzz_target!(|key: &[u8]| {
    let owner = KEYSPACE.classify(key);
    for definition in KEYSPACE.definitions() {
        let parsed = definition.parse(key);
        assert_eq!(parsed.is_some(), owner == Some(definition.id()));
        if let Some(values) = parsed {
            let values: Vec<Value<'_>> = values.iter().map(|value| value.as_ref().into()).collect();
            assert_eq!(definition.build(&values).unwrap().as_bytes(), key);
        }
    }
});
