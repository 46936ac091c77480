//! The laws of patterns over random keyspaces and hostile values.

use keyward_pattern::prove::{self, OverlapKind};
use keyward_pattern::{
    BuildErrorKind, DefinitionId, Export, Glob, Keyspace, Normalize, Param, Tables, Template, Type,
    slot,
};
use proptest::prelude::*;
use std::net::Ipv6Addr;
use std::sync::LazyLock;

/// A type by the name it has in a pattern, and a regular expression for the same language.
///
/// Two descriptions of one thing: the automata are built from combinators, the expressions are
/// written down by hand and matched by another engine.
fn types() -> Vec<(&'static str, String)> {
    let text = r"[^\x00-\x1f\x7f-\x{9f}{}:]+";
    let octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
    [
        ("text", text.to_owned()),
        ("uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}".to_owned()),
        ("digits(3)", "[0-9]{3}".to_owned()),
        ("hex", "[0-9a-f]+".to_owned()),
        ("hex(8)", "[0-9a-f]{8}".to_owned()),
        ("word", "[A-Za-z0-9_]+".to_owned()),
        ("slug", "[a-z0-9]+(-[a-z0-9]+)*".to_owned()),
        ("ulid", "[0-7][0123456789ABCDEFGHJKMNPQRSTVWXYZ]{25}".to_owned()),
        ("email", r"[A-Za-z0-9.!#$%&'*+/=?^_`|~-]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*".to_owned()),
        ("base64url", "[A-Za-z0-9_-]+".to_owned()),
        ("base64url(4)", "[A-Za-z0-9_-]{4}".to_owned()),
        ("alnum", "[A-Za-z0-9]+".to_owned()),
        ("alnum(6)", "[A-Za-z0-9]{6}".to_owned()),
        ("raw_ip", raw_ip(octet)),
        ("ip", format!(r"({octet}(\.{octet}){{3}}|[0-9a-f]{{32}})")),
        ("locale", "[a-z]{2,3}((_[A-Z][a-z]{3})?(_([A-Z]{2}|[0-9]{3}))?|(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?)".to_owned()),
    ]
    .into()
}

/// Every way to write zeros among eight groups, by the rules of RFC 5952 in other words: a `::` stands for at least
/// two groups, no run of zeros beside it is longer, and none before it as long.
fn raw_ip(octet: &str) -> String {
    let some = "[1-9a-f][0-9a-f]{0,3}";
    let mut ways =
        vec![format!(r"{octet}(\.{octet}){{3}}"), format!(r"::ffff:{octet}(\.{octet}){{3}}")];
    for zeros in 0..256usize {
        let text: String =
            (0..8).map(|at| if zeros >> at & 1 == 1 { "0:" } else { "x:" }).collect();
        let text = text.trim_end_matches(':');
        let run = (2..=8).rev().map(|len| vec!["0"; len].join(":")).find(|run| text.contains(run));
        let short = match run {
            Some(run) => {
                let (before, after) = text.split_once(&run).unwrap();
                format!("{}::{}", before.trim_end_matches(':'), after.trim_start_matches(':'))
            }
            None => text.to_owned(),
        };
        let hex = if short.starts_with("::x") && zeros & 0b11_1111 == 0b1_1111 {
            // A mapped address has dots.
            let other = "([1-9a-f][0-9a-f]{0,2}|[1-9a-e][0-9a-f]{3}|f[0-9a-e][0-9a-f]{2}|ff[0-9a-e][0-9a-f]|fff[0-9a-e])";
            short.replacen('x', other, 1)
        } else {
            short
        };
        ways.push(hex.replace('x', some));
    }
    format!("({})", ways.join("|"))
}

/// The same, and `...` for what takes any number of segments.
fn holes() -> Vec<(&'static str, String)> {
    let mut holes = types();
    holes.push(("...", r"[^\x00-\x1f\x7f-\x{9f}{}]+".to_owned()));
    holes
}

