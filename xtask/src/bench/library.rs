//! The document library: parsing and naming alone, and adding documents against a bare pipelined HSET of the same elements.

use super::plan::peak_kilobytes;
use super::{Table, at_least, at_most, compete};
use anyhow::{Context, Result, ensure};
use document_library::import::{self, Desired};
use document_library::kind::Kind;
use document_library::server::Library;
use keyward_testkit::Flavor;
use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant, SystemTime};

/// How large the text is that is parsed.
const PARSED: usize = 16 << 20;
/// How many documents are added, and how large each is.
const DOCUMENTS: usize = 40;
const ADDED: usize = 64 << 10;
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
    let mut elements = 0;
    for _ in 0..ROUNDS {
        let server = Flavor::Redis.start();
        let library = Library::connect(&server.url()).await?;
        let began = Instant::now();
        elements = 0;
        for (path, text) in &texts {
            let desired = Desired::new(path, text, now)?;
            elements += import::add(&library, &desired).await?.elements;
        }
        ours = ours.min(began.elapsed());
        let server = Flavor::Redis.start();
        theirs = theirs.min(bare(&server.url(), &peers).await?);
    }
    let speed = elements as f64 / ours.as_secs_f64();
    table.row(
        &format!("add {DOCUMENTS} documents with {elements} elements"),
        format!("{speed:.0} elements/s"),
        "20,000 elements/s".to_owned(),
        at_least(speed / 20_000.0, 1.0),
    );
    table.row(
        "the same",
        format!("{:.0} ms", ours.as_secs_f64() * 1e3),
        format!("HSET of the same elements in pipelines {:.0} ms", theirs.as_secs_f64() * 1e3),
        at_most(ours.as_secs_f64() / theirs.as_secs_f64(), 3.0),
    );
    Ok(())
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
