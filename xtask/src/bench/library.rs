//! The document library: parsing and naming alone, and adding documents against a bare pipelined HSET of the same elements,
//! and against bare writes of all keys that the library writes.

use super::plan::peak_kilobytes;
use super::{Table, at_least, at_most, compete};
use anyhow::{Context, Result, ensure};
use document_library::import::{self, Desired};
use document_library::kind::Kind;
use document_library::server::Library;
use futures_util::{StreamExt as _, stream};
use keyward_testkit::Flavor;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How large the text is that is parsed.
const PARSED: usize = 16 << 20;
/// How many documents are added, and how large each is.
const DOCUMENTS: usize = 40;
const ADDED: usize = 64 << 10;
/// How many are added at once: the program's default on this many processors.
const AT_ONCE: usize = 2;
/// How often documents are added, each time to an empty server.
const ROUNDS: usize = 5;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let texts = crate::root()?.join("examples/document-library/texts");
    let text = [
        fs::read_to_string(texts.join("portfolio.md"))?,
        fs::read_to_string(texts.join("glossar.md"))?,
    ];
    // Without the front matter, which only the first would have.
    let text = text.iter().filter_map(|text| text.splitn(3, "---\n").nth(2)).collect::<String>();
    parse(table, &text)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(add(table, &text))?;
    runtime.block_on(memory(table))
}

fn parse(table: &mut Table, text: &str) -> Result<()> {
    let text = text.repeat(PARSED / text.len());
    let now = SystemTime::now();
    let mut named = || {
        let Ok(desired) = Desired::new("/texts/portfolio.md", &text, now) else { return 0 };
        (0..desired.tree.elements.len()).map(|at| desired.name(at).len()).sum()
    };
    ensure!(named() > 0, "the text has no elements");
    let [best] = compete([&mut named]);
    let speed = text.len() as f64 / best.as_secs_f64() / 1e6;
    table.row(
        "parse a Markdown document and name its elements",
        format!("{speed:.0} MB/s"),
        "40 MB/s".to_owned(),
        at_least(speed / 40.0, 1.0),
    );
    Ok(())
}

async fn add(table: &mut Table, text: &str) -> Result<()> {
    let now = SystemTime::now();
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    let texts: Vec<(String, String)> = (0..DOCUMENTS)
        .map(|document| (format!("/texts/{document:03}.md"), varied(text, document)))
        .collect();
    // The peer does nothing but send: what it sends is made before.
    let mut peers = Vec::new();
    for (path, text) in &texts {
        peers.extend(hashes(path, text)?);
    }
    let texts: Arc<[(String, String)]> = texts.into();
    let mut elements = 0;
    let (mut whole, mut commands) = (Vec::new(), 0);
    let mut bare_whole = Duration::MAX;
    for round in 0..ROUNDS {
        let server = Flavor::Redis.start();
        let library = Library::connect(&server.url()).await?;
        let began = Instant::now();
        elements = add_all(&library, &texts, now).await?;
        ours = ours.min(began.elapsed());
        if round == 0 {
            (whole, commands) = contents(&server.url()).await?;
        }
        let server = Flavor::Redis.start();
        theirs = theirs.min(bare(&server.url(), &peers).await?);
        let server = Flavor::Redis.start();
        bare_whole = bare_whole.min(bare(&server.url(), &whole).await?);
    }
    let speed = elements as f64 / ours.as_secs_f64();
    table.row(
        &format!("add {DOCUMENTS} documents with {elements} elements, {AT_ONCE} at once"),
        format!("{speed:.0} elements/s"),
        "20,000 elements/s".to_owned(),
        at_least(speed / 20_000.0, 1.0),
    );
    let milliseconds = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1e3);
    table.row(
        "the same",
        milliseconds(ours),
        format!("HSET of the same elements in pipelines {}", milliseconds(theirs)),
        at_most(ours.as_secs_f64() / theirs.as_secs_f64(), 3.0),
    );
    table.row(
        "the same",
        milliseconds(ours),
        format!(
            "all of its {commands} keys, written bare in pipelines {}",
            milliseconds(bare_whole)
        ),
        format!("{:.2}×", ours.as_secs_f64() / bare_whole.as_secs_f64()),
    );
    Ok(())
}

/// Adds them as the program does: several at once.
async fn add_all(
    library: &Library,
    texts: &Arc<[(String, String)]>,
    now: SystemTime,
) -> Result<usize> {
    let mut tasks = stream::iter(0..texts.len())
        .map(|at| {
            let (library, texts) = (library.clone(), Arc::clone(texts));
            let task = tokio::spawn(async move {
                let (path, text) = &texts[at];
                let desired = Desired::new(path, text, now)?;
                Ok::<usize, anyhow::Error>(import::add(&library, &desired).await?.elements)
            });
            async move { task.await? }
        })
        .buffer_unordered(AT_ONCE);
    let mut elements = 0;
    while let Some(added) = tasks.next().await {
        elements += added?;
    }
    Ok(elements)
}

