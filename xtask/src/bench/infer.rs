//! `keyward infer` of a snapshot, against `keyward audit` of the same file: of the mix (`KEYWARD_BENCH_KEYS` keys, two
//! million unless told otherwise), of keys with very many words in one place, and of as many different prefixes.
//! Memory is the most that `/proc/PID/status` called `RssAnon` while the program ran.

use super::audit::{dump, program, schemas, timed};
use super::{Table, at_most, key_count};
use anyhow::{Context, Result};
use keyward_rdb::Version;
use keyward_rdb::writer::{Attributes, Content, Writer};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const ROUNDS: usize = 3;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let root = crate::root()?;
    let program = program()?;
    let folder = program.parent().context("the program stands in a folder")?;
    let keys = key_count()?;
    let words = |number: u64| format!("metric:{}:{number}", word(number % 10_000));
    let prefixes = |number: u64| format!("{}:{}", word(number), number % 7);
    let fields = |number: u64| format!("{}:{}:{number}", word(number % 4000), word(number % 9));
    let files = [
        (format!("infer, {keys} keys"), dump(folder, keys)?),
        (format!("infer, {keys} keys, 10,000 words"), file(folder, "words", keys, words, 0)?),
        ("infer, 1,000,000 prefixes".to_owned(), file(folder, "prefixes", 1_000_000, prefixes, 0)?),
        (
            "infer, 200,000 hashes with 60 fields".to_owned(),
            file(folder, "fields", 200_000, fields, 60)?,
        ),
    ];
    for (what, dump) in files {
        let (mut ours, mut theirs, mut most) = (Duration::MAX, Duration::MAX, 0);
        for _ in 0..ROUNDS {
            let mut infer = Command::new(&program);
            infer.arg("infer").arg(&dump).arg("--quiet");
            let (time, memory) = timed(&mut infer, &[0, 1])?;
            (ours, most) = (ours.min(time), most.max(memory));
            let mut audit = Command::new(&program);
            audit
                .arg("audit")
                .arg(&dump)
                .args(schemas(&root))
                .args(["--format", "json", "--quiet"]);
            theirs = theirs.min(timed(&mut audit, &[0, 1])?.0);
        }
        table.row(
            &what,
            format!("{:.3} s", ours.as_secs_f64()),
            format!("audit: {:.3} s", theirs.as_secs_f64()),
            at_most(ours.as_secs_f64() / theirs.as_secs_f64(), 3.0),
        );
        table.row(
            &format!("{what}, memory"),
            format!("{:.1} MB (RssAnon)", most as f64 / 1e6),
            "256 MB".to_owned(),
            at_most(most as f64 / 256e6, 1.0),
        );
    }
    Ok(())
}

/// A word of six letters for each number.
fn word(number: u64) -> String {
    let mut rest = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
    let mut word = String::new();
    for _ in 0..7 {
        word.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    word
}

/// A snapshot of so many keys, strings or hashes with so many fields.
fn file(
    folder: &Path,
    name: &str,
    keys: u64,
    key: impl Fn(u64) -> String,
    fields: u64,
) -> Result<PathBuf> {
    let path = folder.join(format!("infer-{name}-{keys}.rdb"));
    if path.exists() {
        return Ok(path);
    }
    let half = path.with_extension("half");
    let mut writer = Writer::new(BufWriter::new(File::create(&half)?), Version::redis(10))?;
    writer.aux(b"ctime", b"1794700800")?;
    writer.select(0)?;
    writer.size(keys, 0)?;
    for number in 0..keys {
        let names: Vec<String> = (0..fields).map(|field| word(number * fields + field)).collect();
        let pairs: Vec<(&[u8], &[u8])> =
            names.iter().map(|name| (name.as_bytes(), name.as_bytes())).collect();
        let content = if fields == 0 { Content::String(b"7") } else { Content::Hash(&pairs) };
        writer.key(key(number).as_bytes(), &Attributes::default(), &content)?;
    }
    writer.finish()?;
    std::fs::rename(half, &path)?;
    Ok(path)
}
