//! A definition, or an inferred group, with everything that the report says about it.

use super::areas::class;
use super::chart::{Quantiles, Range, Scale, strip};
use super::finding::lines;
use super::links::Links;
use super::page::counted;
use crate::render::subject::Subject;
use crate::render::words;
use crate::report::{Facts, Finding, Report, Severity};
use keyward_fact::thousands;
use keyward_page::{Span, Strip, Token, per_cent, prose, tokens};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a definition's row and card are filled with.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// Where it is: `#key-cart`
    href: String,
    name: String,
    schema: Option<String>,
    tokens: Vec<Token>,
    lifecycle: &'static str,
    /// Short facts: lifecycle, declared type, owner, …
    badges: Vec<(&'static str, String)>,
    keys: String,
    /// `1 key`
    counted: String,
    keys_number: u64,
    own: Own,
    bytes: String,
    bytes_number: u64,
    share: String,
    /// In per cent of the largest
    bar: f64,
    errors: u64,
    warnings: u64,
    flag: String,
    findings: Vec<(usize, Vec<Span>, &'static str)>,
    ttl: RowTtl,
    types: Vec<Slice>,
    encodings: Vec<Slice>,
    /// Sizes, lengths, remaining TTLs, idle times, frequencies, as far as known
    quantiles: Vec<Quantiles>,
    sizes: Option<Sizes>,
    params: Vec<RowParam>,
    biggest: Vec<RowBig>,
    old_names: Vec<(String, String, String, String)>,
    derived: Option<String>,
    examples: Vec<String>,
    /// A definition of a group, to be copied into a schema, line by line
    toml: Vec<String>,
}

/// The keys of its own pattern alone.
#[derive(Debug, Serialize)]
struct Own {
    keys: String,
    keys_number: u64,
    bytes: String,
    bytes_number: u64,
    share: String,
    /// `40 more under old names, 3 derived`, where there are any
    beside: String,
}

impl Own {
    fn new(subject: &Subject<'_>, all: u64) -> Self {
        let (facts, definition) = (subject.facts, subject.definition);
        let bytes = facts.bytes.unwrap_or(0);
        let old = definition.map_or(0, |it| it.old_names.iter().map(|old| old.keys).sum());
        let derived = definition.map_or(0, |it| it.derived.keys);
        let old = (old > 0).then(|| format!("{} more under old names", thousands(old)));
        let derived = (derived > 0).then(|| format!("{} derived", thousands(derived)));
        let beside: Vec<String> = old.into_iter().chain(derived).collect();
        Own {
            keys: thousands(facts.keys),
            keys_number: facts.keys,
            bytes: words::size_if_known(facts.bytes),
            bytes_number: bytes,
            share: words::percent(words::share(bytes, all)),
            beside: beside.join(", "),
        }
    }
}

#[derive(Debug, Serialize)]
struct RowTtl {
    strip: Strip,
    declared: Option<String>,
    half: Option<String>,
    none: String,
    /// Whether the schema declares a TTL that keys do not have
    none_is_wrong: bool,
    too_long: Option<String>,
    expired: Option<String>,
}

#[derive(Debug, Serialize)]
struct Sizes {
    range: Range,
    p50: String,
    p99: String,
    max: String,
}

/// How many keys have one type, or one encoding.
#[derive(Debug, Serialize)]
struct Slice {
    name: String,
    keys: String,
    share: String,
    bar: f64,
}

#[derive(Debug, Serialize)]
struct RowParam {
    name: String,
    ty: String,
    distinct: String,
    error: String,
}

#[derive(Debug, Serialize)]
struct RowBig {
    key: String,
    bytes: String,
    length: Option<String>,
    db: u64,
}

impl Row {
    pub(super) fn new(
        report: &Report,
        subject: &Subject<'_>,
        links: &Links,
        most: u64,
        scale: Scale,
    ) -> Self {
        let facts = subject.facts;
        let (errors, warnings) = (subject.count(Severity::Error), subject.count(Severity::Warning));
        let bytes = subject.bytes().unwrap_or(0);
        Row {
            href: links.of(subject),
            name: subject.name.to_owned(),
            schema: subject.definition.map(|it| it.schema.clone()),
            tokens: tokens(subject.pattern),
            lifecycle: class(subject.lifecycle()),
            badges: badges(subject),
            keys: thousands(subject.keys()),
            counted: words::counted(subject.keys(), "key"),
            keys_number: subject.keys(),
            own: Own::new(subject, report.summary.bytes.unwrap_or(0)),
            bytes: words::size_if_known(subject.bytes()),
            bytes_number: bytes,
            share: words::percent(words::share(bytes, report.summary.bytes.unwrap_or(0))),
            bar: per_cent(words::share(bytes, most)),
            errors,
            warnings,
            flag: flag(errors, warnings),
            findings: findings(subject),
            ttl: ttl(facts),
            types: slices(&facts.types),
            encodings: slices(&facts.encodings),
            quantiles: quantiles(facts),
            sizes: facts.sizes.as_ref().filter(|it| !it.histogram.is_empty()).map(|sizes| Sizes {
                range: Range::new(sizes, scale),
                p50: words::size(sizes.p50),
                p99: words::size(sizes.p99),
                max: words::size(sizes.max),
            }),
            params: params(subject),
            biggest: biggest(facts),
            old_names: old_names(subject),
            derived: derived(subject),
            examples: examples(subject),
            toml: subject.group.map(lines).unwrap_or_default(),
        }
    }

    pub(super) fn strip(&self) -> &Strip {
        &self.ttl.strip
    }
}

/// `1 error, 2 warnings`
pub(super) fn flag(errors: u64, warnings: u64) -> String {
    let errors = (errors > 0).then(|| words::counted(errors, "error"));
    let warnings = (warnings > 0).then(|| words::counted(warnings, "warning"));
    let both: Vec<String> = errors.into_iter().chain(warnings).collect();
    both.join(", ")
}

fn badges(subject: &Subject<'_>) -> Vec<(&'static str, String)> {
    let lengths = subject.facts.key_lengths.map(|it| {
        let text = format!("{}, {}", words::average_length(it), words::longest(it));
        ("length of the keys' names", text)
    });
    let Some(definition) = subject.definition else { return lengths.into_iter().collect() };
    let mut badges = vec![("lifecycle", definition.lifecycle.clone())];
    badges.extend(definition.declared_type.iter().map(|it| ("type", it.clone())));
    badges.extend(definition.group.iter().map(|it| ("group", it.clone())));
    badges.extend(definition.owner.iter().map(|it| ("owner", it.clone())));
    badges.extend(lengths);
    badges
}

/// The findings about it: their numbers, messages and severities.
fn findings(subject: &Subject<'_>) -> Vec<(usize, Vec<Span>, &'static str)> {
    let row =
        |(number, it): &(usize, &Finding)| (number + 1, prose(&it.message), it.severity.name());
    subject.findings.iter().map(row).collect()
}

fn ttl(facts: &Facts) -> RowTtl {
    let ttl = &facts.ttl;
    let declared = ttl.declared.clone();
    RowTtl {
        strip: strip(ttl),
        half: (ttl.expiring > 0).then(|| words::seconds(ttl.remaining.p50)),
        none: words::percent(words::share(ttl.none, facts.keys)),
        none_is_wrong: ttl.none > 0 && declared.as_deref().is_some_and(|it| it != "none"),
        too_long: (ttl.too_long > 0).then(|| thousands(ttl.too_long)),
        expired: (ttl.expired > 0).then(|| thousands(ttl.expired)),
        declared,
    }
}

/// Names with their keys, the most first.
fn slices(counts: &BTreeMap<String, u64>) -> Vec<Slice> {
    let all = counts.values().sum();
    let mut counts: Vec<_> = counts.iter().filter(|(_, keys)| **keys > 0).collect();
    counts.sort_by_key(|(_, keys)| std::cmp::Reverse(**keys));
    let slice = |(name, keys): (&String, &u64)| Slice {
        name: name.clone(),
        keys: thousands(*keys),
        share: words::percent(words::share(*keys, all)),
        bar: per_cent(words::share(*keys, all)),
    };
    counts.into_iter().map(slice).collect()
}

fn quantiles(facts: &Facts) -> Vec<Quantiles> {
    let known = |it: &&crate::report::Distribution| !it.histogram.is_empty();
    let all = [
        ("Bytes", facts.sizes.as_ref(), words::size as fn(u64) -> String),
        ("Length", Some(&facts.lengths), thousands),
        ("Remaining TTL", Some(&facts.ttl.remaining), words::seconds),
        ("Idle for", facts.idle.as_ref(), words::seconds),
        ("Use (LFU)", facts.freq.as_ref(), thousands),
    ];
    all.into_iter()
        .filter_map(|(label, of, write)| {
            of.filter(known).map(|of| Quantiles::new(label, of, write))
        })
        .collect()
}

fn params(subject: &Subject<'_>) -> Vec<RowParam> {
    let params = subject.definition.map(|definition| definition.params.as_slice());
    let row = |param: &crate::report::Param| RowParam {
        name: param.name.clone(),
        ty: param.ty.clone(),
        distinct: thousands(param.distinct),
        error: words::percent(param.error),
    };
    params.unwrap_or_default().iter().map(row).collect()
}

fn biggest(facts: &Facts) -> Vec<RowBig> {
    let row = |big: &crate::report::Big| RowBig {
        key: big.key.to_string(),
        bytes: words::size(big.bytes),
        length: big.length.map(thousands),
        db: big.db,
    };
    facts.biggest.iter().map(row).collect()
}

fn examples(subject: &Subject<'_>) -> Vec<String> {
    let examples = subject.group.map(|group| group.examples.as_slice()).unwrap_or_default();
    examples.iter().map(ToString::to_string).collect()
}

fn old_names(subject: &Subject<'_>) -> Vec<(String, String, String, String)> {
    let old_names = subject.definition.map(|definition| definition.old_names.as_slice());
    let row = |old: &crate::report::OldName| {
        let (keys, bytes) = (thousands(old.keys), words::size_if_known(old.bytes));
        (old.pattern.clone(), old.migration.clone(), keys, bytes)
    };
    old_names.unwrap_or_default().iter().map(row).collect()
}

fn derived(subject: &Subject<'_>) -> Option<String> {
    let derived = subject.definition?.derived;
    (derived.keys > 0).then(|| counted(derived))
}
