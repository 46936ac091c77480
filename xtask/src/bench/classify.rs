//! Classifying keys, against splitting them and against one regular expression a pattern.

use super::corpus::{Corpus, KEYS};
use super::{Table, at_least, at_most, compete, each};
use anyhow::Result;
use keyward_pattern::DefinitionId;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let small = measure(13, 3.0, 2.5, table)?;
    let large = measure(1_000, 4.5, 6.0, table)?;
    table.row(
        "classify, 1,000 patterns",
        format!("{large:.0} ns"),
        format!("13 patterns {small:.0} ns"),
        at_most(large / small, 1.5),
    );
    for patterns in [13, 400] {
        measure_other_separator(patterns, table)?;
    }
    Ok(())
}

/// Patterns whose separator is not the keyspace's: each is one segment.
fn measure_other_separator(patterns: usize, table: &mut Table) -> Result<()> {
    let (own, other) = (Corpus::new(patterns)?, Corpus::separated(patterns, '|')?);
    let classify = |corpus: &Corpus| {
        let found = corpus.keys().filter_map(|key| corpus.keyspace.classify(key));
        found.map(|id| id.index() + 1).sum()
    };
    let [own, other] = compete([&mut || classify(&own), &mut || classify(&other)]);
    let (own, other) = (each(own, KEYS), each(other, KEYS));
    table.row(
        &format!("classify, {patterns} patterns with another separator"),
        format!("{other:.0} ns"),
        format!("with the keyspace's {own:.0} ns"),
        at_most(other / own, 4.0),
    );
    Ok(())
}

/// Nanoseconds a key at so many patterns.
fn measure(patterns: usize, split_bound: f64, regex_bound: f64, table: &mut Table) -> Result<f64> {
    let corpus = Corpus::new(patterns)?;
    let regexes: Vec<String> = corpus.patterns.iter().map(|pattern| regex(pattern)).collect();
    let set = regex::bytes::RegexSetBuilder::new(&regexes)
        .size_limit(1 << 30)
        .dfa_size_limit(1 << 28)
        .build()?;

    let mut split = || corpus.keys().map(split).sum();
    let mut classify = || {
        corpus.keys().filter_map(|key| corpus.keyspace.classify(key)).map(DefinitionId::index).sum()
    };
    let mut regex_set = || corpus.keys().filter_map(|key| set.matches(key).iter().next()).sum();
    let [split, classify, regex_set] = compete([&mut split, &mut classify, &mut regex_set]);
    let (split, classify, regex_set) =
        (each(split, KEYS), each(classify, KEYS), each(regex_set, KEYS));

    let what = format!("classify, {patterns} patterns, mean {:.0} bytes", corpus.mean_len());
    table.row(
        &what,
        format!("{classify:.0} ns"),
        format!("memchr split {split:.0} ns"),
        at_most(classify / split, split_bound),
    );
    table.row(
        &what,
        format!("{classify:.0} ns"),
        format!("RegexSet {regex_set:.0} ns"),
        at_least(regex_set / classify, regex_bound),
    );
    Ok(classify)
}

/// Every segment of a key found and nothing done with it: the least any classifier must do.
fn split(key: &[u8]) -> usize {
    let mut start = 0;
    let mut longest = 0;
    for end in memchr::memchr_iter(b':', key).chain([key.len()]) {
        longest = longest.max(end - start);
        start = end + 1;
    }
    longest
}

/// A pattern as a regular expression, as a careful person would write it.
fn regex(pattern: &str) -> String {
    let mut regex = String::from(r"^(?-u)");
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map_or(rest.len(), |at| open + at);
        regex += &regex::escape(&rest[..open]);
        regex += match rest[open + 1..close].split_once(':').map_or("text", |(_, ty)| ty) {
            "uuid" => "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "uint" => "[0-9]{1,20}",
            "hex(32)" => "[0-9a-f]{32}",
            "word" => "[A-Za-z0-9_]+",
            "locale" => "[a-z]{2}_[A-Z]{2}",
            "ip" => r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}",
            "date" => "[0-9]{4}-[0-9]{2}-[0-9]{2}",
            _ => "[^:]+",
        };
        rest = &rest[close + 1..];
    }
    regex + &regex::escape(rest) + r"\z"
}
