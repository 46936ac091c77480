//! Values worth trying: ordinary ones, those at the bounds of a type, and hostile ones.

use keyward_pattern::{Definition, Keyspace, Param, Template, Type};
use keyward_schema::Schema;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Something to give for a parameter, which need not be text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Text {
    String(String),
    /// Units that no text has
    Utf16(u16),
    Bytes(Vec<u8>),
}

impl Text {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Text::String(text.to_owned()),
            Err(_) => Text::Bytes(bytes.to_vec()),
        }
    }

    pub(super) fn string(&self) -> Option<&str> {
        if let Text::String(text) = self { Some(text) } else { None }
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Text::String(text) => text.as_str().into(),
            Text::Utf16(unit) => json!({ "utf16": format!("{unit:04x}") }),
            Text::Bytes(bytes) => {
                json!({ "hex": hex(bytes) })
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Finds values for parameters. The same schema has the same candidates each time.
pub(super) struct Candidates<'s> {
    schema: &'s Schema,
    seed: u64,
    /// A keyspace of its own for the parameter of an event
    alone: HashMap<Param, Option<Keyspace>>,
}

impl<'s> Candidates<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        let mut candidates =
            Candidates { schema, seed: 0x2545_f491_4f6c_dd1d, alone: HashMap::new() };
        for param in schema.events.iter().flat_map(|event| &event.params) {
            candidates.alone(&param.param);
        }
        candidates
    }

    /// A value that is accepted.
    pub(super) fn ordinary(&mut self, definition: Definition<'_>, at: usize) -> Option<String> {
        let param = &definition.params()[at].1;
        if let Type::Key(targets) = &param.ty {
            return self.keys(targets).into_iter().next();
        }
        let known = well_known(&param.ty).first().copied();
        match known.filter(|known| self.admits_alone(param, known)) {
            Some(known) => Some(known.to_owned()),
            None => self.sample(definition, at, 6),
        }
    }

    fn admits_alone(&mut self, param: &Param, value: &str) -> bool {
        self.alone(param).is_some() && self.admits(param, value)
    }

    /// Values for a parameter, good and bad.
    pub(super) fn of(&mut self, definition: Definition<'_>, at: usize) -> Vec<Text> {
        let param = definition.params()[at].1.clone();
        let mut texts: Vec<String> = Vec::new();
        match &param.ty {
            Type::Key(targets) => texts.extend(self.keys(targets)),
            Type::Enum(words) => texts.extend(words.iter().take(6).cloned()),
            Type::Any(types) => {
                texts.extend(types.iter().flat_map(well_known).map(|text| (*text).to_owned()));
            }
            _ => {}
        }
        texts.extend(well_known(&param.ty).iter().map(|text| (*text).to_owned()));
        if !matches!(param.ty, Type::Key(_) | Type::Uuid) {
            for len in [0, 1, 3, 8, 20, 70] {
                texts.extend(self.sample(definition, at, len));
            }
        }
        texts.extend(param.except.iter().cloned());
        for (char, replacement) in &param.encode {
            texts.push(format!("a{char}b{char}{char}c"));
            texts.push(format!("a{replacement}b"));
            texts.push(format!("{replacement}{char}"));
        }
        for mark in param.without.chars() {
            texts.extend([mark.to_string(), format!("a{mark}"), format!("a{mark}b")]);
        }
        let near: Vec<String> = texts.iter().take(3).flat_map(|text| near(text)).collect();
        texts.extend(near);
        texts.extend(HOSTILE.iter().map(|text| (*text).to_owned()));
        texts.push("a".repeat(300));
        let mut seen = std::collections::HashSet::new();
        texts.retain(|text| seen.insert(text.clone()));
        let broken = [Text::Utf16(0xd800), Text::Utf16(0xdfff), Text::Bytes(vec![0x61, 0xff])];
        texts.into_iter().map(Text::String).chain(broken).collect()
    }

    /// The same for a parameter of an event.
    pub(super) fn of_param(&mut self, param: &Param) -> Vec<Text> {
        let Some(keyspace) = self.alone(param) else { return Vec::new() };
        let texts = keyspace.definitions().next().map(|definition| self.of(definition, 0));
        texts.unwrap_or_default()
    }

    pub(super) fn ordinary_of(&mut self, param: &Param) -> Option<String> {
        if let Type::Key(targets) = &param.ty {
            return self.keys(targets).into_iter().next();
        }
        let keyspace = self.alone(param)?;
        self.ordinary(keyspace.definitions().next()?, 0)
    }

    /// Whether a parameter of an event takes a value.
    pub(super) fn admits(&self, param: &Param, value: &str) -> bool {
        let Some(Some(keyspace)) = self.alone.get(param) else { return true };
        keyspace.definitions().next().is_some_and(|it| it.build_named(&[("p", value)]).is_ok())
    }

    /// The value that a parameter of an event means by a text: what definitions of other types are given.
    pub(super) fn meant(&self, param: &Param, text: &str) -> String {
        let meant = || {
            let keyspace = self.alone.get(param)?.as_ref()?;
            let key = keyspace.definitions().next()?.build_named(&[("p", text)]).ok()?;
            Some(keyspace.parse(key.as_bytes())?.values.first()?.to_string())
        };
        meant().unwrap_or_else(|| text.to_owned())
    }

    fn alone(&mut self, param: &Param) -> Option<Keyspace> {
        let separator = char::from(self.schema.compiled.separator());
        let compile = || {
            if matches!(param.ty, Type::Key(_)) {
                return None;
            }
            let mut builder = Keyspace::builder(separator).ok()?;
            builder.define("alone", &Template::parse("{p}").ok()?, |_| Some(param.clone()));
            builder.finish().ok()
        };
        self.alone.entry(param.clone()).or_insert_with(compile).clone()
    }

    /// A key of each of these definitions, without the prefix.
    fn keys(&mut self, names: &[String]) -> Vec<String> {
        let schema = self.schema;
        let mut keys = Vec::new();
        for id in names.iter().filter_map(|name| schema.compiled.find(name)) {
            let definition = schema.compiled.definition(id);
            let values: Option<Vec<String>> =
                (0..definition.params().len()).map(|at| self.ordinary(definition, at)).collect();
            let Some(values) = values else { continue };
            let given: Vec<_> = values.iter().map(|value| value.as_str().into()).collect();
            let Ok(key) = definition.build(&given) else { continue };
            let names = definition.params().iter().map(|(name, _)| name.as_str());
            let prefix: Vec<(&str, &str)> = names
                .zip(values.iter().map(String::as_str))
                .take(definition.prefix_params())
                .collect();
            let bound = schema.compiled.bind(&prefix).ok();
            let prefix = bound.as_ref().and_then(Keyspace::prefix).map(super::literal);
            keys.extend(key.strip_prefix(&prefix.unwrap_or_default()).map(str::to_owned));
        }
        keys
    }

    fn sample(&mut self, definition: Definition<'_>, at: usize, len: usize) -> Option<String> {
        definition.sample(at, len, &mut |ways| self.choose(ways))
    }

    fn choose(&mut self, ways: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        usize::try_from(self.seed >> 33).unwrap_or(0) % ways.max(1)
    }
}

