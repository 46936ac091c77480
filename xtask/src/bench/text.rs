//! Identifiers from text: a Markdown document is parsed, and each heading and paragraph gets its name.

use super::{Table, at_least, compete};
use anyhow::Result;
use keyward_text::{Numbers, Options, Pipeline};
use pulldown_cmark::{Event, Parser, Tag};
use std::fmt::Write as _;
use std::time::SystemTime;

/// The bound: bytes of Markdown in a second on one core.
const BOUND: f64 = 40e6;

const HEADING: Options<'_> = Options {
    abbreviations: &[("VaR", "value at risk"), ("ROI", "return on investment")],
    numbers: Some(Numbers::German),
    symbols: &[],
    stop_words: &[],
    words: None,
    max_len: Some(30),
    shorten: keyward_text::Shorten::Cut,
    idempotent: true,
};

const CONTENT: Options<'_> = Options {
    symbols: &[('&', "and"), ('%', "prozent"), ('€', "euro"), ('#', "hash"), ('<', "less_than")],
    stop_words: &["der", "die", "das", "und", "ist", "für", "the", "and", "of", "is", "in"],
    words: Some(4),
    ..HEADING
};

pub(super) fn run(table: &mut Table) -> Result<()> {
    let (heading, content) = (Pipeline::new(&HEADING)?, Pipeline::new(&CONTENT)?);
    let text = document();
    let now = SystemTime::UNIX_EPOCH;
    let [named, parsed] = compete([
        &mut || {
            let mut length = 0;
            for (event, range) in Parser::new(&text).into_offset_iter() {
                length += match event {
                    Event::Start(Tag::Heading { .. }) => heading.name(&text[range], now).len(),
                    Event::Start(Tag::Paragraph) => content.name(&text[range], now).len(),
                    _ => 0,
                };
            }
            length
        },
        &mut || Parser::new(&text).count(),
    ]);
    let rate = |time: std::time::Duration| text.len() as f64 / time.as_secs_f64();
    table.row(
        "text, parse and name",
        format!("{:.0} MB/s", rate(named) / 1e6),
        format!("{:.0} MB/s, and parsing alone {:.0} MB/s", BOUND / 1e6, rate(parsed) / 1e6),
        at_least(rate(named) / BOUND, 1.0),
    );
    Ok(())
}

/// Some 8 MB of headings and paragraphs in two languages.
fn document() -> String {
    let mut text = String::new();
    for number in 0..10_000 {
        let _ = write!(
            text,
            "## {number}. Diversifikation & Risiko: der Schlüssel zum Erfolg\n\n\
             Die **Korrelation** zwischen den Assets ist für {number} % der Anleger wichtig, denn \
             „Value at Risk“ (VaR) misst nur die Größe eines Verlusts, nicht seine Form. Wer die \
             Volatilität von Renditen über mehrere Jahre betrachtet, findet [Beispiele](https://example.org/{number}).\n\n\
             ### Standard deviation and the ROI of {number} funds\n\n\
             The standard deviation of returns is a measure of `volatility`, and it is the first number \
             that most investors look at. It says nothing about the order in which gains and losses come.\n\n\
             - a list with {number} entries\n- and another one\n\n"
        );
    }
    text
}
