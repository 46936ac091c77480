//! Two versions of a schema of a thousand definitions, compared: with one change, and with a change in each.

use super::{Table, at_most};
use anyhow::{Result, anyhow};
use keyward_rules::{BreakingOptions, breaking};
use keyward_schema::model::Date;
use keyward_schema::{Schema, read};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// The bound, in seconds.
const BOUND: f64 = 1.0;

const DEFINITIONS: usize = 1_000;

/// What a definition is like, by its number.
const PATTERNS: [&str; 8] = [
    "{id:uuid}:listing",
    "{user:uint}:{folder:uuid}",
    "{region:word}:{kind:slug}",
    "{path}:{locale:locale}",
    "{query:encoded}",
    "{ip:ip}:limit",
    "{user:uint}:{day:date}",
    "{rest...}",
];

pub(super) fn run(table: &mut Table) -> Result<()> {
    let old = schema("app:", "1h")?;
    let cases = [
        ("one TTL", schema_with(|text| text.replacen("\"1h\"", "\"2h\"", 1))?),
        ("every TTL", schema("app:", "2h")?),
        ("every pattern", schema("web:", "1h")?),
        (
            "every type",
            schema_with(|text| text.replace(":uint}", ":slug}").replace(":uuid}", ":hex}"))?,
        ),
    ];
    let options = BreakingOptions {
        today: Date { year: 2026, month: 11, day: 17 },
        tiers: &[],
        measured: None,
    };
    for (what, new) in cases {
        let mut best = Duration::MAX;
        let mut found = 0;
        for _ in 0..5 {
            let start = Instant::now();
            found = std::hint::black_box(breaking(&old, &new, &options)).findings.len();
            best = best.min(start.elapsed());
        }
        table.row(
            &format!("breaking, 1,000 definitions, {what}"),
            format!("{:.0} ms, {found} findings", best.as_secs_f64() * 1e3),
            format!("{BOUND:.0} s"),
            at_most(best.as_secs_f64() / BOUND, 1.0),
        );
    }
    Ok(())
}

fn schema(prefix: &str, ttl: &str) -> Result<Schema> {
    parsed(&text(prefix, ttl))
}

fn schema_with(change: impl Fn(String) -> String) -> Result<Schema> {
    parsed(&change(text("app:", "1h")))
}

fn parsed(text: &str) -> Result<Schema> {
    read(text).schema.map_err(|errors| anyhow!("{}", errors[0].message))
}

fn text(prefix: &str, ttl: &str) -> String {
    let mut text = format!("version = 1\n[keyspace]\nname = \"bench\"\nprefix = \"{prefix}\"\n");
    for number in 0..DEFINITIONS {
        let pattern = PATTERNS[number % PATTERNS.len()];
        let _ = write!(
            text,
            "[keys.d{number}]\npattern = \"k{number}:{pattern}\"\nvalue = \"uint\"\nttl = \"{ttl}\"\n"
        );
    }
    text
}