/// Spellings close to a good one.
fn near(text: &str) -> [String; 6] {
    [
        format!("{text} "),
        format!("{text}\n"),
        format!("{text}:"),
        format!("{text}x"),
        text.to_uppercase(),
        text.chars().skip(1).collect(),
    ]
}

/// What breaks naive keys: separators, globs, hash tags, controls, and letters and digits that
/// libraries disagree about.
const HOSTILE: &[&str] = &[
    "",
    " ",
    ":",
    "::",
    "a:b",
    "*",
    "a*",
    "?",
    "[a-z]",
    "{x}",
    "}",
    "{",
    "%",
    "%2F",
    "%2f",
    "%zz",
    "/",
    "//",
    "_",
    "__",
    "~",
    "~lease",
    "a~{lease}",
    "\0",
    "\n",
    "a\nb",
    "\r",
    "\t",
    "\u{7f}",
    "\u{85}",
    "\u{9f}",
    "\u{a0}",
    "\u{ad}",
    "\u{200b}",
    "\u{2028}",
    "\u{202e}",
    "\u{feff}",
    "\u{fffd}",
    "\u{ffff}",
    "é",
    "e\u{301}",
    "É",
    "ÄÖÜ",
    "ß",
    "ẞ",
    "İ",
    "I",
    "ı",
    "K",
    "Σ",
    "ΑΣ",
    "ς",
    "ǅ",
    "Ⅷ",
    "Ⓐ",
    "Ꭰ",
    "ﬀ",
    "𝄞",
    "𐐀",
    "\u{10ffff}",
    "数据",
    "٣",
    "٠١٢",
    "９",
    "1",
    "0",
    "a",
    "A",
    "Ab",
    "a.b",
    "a-b",
    "a_b",
    "-",
    "null",
    "None",
    "constructor",
    "__proto__",
    "toString",
    "\\",
    "\\u0041",
    "\"",
    "'",
    "`",
    "${x}",
    "#{x}",
    "$(x)",
    "<script>",
];

