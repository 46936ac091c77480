//! The document library: parsing and naming alone, and adding documents against a bare pipelined HSET of the same elements.

use super::{Table, at_least, at_most, compete};
use anyhow::{Context, Result, ensure};
use document_library::import::{self, Desired};
use document_library::kind::Kind;
use document_library::server::Library;
use keyward_testkit::Flavor;
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
    runtime.block_on(add(table, &text))
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
        theirs = theirs.min(bare(&server.url(), &texts).await?);
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
        format!("parse, and HSET in pipelines {:.0} ms", theirs.as_secs_f64() * 1e3),
        at_most(ours.as_secs_f64() / theirs.as_secs_f64(), 3.0),
    );
    Ok(())
}

/// A text of its own for each document: other headings, and so other names.
fn varied(text: &str, document: usize) -> String {
    let mut varied = String::new();
    while varied.len() < ADDED {
        varied += &text.replace("# ", &format!("# Teil {document} {} ", varied.len()));
    }
    varied
}

/// The elements alone, 500 in each round trip.
async fn bare(url: &str, texts: &[(String, String)]) -> Result<Duration> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let began = Instant::now();
    for (path, text) in texts {
        let desired = Desired::new(path, text, SystemTime::now())?;
        let elements: Vec<_> = desired.tree.elements.iter().enumerate().collect();
        for some in elements.chunks(500) {
            let mut all = redis::pipe();
            for (at, element) in some {
                let key = format!("{}:{}:{at:03}", element.kind.prefix(), desired.name(*at));
                let own = if element.kind == Kind::Chunk { "text" } else { "heading" };
                all.cmd("HSET")
                    .arg(key)
                    .arg(own)
                    .arg(element.source)
                    .arg("title")
                    .arg(&*element.words);
                all.arg("content_hash").arg(&desired.hashes[*at]).arg("position").arg(*at);
                all.arg("parent").arg(path).ignore();
            }
            () = all.query_async(&mut connection).await.context("HSET")?;
        }
    }
    Ok(began.elapsed())
}