fn written(name: &str, ty: &str) -> String {
    if ty == "..." { format!("{{{name}...}}") } else { format!("{{{name}:{ty}}}") }
}

/// How a value is spelt in a key, which is how it is read back: an `ip` of version 6 in 32 digits.
fn spelt(ty: &str, value: &str) -> String {
    match value.parse::<Ipv6Addr>() {
        Ok(address) if ty == "ip" => match address.to_ipv4_mapped() {
            Some(address) => address.to_string(),
            None => format!("{:032x}", address.to_bits()),
        },
        _ => value.to_owned(),
    }
}

/// A random pattern, as text and as a regular expression.
fn pattern() -> impl Strategy<Value = (String, String)> {
    let literal = prop::sample::select(vec!["a", "b", "cache", "v2_", "", "x.y"]);
    let ty = prop::sample::select(holes());
    let segment = (literal.clone(), prop::option::of((ty, any::<bool>())), literal);
    prop::collection::vec(segment, 1..4).prop_map(|segments| {
        let (mut text, mut regex) = (String::new(), String::new());
        for (number, (before, hole, after)) in segments.into_iter().enumerate() {
            if number > 0 {
                text.push(':');
                regex.push(':');
            }
            text += before;
            regex += &regex::escape(before);
            if let Some(((name, language), tag)) = hole {
                let mark = if tag { "#" } else { "" };
                text += &written(&format!("{mark}p{number}"), name);
                let (open, close) = if tag { ("\\{", "\\}") } else { ("", "") };
                regex += &format!("{open}({language}){close}");
            }
            text += after;
            regex += &regex::escape(after);
        }
        if text.is_empty() { ("a".to_owned(), "a".to_owned()) } else { (text, regex) }
    })
}

fn keyspace(patterns: &[(String, String)]) -> Keyspace {
    let mut builder = Keyspace::builder(':').unwrap();
    for (number, (pattern, _)) in patterns.iter().enumerate() {
        builder.define(&format!("d{number}"), &Template::parse(pattern).unwrap(), |_| None);
    }
    builder.finish().unwrap()
}

/// Values made to break out of their place.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        ":",
        "*",
        "?",
        "[",
        "]",
        "{",
        "}",
        "%",
        "\\",
        "~",
        "\0",
        "\n",
        "\u{7f}",
        "\u{85}",
        "ü",
        "𝄞",
        "a",
        "0",
        "cache",
        "-",
        "_",
        "\u{fffd}",
        "İ",
        "%2F",
        "550e8400-e29b-41d4-a716-446655440000",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "a.b@c-d.example",
        "2001:db8::1",
    ]);
    prop_oneof![
        prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat()),
        any::<String>(),
        Just("a".repeat(65_536)),
    ]
}