/// Values at the bounds of a type, an ordinary one first.
fn well_known(ty: &Type) -> &'static [&'static str] {
    match ty {
        Type::Text => &["report", "two words", "Ärger"],
        Type::Uuid => &[
            "550e8400-e29b-41d4-a716-446655440000",
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "550E8400-E29B-41D4-A716-446655440000",
            "550e8400e29b41d4a716446655440000",
            "{550e8400-e29b-41d4-a716-446655440000}",
            "urn:uuid:550e8400-e29b-41d4-a716-446655440000",
            "550e8400-e29b-41d4-a716-44665544000",
            "550e8400-e29b-41d4-a716-4466554400000",
            "550e840-0e29b-41d4-a716-446655440000",
            "1-1-1-1-1",
            "550e8400-e29b-41d4-a716-44665544000g",
            "٥50e8400-e29b-41d4-a716-446655440000",
        ],
        Type::Int | Type::Uint => &[
            "42",
            "0",
            "1",
            "-1",
            "-0",
            "+1",
            "01",
            "007",
            "1.0",
            "1e3",
            "0x10",
            "1_000",
            " 1",
            "1 ",
            "1n",
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "-9223372036854775809",
            "18446744073709551615",
            "18446744073709551616",
            "99999999999999999999",
            "Infinity",
            "NaN",
        ],
        Type::Unix | Type::UnixMs => &[
            "1700000000",
            "0",
            "-1",
            "00",
            "01",
            "4294967296",
            "253402300799",
            "253402300800",
            "253402300799999",
            "253402300800000",
            "9007199254740992",
            "18446744073709551615",
            "1.5",
            "1e9",
        ],
        Type::Date => &[
            "2026-11-15",
            "0001-01-01",
            "9999-12-31",
            "2024-02-29",
            "2023-02-29",
            "1900-02-29",
            "2000-02-29",
            "2026-02-30",
            "2026-04-31",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "0000-01-01",
            "10000-01-01",
            "2026-1-1",
            "26-11-15",
            "2026/11/15",
            "2026-11-15T00",
            "20261115",
            "٢٠٢٦-11-15",
        ],
        Type::Ip | Type::RawIp => &[
            "192.168.1.1",
            "0.0.0.0",
            "255.255.255.255",
            "256.1.1.1",
            "1.2.3",
            "1.2.3.4.5",
            "01.2.3.4",
            "1.2.3.04",
            "::1",
            "2001:db8::1",
            "2001:DB8::A",
            "::",
            "1::",
            "1:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7::",
            "::2:3:4:5:6:7:8",
            "1:2:3:4:5:6:1.2.3.4",
            "::1.2.3.4",
            "::ffff:1.2.3.4",
            "::FFFF:102:304",
            "::ffff:0:1.2.3.4",
            "1:2:3:4:5:6:7::8",
            "1:2:3:4:5:6:7:8:9",
            "1:2:3:4:5:6:7:1.2.3.4",
            "1::2::3",
            ":::",
            ":1",
            "1:",
            "12345::",
            "::ffff:01.2.3.4",
            "::ffff:256.1.1.1",
            "::1.2.3",
            "1.2.3.4::",
            "::\u{664}",
            "fe80::1%eth0",
            "[::1]",
            " ::1",
            "20010db8000000000000000000000001",
            "20010DB8000000000000000000000001",
            "00000000000000000000ffffc0a80101",
            "0000000000000000000000000000000",
            "00000000000000000000000000000001",
            "ffffffffffffffffffffffffffffffff",
            "localhost",
            "0x7f.1",
        ],
        Type::Locale => &[
            "de_DE",
            "de",
            "zh-Hans-CN",
            "es_419",
            "de_de",
            "de-DE_x",
            "zh_Hans-CN",
            "d",
            "deutsch",
            "DE",
        ],
        Type::Slug => &["two-words", "a", "a-b-c", "-a", "a-", "a--b", "A-b"],
        Type::Word => &["Word_1", "a", "_", "a-b", "ä"],
        Type::Ulid => &[
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "00000000000000000000000000",
            "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "80000000000000000000000000",
            "01arz3ndektsv4rrffq69g5fav",
            "01ARZ3ndektsv4rrffq69g5fav",
            "01ARZ3NDEKTSV4RRFFQ69G5FAI",
            "01arz3ndektsv4rrffq69g5fal",
            "01ARZ3NDEKTSV4RRFFQ69G5FA",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV0",
            "٠1ARZ3NDEKTSV4RRFFQ69G5FAV",
            "01ARZ3NDEKTſV4RRFFQ69G5FAV",
            "01ARZ3NDE\u{212a}TSV4RRFFQ69G5FAV",
        ],
        Type::Email => &[
            "anna@example.com",
            "a@b",
            "Anna.Maria+x@mail.example.co.uk",
            "o'neill@example.com",
            "a/b=c@example.com",
            "..@example.com",
            "a@b-c.de",
            "a@b--c.de",
            "a@-b.de",
            "a@b-.de",
            "a@b..de",
            "a@.de",
            "a@b.",
            "@b.de",
            "a@",
            "a@b@c",
            "a b@c.de",
            "\"a\"@c.de",
            "{a}@c.de",
            "a@[192.0.2.1]",
            "ä@example.com",
            "a@exämple.com",
            "a|b@example.com",
        ],
        Type::Base64Url(_) => {
            &["V1StGXR8_Z5jdHi6B-myT", "-", "_", "a", "AA", "AA==", "a+b", "a/b", "ä"]
        }
        Type::Alnum(_) => &["a7Bq90", "a", "0", "Z", "a-b", "a_b", "ä", "ſ", "٣"],
        Type::Digits(_) | Type::Hex(_) => &["0", "00", "deadbeef", "DEADBEEF", "0xff"],
        Type::Raw => &["{\"id\":5}", "}{", "{}", "\0", "\x06\x16", "\u{85}", "a b"],
        Type::Encoded => &[
            "a b/c", "plain", "ü", "a%20b", "%", "a:b", "{x}", "\0", "a+b", "*", "~", "-._",
            "日本", "😀",
        ],
        _ => &[],
    }
}
