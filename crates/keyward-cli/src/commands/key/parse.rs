//! `keyward key parse`: what a key is.

use super::answer::{Answerer, Form, Found};
use super::near;
use super::stream::{MAX_LINE, Stopped, Tally, stream};
use crate::args::{KeyFormat, KeyParse};
use crate::failure::{Failure, Result, why};
use crate::output::{self, BOLD, Output, printable};
use crate::verdict::Verdict;
use keyward_fact::{Size, thousands};
use keyward_pattern::{Keyspace, slot};
use keyward_schema::Schema;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::thread::available_parallelism;
use std::time::Instant;

pub(super) fn run(
    args: &KeyParse,
    schemas: &[Schema],
    keyspaces: &[Keyspace],
    output: &Output,
) -> Result<Verdict> {
    let keys: Vec<&[u8]> = args.keys.iter().map(|key| key.as_encoded_bytes()).collect();
    let several = keys.len() > 1 || keys == [b"-"];
    let format = args.format.unwrap_or(if several { KeyFormat::Concise } else { KeyFormat::Full });
    let form = match format {
        KeyFormat::Full | KeyFormat::Concise => Form::Text,
        KeyFormat::Json | KeyFormat::Jsonl => Form::Json,
    };
    let names: Vec<&str> = schemas.iter().map(|schema| schema.keyspace.name.as_str()).collect();
    let answerer = Answerer::new(keyspaces, &names, form);
    if keys == [b"-"] {
        return from_standard_input(answerer, output);
    }
    if keys.contains(&&b"-"[..]) {
        return Err(Failure::new("`-` stands for standard input, and takes no keys beside it"));
    }
    let mut unknown = false;
    for key in keys {
        let mut values = Vec::new();
        let found = answerer.find(key, &mut values);
        unknown |= found.is_none();
        match (&found, format) {
            (Some(found), KeyFormat::Full) => {
                output.print(full(key, found, &values, schemas, keyspaces))?;
            }
            (None, KeyFormat::Full) => {
                output::complain(near::describe(key, schemas, keyspaces))?;
            }
            (_, KeyFormat::Json) if !several => {
                let mut object = object(&answerer, key);
                if found.is_none() {
                    object["nearest"] = near::object(key, schemas, keyspaces);
                }
                output.print(format_args!("{object:#}\n"))?;
            }
            _ => {
                let mut line = Vec::new();
                answerer.answer(key, &mut values, &mut line);
                output.print(String::from_utf8_lossy(&line))?;
            }
        }
    }
    Ok(Verdict::of(unknown))
}

fn from_standard_input(answerer: Answerer, output: &Output) -> Result<Verdict> {
    if io::stdin().is_terminal() {
        output.note("reading keys from standard input, one a line; end with Ctrl-D")?;
    }
    let start = Instant::now();
    let workers = available_parallelism().map_or(1, usize::from).min(8);
    let Tally { keys, unknown } = stream(io::stdin(), io::stdout().lock(), answerer, workers)
        .map_err(|stopped| match stopped {
            Stopped::Writing(error) => Failure::from(error),
            Stopped::Reading(error) => {
                Failure::new(format!("cannot read standard input: {}", why(&error)))
            }
            Stopped::LongLine => {
                let limit = Size::from_bytes(MAX_LINE as u64).human();
                Failure::new(format!("a line of standard input has more than {limit}"))
                    .help("give it keys, one a line: `redis-cli --scan | keyward key parse -`")
            }
        })?;
    if keys == 0 {
        return Err(Failure::new("nothing was parsed: standard input is empty")
            .help("give it keys, one a line: `redis-cli --scan | keyward key parse -`"));
    }
    output.detail(format_args!(
        "{} keys, {} unknown, in {} ms",
        thousands(keys),
        thousands(unknown),
        start.elapsed().as_millis()
    ))?;
    Ok(Verdict::of(unknown > 0))
}

fn object(answerer: &Answerer, key: &[u8]) -> Value {
    let mut line = Vec::new();
    answerer.answer(key, &mut Vec::new(), &mut line);
    serde_json::from_slice(&line).unwrap_or_else(|_| json!({ "definition": null }))
}

/// What there is to say about a key of one schema, for people.
pub(in crate::commands) fn describe_key(key: &[u8], schema: &Schema) -> String {
    let keyspaces = std::slice::from_ref(&schema.compiled);
    let schemas = std::slice::from_ref(schema);
    let answerer = Answerer::new(keyspaces, &[schema.keyspace.name.as_str()], Form::Text);
    let mut values = Vec::new();
    match answerer.find(key, &mut values) {
        Some(found) => full(key, &found, &values, schemas, keyspaces),
        None => near::describe(key, schemas, keyspaces),
    }
}

/// Everything there is to know about a key, for people.
fn full(
    key: &[u8],
    found: &Found<'_>,
    values: &[Cow<'_, str>],
    schemas: &[Schema],
    keyspaces: &[Keyspace],
) -> String {
    let declared = &schemas[found.keyspace].keys[found.definition.index()];
    let definition = keyspaces[found.keyspace].definition(found.definition);
    let mut text = format!("{}\n", BOLD.on(definition.name()));
    let mut rows: Vec<(&str, String)> = Vec::new();
    for ((name, param), value) in definition.params().iter().zip(values) {
        rows.push((name, format!("{value}  ({})", param.ty)));
    }
    if let Some((owner, word)) = found.derived {
        rows.push(("derived", format!("`{word}` of {owner}")));
    }
    rows.push(("pattern", near::pattern(declared, &schemas[found.keyspace])));
    let role = declared.role.as_ref().map(|role| role.name());
    let kind: Vec<&str> = declared.key_type.iter().map(|kind| kind.name()).chain(role).collect();
    if !kind.is_empty() {
        rows.push(("type", kind.join(", ")));
    }
    if let Some(ttl) = &declared.ttl {
        rows.push(("ttl", ttl.to_string()));
    }
    rows.push(("lifecycle", declared.lifecycle.name().to_owned()));
    rows.extend(declared.owner.iter().map(|owner| ("owner", owner.value.clone())));
    rows.extend(declared.group.iter().map(|group| ("group", group.value.clone())));
    rows.push(("slot", slot(key).to_string()));
    let one_line = |doc: &str| doc.split_whitespace().collect::<Vec<_>>().join(" ");
    rows.extend(declared.doc.iter().map(|doc| ("doc", one_line(doc))));
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in rows {
        let _ = writeln!(text, "  {name:<width$}  {}", printable(&value));
    }
    text
}
