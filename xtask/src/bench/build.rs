//! Building keys, against `format!` with the same values.

use super::{Table, at_most, compete, each};
use anyhow::{Context, Result};
use keyward_pattern::{Keyspace, Template, Value};

const COUNT: usize = 100_000;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let mut builder = Keyspace::builder(':')?;
    builder.prefix(&Template::parse("xc:")?, |_| None);
    for (name, pattern) in [
        ("uuid", "folder:{id:uuid}:listing"),
        ("two", "avail:{content:uint}:{region:word}"),
        ("text", "page:{path}:{locale:locale}"),
    ] {
        builder.define(name, &Template::parse(pattern)?, |_| None);
    }
    let keyspace = builder.finish().map_err(|mut errors| errors.remove(0))?;
    let find = |name| keyspace.find(name).map(|id| keyspace.definition(id)).context("just defined");

    let ids: Vec<String> =
        (0..COUNT).map(|n| format!("550e8400-e29b-41d4-a716-{n:012x}")).collect();
    let uuid = find("uuid")?;
    compare(
        table,
        "build, a uuid",
        &mut || ids.iter().map(|id| uuid.build(&[Value::Str(id)]).map_or(0, |key| key.len())).sum(),
        &mut || {
            ids.iter().map(|id| std::hint::black_box(format!("xc:folder:{id}:listing")).len()).sum()
        },
    );
    // Values that the compiler cannot see: it would write a constant into the format string.
    let [region, locale] = std::hint::black_box(["europe_west", "de_DE"]);
    let two = find("two")?;
    compare(
        table,
        "build, a number and a word",
        &mut || {
            (0..COUNT as u64)
                .map(|n| {
                    two.build(&[Value::Uint(n * 977), Value::Str(region)])
                        .map_or(0, |key| key.len())
                })
                .sum()
        },
        &mut || {
            (0..COUNT as u64)
                .map(|n| std::hint::black_box(format!("xc:avail:{}:{}", n * 977, region)).len())
                .sum()
        },
    );
    let text = find("text")?;
    compare(
        table,
        "build, a text and a locale",
        &mut || {
            ids.iter()
                .map(|path| {
                    text.build(&[Value::Str(&path[24..]), Value::Str(locale)])
                        .map_or(0, |key| key.len())
                })
                .sum()
        },
        &mut || {
            ids.iter()
                .map(|path| {
                    std::hint::black_box(format!("xc:page:{}:{}", &path[24..], locale)).len()
                })
                .sum()
        },
    );
    Ok(())
}

fn compare(
    table: &mut Table,
    what: &str,
    keyward: &mut dyn FnMut() -> usize,
    format: &mut dyn FnMut() -> usize,
) {
    let [keyward, format] = compete([keyward, format]).map(|best| each(best, COUNT));
    table.row(
        what,
        format!("{keyward:.0} ns"),
        format!("format! {format:.0} ns"),
        at_most(keyward / format, 1.0),
    );
}
