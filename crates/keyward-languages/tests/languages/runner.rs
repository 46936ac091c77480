//! Calls generated code as golden vectors say. The arguments are the files, in the order of the keyspaces.

use keyward::BuildError;
use serde_json::{Map, Value};

pub(crate) type Texts<'t> = [(&'t str, &'t str)];
type Pairs = Vec<(&'static str, String)>;

/// One generated module.
pub(crate) struct Keyspace {
    pub(crate) prefix: fn(&Texts<'_>) -> Result<String, BuildError>,
    pub(crate) build: ByName<Built>,
    pub(crate) parse: fn(&[u8]) -> Option<Parsed>,
    pub(crate) glob: ByName<String>,
    pub(crate) event: ByName<Invalid>,
    pub(crate) former: fn(&[u8]) -> Option<Former>,
    pub(crate) names: ByName<keyward::KeyNames>,
}

/// A key under an old name.
pub(crate) struct Former {
    pub(crate) definition: &'static str,
    pub(crate) migration: &'static str,
    pub(crate) phase: &'static str,
    pub(crate) db: Option<u64>,
    pub(crate) params: Option<Pairs>,
    pub(crate) prefix: Option<Pairs>,
}

/// Makes something of the prefix's values, a name and values.
type ByName<T> = fn(&Texts<'_>, &str, &Texts<'_>) -> Result<T, BuildError>;
/// The key and its slot, and whether it is read back as what it was built from.
type Built = (String, u16, bool);
/// The definition, its values and the prefix's.
type Parsed = (&'static str, Pairs, Pairs);
/// Keys and globs.
type Invalid = (Vec<String>, Vec<String>);

/// A module whose prefix has no parameters.
macro_rules! fixed {
    ($module:ident, $events:ident) => {
        crate::runner::Keyspace {
            prefix: |_| Ok(crate::$module::Prefix.to_string()),
            build: |_, definition, values| {
                let key = crate::$module::build(definition, values)?;
                let text = key.to_string();
                Ok((text.clone(), key.slot(), crate::$module::Key::parse(&text) == Some(key)))
            },
            parse: |key| {
                let key = crate::$module::Key::parse(key)?;
                let definition = key.definition();
                let names = definition.params.iter().map(|param| param.name);
                Some((definition.name, names.zip(key.values()).collect(), Vec::new()))
            },
            glob: |_, definition, values| crate::$module::glob(definition, values),
            event: |_, event, values| {
                crate::runner::fixed!(@$events $module, event, values)
            },
            former: crate::runner::former!($module),
            names: |_, definition, values| Ok(crate::$module::build(definition, values)?.names()),
        }
    };
    (@events $module:ident, $event:ident, $values:ident) => {{
        let event = crate::$module::event($event, $values)?;
        Ok((event.keys().iter().flat_map(|key| key.names().write).collect(), event.globs()))
    }};
    (@none $module:ident, $event:ident, $values:ident) => {
        Err(keyward::BuildError::NoDefinition(format!("{} {:?}", $event, $values)))
    };
}

/// What any module says of an old name.
macro_rules! former {
    ($module:ident) => {
        |key| {
            use keyward::Prefix;
            let found = crate::$module::Key::parse_former(key)?;
            let definition = found.definition;
            let names = definition.params.iter().map(|param| param.name);
            let of_prefix = crate::$module::Prefix::PARAMS.iter().map(|param| param.name);
            Some(crate::runner::Former {
                definition: definition.name,
                migration: found.migration,
                phase: found.phase.name(),
                db: found.db,
                params: found.key.map(|key| names.zip(key.values()).collect()),
                prefix: found.prefix.map(|prefix| of_prefix.zip(prefix.values()).collect()),
            })
        }
    };
}

/// A module whose prefix has some.
#[allow(unused_macros, reason = "some crates have only one kind of prefix")]
macro_rules! bound {
    ($module:ident, $events:ident) => {
        crate::runner::Keyspace {
            prefix: |values| Ok(crate::$module::prefix(values)?.to_string()),
            build: |prefix, definition, values| {
                let prefix = crate::$module::prefix(prefix)?;
                let key = crate::$module::build(definition, values)?;
                let (text, slot) = (key.key(&prefix), key.slot(&prefix));
                Ok((text.clone(), slot, crate::$module::Key::parse(&text) == Some((prefix, key))))
            },
            parse: |key| {
                use keyward::Prefix;
                let (prefix, key) = crate::$module::Key::parse(key)?;
                let definition = key.definition();
                let names = definition.params.iter().map(|param| param.name);
                let of_prefix = crate::$module::Prefix::PARAMS.iter().map(|param| param.name);
                Some((
                    definition.name,
                    names.zip(key.values()).collect(),
                    of_prefix.zip(prefix.values()).collect(),
                ))
            },
            glob: |prefix, definition, values| {
                crate::$module::glob(&crate::$module::prefix(prefix)?, definition, values)
            },
            event: |prefix, event, values| {
                crate::runner::bound!(@$events $module, prefix, event, values)
            },
            former: crate::runner::former!($module),
            names: |prefix, definition, values| {
                let prefix = crate::$module::prefix(prefix)?;
                Ok(crate::$module::build(definition, values)?.names(&prefix))
            },
        }
    };
    (@events $module:ident, $prefix:ident, $event:ident, $values:ident) => {{
        let prefix = crate::$module::prefix($prefix)?;
        let event = crate::$module::event($event, $values)?;
        let keys = event.keys();
        let keys = keys.iter().flat_map(|key| key.names(&prefix).write);
        Ok((keys.collect(), event.globs(&prefix)))
    }};
    (@none $module:ident, $prefix:ident, $event:ident, $values:ident) => {
        Err(keyward::BuildError::NoDefinition(format!("{} {:?} {:?}", $event, $prefix, $values)))
    };
}

#[allow(unused_imports, reason = "some crates have only one kind of prefix")]
pub(crate) use {bound, fixed, former};

/// Checks each keyspace by the vectors in the file of the same place.
#[allow(dead_code, reason = "for the crate that is nothing but this")]
pub(crate) fn run(keyspaces: &[Keyspace]) {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    assert_eq!(paths.len(), keyspaces.len());
    let (mut checked, mut failed) = (0, 0);
    for (keyspace, path) in keyspaces.iter().zip(&paths) {
        let document = std::fs::read_to_string(path).expect("a file of vectors");
        let (count, failures) = check(keyspace, &document);
        checked += count;
        failed += failures.len();
        for failure in failures {
            println!("{path}: {failure}");
        }
    }
    if failed > 0 {
        println!("{failed} of {checked} vectors failed");
        std::process::exit(1);
    }
    println!("checked {checked} vectors in {} keyspaces", keyspaces.len());
}

/// How many vectors were checked, and those that failed.
pub(crate) fn check(keyspace: &Keyspace, document: &str) -> (usize, Vec<String>) {
    let document: Value = serde_json::from_str(document).expect("JSON");
    let prefix = texts(&document["prefix"]).expect("texts");
    let (mut checked, mut failures) = (0, Vec::new());
    for (list, check) in CHECKS {
        for vector in document[*list].as_array().expect("a list") {
            let Some(found) = check(keyspace, &pairs(&prefix), vector) else { continue };
            checked += 1;
            if let Err(found) = found {
                failures.push(format!("{list} {vector}\n    but {found}"));
            }
        }
    }
    (checked, failures)
}

/// `None` if the vector holds what Rust cannot.
type Check = fn(&Keyspace, &Texts<'_>, &Value) -> Option<Result<(), String>>;

const CHECKS: &[(&str, Check)] = &[
    ("prefixes", |keyspace, _, vector| {
        given(vector, |values| match (keyspace.prefix)(values) {
            Ok(prefix) => same(&vector["prefix"], &prefix.into()),
            Err(error) => refused(vector, &error),
        })
    }),
    ("build", |keyspace, prefix, vector| {
        given(vector, |values| {
            match (keyspace.build)(prefix, text(&vector["definition"]), values) {
                Ok((_, _, false)) => Err("it is read back as something else".to_owned()),
                Ok((key, slot, true)) => {
                    same(&vector["key"], &key.into()).and(same(&vector["slot"], &slot.into()))
                }
                Err(error) => refused(vector, &error),
            }
        })
    }),
    ("parse", |keyspace, _, vector| {
        let key = key_bytes(vector)?;
        let Some((definition, values, prefix)) = (keyspace.parse)(&key) else {
            return Some(same(&vector["definition"], &Value::Null));
        };
        let expected_prefix = vector.get("prefix").cloned().unwrap_or_else(|| Map::new().into());
        Some(
            same(&vector["definition"], &definition.into())
                .and(same(&vector["params"], &object(values)))
                .and(same(&expected_prefix, &object(prefix))),
        )
    }),
    ("glob", |keyspace, prefix, vector| {
        given(vector, |values| match (keyspace.glob)(prefix, text(&vector["definition"]), values) {
            Ok(glob) => same(&vector["glob"], &glob.into()),
            Err(error) => refused(vector, &error),
        })
    }),
    ("events", |keyspace, prefix, vector| {
        given(vector, |values| match (keyspace.event)(prefix, text(&vector["event"]), values) {
            Ok((keys, globs)) => {
                same(&vector["keys"], &keys.into()).and(same(&vector["globs"], &globs.into()))
            }
            Err(error) => refused(vector, &error),
        })
    }),
    ("former", |keyspace, _, vector| {
        let Some(found) = (keyspace.former)(&key_bytes(vector)?) else {
            return Some(same(&vector["definition"], &Value::Null));
        };
        let values = |values: Option<Pairs>| values.map_or(Value::Null, object);
        let mut got = Map::new();
        got.insert("key".to_owned(), vector["key"].clone());
        got.insert("definition".to_owned(), found.definition.into());
        got.insert("migration".to_owned(), found.migration.into());
        got.insert("phase".to_owned(), found.phase.into());
        got.extend(found.db.map(|db| ("db".to_owned(), db.into())));
        if vector.get("prefix").is_some() {
            got.insert("prefix".to_owned(), values(found.prefix));
        }
        got.insert("params".to_owned(), values(found.params));
        Some(same(vector, &got.into()))
    }),
    ("names", |keyspace, prefix, vector| {
        given(vector, |values| {
            match (keyspace.names)(prefix, text(&vector["definition"]), values) {
                Ok(names) => same(&vector["read"], &names.read.into())
                    .and(same(&vector["write"], &names.write.into())),
                Err(error) => refused(vector, &error),
            }
        })
    }),
];

fn key_bytes(vector: &Value) -> Option<Vec<u8>> {
    match &vector["key"] {
        Value::String(key) => Some(key.clone().into_bytes()),
        other => bytes(other),
    }
}

/// Checks a vector with its parameters, if they are texts; bytes that are none must be refused.
fn given(
    vector: &Value,
    check: impl FnOnce(&Texts<'_>) -> Result<(), String>,
) -> Option<Result<(), String>> {
    if let Some(values) = texts(&vector["params"]) {
        return Some(check(&pairs(&values)));
    }
    let params = vector["params"].as_object().expect("an object");
    let (name, other) = params.iter().find(|(_, value)| value.is_object())?;
    assert!(String::from_utf8(bytes(other)?).is_err());
    Some(same(&vector["refused"], &name.as_str().into()))
}

fn refused(vector: &Value, error: &BuildError) -> Result<(), String> {
    match error {
        BuildError::Value { error, .. } => same(&vector["refused"], &error.name.into()),
        BuildError::Reserved(error) => {
            same(&vector["refused"], &"".into()).and(same(&vector["reserved"], &error.by.into()))
        }
        other => Err(other.to_string()),
    }
}

fn same(expected: &Value, found: &Value) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(found.to_string()) }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn texts(params: &Value) -> Option<Vec<(String, String)>> {
    let params = params.as_object().expect("an object").iter();
    params.map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn pairs(values: &[(String, String)]) -> Vec<(&str, &str)> {
    values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn object(values: Pairs) -> Value {
    values
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect::<Map<_, _>>()
        .into()
}

/// The bytes of `{"hex": "61ff"}`.
fn bytes(value: &Value) -> Option<Vec<u8>> {
    let digits = value.get("hex")?.as_str()?.as_bytes();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
    Some(pairs.map(|pair| u8::from_str_radix(pair, 16).expect("digits")).collect())
}