/// Bytes near the keys of some pattern: segments of values and of nonsense.
fn near_key() -> impl Strategy<Value = Vec<u8>> {
    let segment = prop_oneof![
        Just(b"a".to_vec()),
        Just(b"b".to_vec()),
        Just(b"cache".to_vec()),
        Just(b"".to_vec()),
        Just(b"v2_007".to_vec()),
        Just(b"192.168.1.1".to_vec()),
        Just(b"256.1.1.1".to_vec()),
        Just(b"de_DE".to_vec()),
        Just(b"550e8400-e29b-41d4-a716-446655440000".to_vec()),
        Just(b"01ARZ3NDEKTSV4RRFFQ69G5FAV".to_vec()),
        Just(b"81ARZ3NDEKTSV4RRFFQ69G5FAV".to_vec()),
        Just(b"2001:db8::1".to_vec()),
        "[0-2:]{1,6}|::[fF]{4}:[0-9a.]{1,7}".prop_map(String::into_bytes),
        "[a.-]{1,3}@[a0.-]{1,6}".prop_map(String::into_bytes),
        Just(b"{42}".to_vec()),
        Just(b"a{0ab}x.y".to_vec()),
        Just(vec![0xff, 0xfe]),
        Just(vec![0xed, 0xa0, 0x80]),
        "[a-f0-9]{1,9}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(segment, 1..4).prop_map(|segments| segments.join(&b':'))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The trie agrees with one regular expression a pattern, on whose keys it claims.
    #[test]
    fn classify_agrees_with_a_regex_for_each_pattern(
        patterns in prop::collection::vec(pattern(), 1..6),
        keys in prop::collection::vec(near_key(), 1..20),
    ) {
        let keyspace = keyspace(&patterns);
        let regexes: Vec<_> = patterns
            .iter()
            .map(|(_, regex)| regex::bytes::Regex::new(&format!("^(?:{regex})\\z")).unwrap())
            .collect();
        for key in &keys {
            let expected: Vec<usize> =
                (0..regexes.len()).filter(|&number| regexes[number].is_match(key)).collect();
            match keyspace.classify(key) {
                None => prop_assert!(expected.is_empty(), "{:?} {:?}", key, patterns),
                Some(id) => prop_assert!(expected.contains(&id.index()), "{:?} {:?}", key, patterns),
            }
        }
    }

    /// `classify(k) == d` if and only if `d.parse(k)` succeeds.
    #[test]
    fn a_key_is_parsed_by_its_definition_and_by_no_other(
        patterns in prop::collection::vec(pattern(), 1..6),
        keys in prop::collection::vec(near_key(), 1..20),
    ) {
        let keyspace = keyspace(&patterns);
        for key in &keys {
            let owner = keyspace.classify(key);
            for definition in keyspace.definitions() {
                prop_assert_eq!(definition.parse(key).is_some(), owner == Some(definition.id()));
            }
        }
    }

    /// Whatever is typed: a typed error, or a key of this very definition that reads back the same,
    /// in the slot the pattern chooses, and found by its own glob only.
    #[test]
    fn no_value_leaves_its_place(
        patterns in prop::collection::vec(pattern(), 1..5),
        values in prop::collection::vec(hostile(), 3),
    ) {
        let keyspace = keyspace(&patterns);
        let ambiguous: Vec<_> = prove::ambiguities(&keyspace).iter().map(|it| it.definition).collect();
        for definition in keyspace.definitions().filter(|it| !ambiguous.contains(&it.id())) {
            let given: Vec<_> =
                definition.params().iter().zip(&values).map(|((name, _), value)| (name.as_str(), value.as_str())).collect();
            let mut buffer = "kept".to_owned();
            let positional: Vec<_> = given.iter().map(|(_, value)| (*value).into()).collect();
            match definition.build_named(&given) {
                Err(_) => {
                    prop_assert!(definition.build_into(&positional, &mut buffer).is_err());
                    prop_assert_eq!(&buffer, "kept");
                }
                Ok(key) => {
                    prop_assert_eq!(keyspace.classify(key.as_bytes()), Some(definition.id()));
                    let read = definition.parse(key.as_bytes()).unwrap();
                    for ((_, param), (read, (_, sent))) in definition.params().iter().zip(read.iter().zip(&given)) {
                        // A key has an address of IPv6 without its colons.
                        let respelled = param.ty == Type::Ip && sent.contains(':');
                        let respelled = respelled || param.ty == Type::RawIp;
                        let respelled = respelled || param.ty == Type::Ulid && sent.eq_ignore_ascii_case(read);
                        prop_assert!(read == sent || respelled, "{} is read as {}", sent, read);
                    }
                    definition.build_into(&positional, &mut buffer).unwrap();
                    prop_assert_eq!(&buffer, &format!("kept{key}"));
                    prop_assert!(key.len() >= definition.min_len());
                    prop_assert!(definition.max_len().is_none_or(|max| key.len() <= max));
                    prop_assert!(Glob::new(&definition.glob_named(&given).unwrap()).matches(key.as_bytes()));
                    prop_assert!(Glob::new(&definition.glob_named(&[]).unwrap()).matches(key.as_bytes()));
                    if definition.params().iter().all(|(_, param)| param.ty != Type::Text) {
                        prop_assert!(slot(key.as_bytes()) < 16_384);
                    }
                }
            }
        }
    }

    /// No overlap is missed, and every witness is one.
    #[test]
    fn overlaps_are_found_exactly(
        patterns in prop::collection::vec(pattern(), 2..5),
        keys in prop::collection::vec(near_key(), 1..30),
    ) {
        let keyspace = keyspace(&patterns);
        let found = prove::overlaps(&keyspace);
        prop_assert!(found.complete);
        let alone: Vec<_> = patterns.iter().map(|pattern| self::keyspace(std::slice::from_ref(pattern))).collect();
        let claims = |number: u32, key: &[u8]| alone[number as usize].classify(key).is_some();
        for overlap in &found.overlaps {
            let (prove::Claim::Definition(first), prove::Claim::Definition(second)) = (overlap.first, overlap.second) else {
                continue;
            };
            prop_assert!(claims(first.0, overlap.witness.as_bytes()), "{:?} {:?}", overlap, patterns);
            prop_assert!(claims(second.0, overlap.witness.as_bytes()), "{:?} {:?}", overlap, patterns);
        }
        let mut more = keys;
        more.extend(found.overlaps.iter().map(|overlap| overlap.witness.clone().into_bytes()));
        // A reserved key is never the wider definition's. It need not be the narrower one's: a third may be narrower
        // still, and of two with one pattern either may have it.
        for key in &more {
            let Some(owner) = keyspace.classify(key) else { continue };
            for overlap in found.overlaps.iter().filter(|it| matches!(it.kind, OverlapKind::Reserved { .. })) {
                let (prove::Claim::Definition(first), prove::Claim::Definition(second)) = (overlap.first, overlap.second) else {
                    continue;
                };
                if claims(first.0, key) && claims(second.0, key) {
                    let (of_owner, of_second) = (&patterns[owner.index()].0, &patterns[second.index()].0);
                    prop_assert_ne!(of_owner, of_second, "{:?} {:?}", overlap, patterns);
                }
            }
        }
        for key in &more {
            let count = u32::try_from(patterns.len()).unwrap();
            for a in 0..count {
                for b in a + 1..count {
                    if claims(a, key) && claims(b, key) {
                        let reported = found.overlaps.iter().any(|overlap| {
                            let pair = [overlap.first, overlap.second];
                            [a, b].iter().all(|id| pair.contains(&prove::Claim::Definition(keyward_pattern::DefinitionId(*id))))
                        });
                        prop_assert!(reported, "{:?} {:?}", String::from_utf8_lossy(key), patterns);
                    }
                }
            }
        }
    }

    /// Two parameters side by side: proved readable means read back as sent; not proved means two readings.
    #[test]
    fn readings_are_counted_exactly(
        left in prop::sample::select(holes()),
        joint in prop::sample::select(vec!["", "-", "_", ".", "x", ":", ":x:"]),
        right in prop::sample::select(holes()),
        values in (hostile(), hostile()),
    ) {
        let pattern = format!("{}{joint}{}", written("a", left.0), written("b", right.0));
        let keyspace = keyspace(&[(pattern.clone(), String::new())]);
        let definition = keyspace.definitions().next().unwrap();
        match prove::ambiguities(&keyspace).first() {
            None => {
                if let Ok(key) = definition.build_named(&[("a", &values.0), ("b", &values.1)]) {
                    let read = definition.parse(key.as_bytes()).unwrap();
                    prop_assert_eq!(read, [spelt(left.0, &values.0), spelt(right.0, &values.1)]);
                }
            }
            Some(ambiguity) if ambiguity.witness.is_empty() => {}
            Some(ambiguity) => {
                prop_assert_ne!(&ambiguity.left, &ambiguity.right);
                for reading in [&ambiguity.left, &ambiguity.right] {
                    let key = definition.build_named(&[("a", &reading[0]), ("b", &reading[1])]).unwrap();
                    prop_assert_eq!(&key, &ambiguity.witness);
                }
            }
        }
    }

    /// An encoding proved lossless is undone by parsing; a lossy one has two values with one spelling.
    #[test]
    fn encodings_are_judged_exactly(
        encode in prop::collection::btree_map(
            prop::sample::select(vec!['/', '_', '.', 'a', '~', 'b']),
            prop::sample::select(vec!["_", "~1", "~0", "a", "ab", "b", "__", "."]),
            1..4,
        ),
        values in prop::collection::vec("[/_.ab~]{1,6}", 8),
    ) {
        let encode: Vec<(char, String)> = encode.into_iter().map(|(c, s)| (c, s.to_owned())).collect();
        let param = Param { ty: Type::Text, normalize: None, encode, except: Vec::new(), without: String::new() };
        let mut builder = Keyspace::builder(':').unwrap();
        builder.define("d", &Template::parse("p:{x}").unwrap(), |_| Some(param.clone()));
        let keyspace = builder.finish().unwrap();
        let definition = keyspace.definitions().next().unwrap();
        let build = |value: &str| definition.build_named(&[("x", value)]).unwrap();
        if let Some(lossy) = prove::lossy(&keyspace).first() {
            prop_assert_ne!(&lossy.left, &lossy.right);
            prop_assert_eq!(build(&lossy.left), build(&lossy.right));
        } else {
            for value in &values {
                let key = build(value);
                prop_assert_eq!(&definition.parse(key.as_bytes()).unwrap()[0], value);
                for other in &values {
                    prop_assert_eq!(build(other) == key, other == value);
                }
            }
        }
    }

    /// Reading a pattern never panics, and what was read prints as it was.
    #[test]
    fn any_text_is_a_pattern_or_an_error_inside_it(text in any::<String>()) {
        match Template::parse(&text) {
            Ok(template) => prop_assert_eq!(template.as_str(), &text),
            Err(error) => {
                prop_assert!(error.span.end <= text.len().max(1));
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn numbers_and_days_are_exact_at_their_bounds() {
    let accepts = |ty: &str, value: &str| {
        let keyspace = keyspace(&[(format!("{{x:{ty}}}"), String::new())]);
        keyspace.classify(value.as_bytes()).is_some()
    };
    for (ty, good, bad) in [
        (
            "int",
            "0 -1 9223372036854775807 -9223372036854775808 100",
            "-0 00 01 +1 9223372036854775808 -9223372036854775809 1.0",
        ),
        ("uint", "0 18446744073709551615 9 10", "-1 18446744073709551616 01 99999999999999999999"),
        ("unix", "0 253402300799", "253402300800 -1"),
        ("unix_ms", "0 253402300799999", "253402300800000"),
        (
            "date",
            "2026-11-15 2024-02-29 2000-02-29 0001-01-01 9999-12-31",
            "2026-02-29 1900-02-29 0000-01-01 2026-13-01 2026-04-31 2026-1-1 2026-00-10 2026-01-00",
        ),
        ("locale", "de de_DE de-DE zh_Hans_CN es_419 gsw", "DE de_de de-DE-x zh_Hans-CN d"),
        (
            "ip",
            "0.0.0.0 255.255.255.255 192.168.1.1 20010db8000000000000000000000001",
            "256.0.0.1 01.2.3.4 1.2.3 ::1 20010DB8000000000000000000000001 00000000000000000000ffffc0000201",
        ),
    ] {
        for value in good.split(' ') {
            assert!(accepts(ty, value), "{ty} {value}");
        }
        for value in bad.split(' ') {
            assert!(!accepts(ty, value), "{ty} {value}");
        }
    }
}

#[test]
fn every_day_of_four_centuries_is_a_date() {
    let keyspace = keyspace(&[("{x:date}".to_owned(), String::new())]);
    let mut days = 0;
    for year in 1900..2300u32 {
        let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        for month in 1..=12u32 {
            let last = match month {
                2 => 28 + u32::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            for day in 1..=31u32 {
                let date = format!("{year:04}-{month:02}-{day:02}");
                assert_eq!(keyspace.classify(date.as_bytes()).is_some(), day <= last, "{date}");
                days += u32::from(day <= last);
            }
        }
    }
    assert_eq!(days, 146_097);
}

/// A keyspace with one of everything that a block holds.
static RICH: LazyLock<Keyspace> = LazyLock::new(|| {
    let lower = |ty| Param {
        ty,
        normalize: Some(Normalize::Lower),
        encode: Vec::new(),
        except: Vec::new(),
        without: String::new(),
    };
    let encode = vec![('/', "_".to_owned()), ('_', "__".to_owned())];
    let path = Param {
        ty: Type::Text,
        normalize: None,
        encode,
        except: Vec::new(),
        without: String::new(),
    };
    let resolve = |name: &str| match name {
        "email" => Some(lower(Type::Text)),
        "path" => Some(path.clone()),
        "any" => Some(Type::Any(vec![Type::Uuid, Type::Ip]).into()),
        "window" => Some(Type::Enum(vec!["1m".to_owned(), "1h".to_owned()]).into()),
        "owner" => Some(Type::Key(vec!["doc".to_owned(), "word".to_owned()]).into()),
        _ => None,
    };
    let mut builder = Keyspace::builder(':').unwrap();
    builder.prefix(&Template::parse("{tenant:slug}:").unwrap(), resolve);
    for (name, pattern) in [
        ("doc", "doc:{id:uint}"),
        ("word", "doc:{word:word}x"),
        ("mail", "mail:{email}"),
        ("file", "file:{path}:meta"),
        ("who", "who:{any}"),
        ("raw", "raw:{name:encoded}"),
        ("pair", "pair:{a:slug}.{b:slug}_{c:int}"),
        ("tag", "cart:{#user:uuid}:{item}"),
        ("children", "{owner}:children"),
        ("active", "cache:active"),
        ("cache", "cache:{symbol}"),
        ("rest", "rest:{tail...}"),
        ("inner", "inner:{tail...}:{n:uint}"),
        ("limit", "limit:{client:raw_ip}:{window}"),
        ("ids", "ids:{ulid:ulid}:{address:email}:{token:base64url(4)}:{code:alnum}"),
    ] {
        builder.define(name, &Template::parse(pattern).unwrap(), resolve);
    }
    builder.finish().unwrap()
});

/// Whether a block and the keyspace it was written from read a key alike. A block leaves it to
/// generated code to look into keys inside of keys.
fn reads_alike(keyspace: &Keyspace, tables: &Tables, export: &Export, key: &[u8]) -> bool {
    let found = tables.find(key);
    match (keyspace.parse(key), &found) {
        (None, None) => true,
        (Some(parsed), Some(found)) => {
            let languages = &export.languages[parsed.definition.index()];
            let value = |at: usize| match languages[at] {
                Some(language) => tables.unspell(language, found.spelling(at)),
                None => Some(found.spelling(at).into()),
            };
            parsed.definition == found.definition()
                && (0..languages.len()).all(|at| value(at).as_ref() == Some(&parsed.values[at]))
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_block_reads_keys_as_its_keyspace_does(
        patterns in prop::collection::vec(pattern(), 1..6),
        keys in prop::collection::vec(near_key(), 1..20),
    ) {
        let keyspace = keyspace(&patterns);
        let export = keyspace.export(&[], &[]).unwrap();
        let tables = Tables::read(&export.block).unwrap();
        for key in &keys {
            prop_assert!(reads_alike(&keyspace, &tables, &export, key), "{:?} {:?}", key, patterns);
        }
    }

    #[test]
    fn a_block_admits_the_values_that_its_keyspace_builds_with(
        number in 0usize..12,
        values in prop::collection::vec(prop_oneof![hostile(), "[a-zA-Z0-9/_.-]{1,9}"], 4),
    ) {
        let keyspace = &*RICH;
        let export = keyspace.export(&[], &[]).unwrap();
        let tables = Tables::read(&export.block).unwrap();
        let definition = keyspace.definition(DefinitionId(u32::try_from(number).unwrap()));
        let languages = &export.languages[number];
        let given: Vec<_> = values.iter().take(languages.len()).map(|v| v.as_str().into()).collect();
        if given.len() == languages.len() && languages.iter().all(Option::is_some) {
            let admitted = languages
                .iter()
                .zip(&values)
                .all(|(language, value)| tables.value(language.unwrap(), value).is_some());
            match definition.build(&given) {
                Ok(key) => {
                    prop_assert!(admitted);
                    prop_assert!(reads_alike(keyspace, &tables, &export, key.as_bytes()), "{key}");
                }
                Err(error) => {
                    let reserved = matches!(error.kind, BuildErrorKind::Reserved { .. });
                    prop_assert!(reserved || !admitted, "{error}");
                }
            }
        }
    }

    #[test]
    fn a_damaged_block_is_refused_or_read_without_a_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
        key in near_key(),
    ) {
        let mut block = RICH.export(&[], &[(2, &RICH)]).unwrap().block;
        for (at, byte) in changes {
            let at = at.index(block.len());
            block[at] = byte;
        }
        if let Some(tables) = Tables::read(&block) {
            tables.find(&key);
            tables.find_bare(&key);
            tables.find_former(&key);
        }
        Tables::read(&block[..cut.index(block.len())]);
    }
}

#[test]
fn a_block_knows_keys_without_their_prefix() {
    let export = RICH.export(&[Type::Uuid.into()], &[]).unwrap();
    let tables = Tables::read(&export.block).unwrap();
    let found = tables.find_bare(b"doc:7").unwrap();
    assert_eq!((found.definition().0, found.spelling(0)), (0, "7"));
    assert!(tables.find_bare(b"acme:doc:7").is_none());
    assert_eq!(tables.find(b"acme:doc:7:children").unwrap().spelling(1), "doc:7");
    assert!(
        tables.value(export.besides[0].unwrap(), "550e8400-e29b-41d4-a716-446655440000").is_some()
    );
    assert_eq!(tables.value(export.languages[2][1].unwrap(), "ÄB@x").unwrap(), "äb@x");
}

#[test]
fn a_block_numbers_old_names_through_all_databases() {
    let old = |pattern: &str| {
        let mut builder = Keyspace::builder(':').unwrap();
        builder.define_absolute("#0", &Template::parse(pattern).unwrap(), |_| None);
        builder.define_absolute("beside", &Template::parse("beside:{id}").unwrap(), |_| None);
        builder.finish().unwrap()
    };
    let (one, other) = (old("OLD:{id:uint}"), old("{name}:{id:uint}"));
    let export = RICH.export(&[], &[(1, &one), (1, &other)]).unwrap();
    assert_eq!(export.former.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    let tables = Tables::read(&export.block).unwrap();
    let found = |key: &str| {
        let found = tables.find_former(key.as_bytes())?;
        Some((found.definition().0, found.spelling(0).to_owned()))
    };
    assert_eq!(found("OLD:7"), Some((0, "7".to_owned())));
    assert_eq!(found("User:7"), Some((1, "User".to_owned())));
    assert_eq!(found("beside:x"), None);
    assert_eq!(found("OLD:7:x"), None);
}
