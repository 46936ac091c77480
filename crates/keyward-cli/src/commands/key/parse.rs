//! `keyward key parse`: what a key is.

use super::answer::{Answerer, Form};
use super::describe::describe;
use super::near;
use super::stream::{MAX_LINE, Stopped, Tally, stream};
use crate::args::{KeyFormat, KeyParse};
use crate::failure::{Failure, Result, why};
use crate::output::{self, Output};
use crate::verdict::Verdict;
use keyward_fact::{Size, thousands, visible_json};
use keyward_pattern::Keyspace;
use keyward_schema::Schema;
use serde_json::{Value, json};
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
    let answerer = Answerer::new(schemas, keyspaces, form);
    if keys == [b"-"] {
        return from_standard_input(answerer, output);
    }
    if keys.contains(&&b"-"[..]) {
        return Err(Failure::new("`-` means standard input and cannot be combined with keys"));
    }
    let mut unknown = false;
    for key in keys {
        let mut values = Vec::new();
        let known = answerer.look(key, &mut values);
        unknown |= known.is_none();
        match (&known, format) {
            (Some(known), KeyFormat::Full) => {
                output.print(describe(key, known, &values, schemas, keyspaces))?;
            }
            (None, KeyFormat::Full) => {
                output::complain(near::describe(key, schemas, keyspaces))?;
            }
            (_, KeyFormat::Json) if !several => {
                let mut object = object(&answerer, key);
                if known.is_none() {
                    object["nearest"] = near::object(key, schemas, keyspaces);
                }
                output.print(visible_json(format!("{object:#}\n")))?;
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
        output.note("reading keys from standard input, one per line; end with Ctrl-D")?;
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
                Failure::new(format!("a line of standard input is longer than {limit}"))
                    .help("pass keys, one per line: `redis-cli --scan | keyward key parse -`")
            }
        })?;
    if keys == 0 {
        return Err(Failure::new("nothing was parsed: standard input is empty")
            .help("pass keys, one per line: `redis-cli --scan | keyward key parse -`"));
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