/// Everything that is on a server, as commands that write it: one for each key, 500 in each round trip; how many keys.
async fn contents(url: &str) -> Result<(Vec<redis::Pipeline>, usize)> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await?;
    let mut pipelines = Vec::new();
    for keys in keys.chunks(500) {
        let mut all = redis::pipe();
        for key in keys {
            let kind: String = redis::cmd("TYPE").arg(key).query_async(&mut connection).await?;
            let (read, write): (&[&str], &str) = match kind.as_str() {
                "hash" => (&["HGETALL"], "HSET"),
                "set" => (&["SMEMBERS"], "SADD"),
                "zset" => (&["ZRANGE", "0", "-1", "WITHSCORES"], "ZADD"),
                _ => (&["GET"], "SET"),
            };
            let mut cmd = redis::cmd(read[0]);
            cmd.arg(key).arg(&read[1..]);
            let mut values: Vec<String> = if write == "SET" {
                vec![cmd.query_async(&mut connection).await?]
            } else {
                cmd.query_async(&mut connection).await?
            };
            if write == "ZADD" {
                values.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
            }
            all.cmd(write).arg(key).arg(values).ignore();
        }
        pipelines.push(all);
    }
    Ok((pipelines, keys.len()))
}

/// How much memory a document with 101,000 headings takes at most, from its text to the server.
async fn memory(table: &mut Table) -> Result<()> {
    let mut text = String::new();
    for chapter in 0..1000 {
        let _ = writeln!(text, "# {} Chapter", word(chapter));
        for part in 0..10 {
            let _ = writeln!(text, "## {} {} Part", word(part), word(chapter));
            for at in 0..9 {
                let _ = writeln!(text, "### {} {} {}", word(at), word(part), word(chapter));
            }
        }
    }
    let server = Flavor::Redis.start();
    let library = Library::connect(&server.url()).await?;
    // Forgets the peak so far.
    fs::write("/proc/self/clear_refs", "5")?;
    let desired = Desired::new("/texts/headings.md", &text, SystemTime::now())?;
    let elements = import::add(&library, &desired).await?.elements;
    ensure!(elements == 101_000, "{elements} elements");
    let peak = peak_kilobytes()? as f64 / 1024.0;
    table.row(
        &format!("memory for a document with {elements} headings"),
        format!("{peak:.0} MB"),
        "400 MB".to_owned(),
        at_most(peak / 400.0, 1.0),
    );
    Ok(())
}

/// A word of its own for each number below 1,000.
fn word(number: usize) -> String {
    let letter = |number: usize| char::from(b"bcdfghjklm"[number % 10]);
    format!("x{}{}{}", letter(number), letter(number / 10), letter(number / 100))
}

/// A text of its own for each document: other headings, and so other names.
fn varied(text: &str, document: usize) -> String {
    let mut varied = String::new();
    while varied.len() < ADDED {
        varied += &text.replace("# ", &format!("# Teil {document} {} ", varied.len()));
    }
    varied
}

/// The elements of a document with the fields that the library writes, 500 in each round trip.
fn hashes(path: &str, text: &str) -> Result<Vec<redis::Pipeline>> {
    let desired = Desired::new(path, text, SystemTime::now())?;
    let name = |at: usize| {
        let kind = desired.tree.elements[at].kind;
        format!("{}:{}:{:03}", kind.prefix(), desired.name(at), at % 999 + 1)
    };
    let document = format!("doc:{}:001", desired.identifier);
    let elements: Vec<_> = desired.tree.elements.iter().enumerate().collect();
    let mut pipelines = Vec::new();
    for some in elements.chunks(500) {
        let mut all = redis::pipe();
        for (at, element) in some {
            let parent = element.parent.map_or_else(|| document.clone(), name);
            all.cmd("HSET").arg(name(*at)).arg("parent").arg(parent);
            if element.kind == Kind::Chunk {
                all.arg("text").arg(element.source);
            } else {
                all.arg("title").arg(&*element.words).arg("heading").arg(element.source);
            }
            all.arg("content_hash").arg(&desired.hashes[*at]);
            all.arg("position").arg(at + 1).ignore();
        }
        pipelines.push(all);
    }
    Ok(pipelines)
}

/// Sends them one after the other.
async fn bare(url: &str, pipelines: &[redis::Pipeline]) -> Result<Duration> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let began = Instant::now();
    for all in pipelines {
        () = all.query_async(&mut connection).await.context("HSET")?;
    }
    Ok(began.elapsed())
}
