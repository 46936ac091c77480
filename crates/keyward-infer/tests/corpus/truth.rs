//! The patterns that are true of a keyspace, as a person judged them: `truth.toml` beside a snapshot.
//!
//! A pattern is the text of its keys. `{name}` stands for letters, digits, `_` and `-`; `{name:type}` for one of
//! [`TYPES`], for `hex(n)`, for one of the words `a|b|c`, or for a regular expression between slashes. `{{` and `}}` are
//! braces. A key belongs to a pattern if all of it matches and its Redis type is the pattern's.

use anyhow::{Context, Result, bail, ensure};
use regex::bytes::Regex;
use serde::Deserialize;
use std::path::Path;

/// What the types of parameters match.
const TYPES: [(&str, &str); 10] = [
    ("alnum", "[A-Za-z0-9]+"),
    ("base64url", "[A-Za-z0-9_-]+"),
    ("date", "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    ("email", "[A-Za-z0-9._-]+@[A-Za-z0-9.-]+"),
    ("hex", "[0-9a-f]+"),
    ("ipv4", r"[0-9]+(?:\.[0-9]+){3}"),
    ("slug", "[a-z0-9]+(?:-[a-z0-9]+)*"),
    ("uint", "[0-9]+"),
    ("ulid", "[0-9A-HJKMNP-TV-Z]{26}"),
    ("uuid", "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
];

/// The true patterns of one application.
#[derive(Debug)]
pub(crate) struct Truth {
    pub(crate) software: String,
    pub(crate) patterns: Vec<Pattern>,
}

#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) key: String,
    pub(crate) key_type: String,
    form: Regex,
}

impl Truth {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            software: String,
            patterns: Vec<Line>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Line {
            key: String,
            r#type: String,
        }
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
        let pattern = |line: Line| -> Result<Pattern> {
            let form = form(&line.key).with_context(|| format!("in `{}`", line.key))?;
            Ok(Pattern { form: Regex::new(&form)?, key: line.key, key_type: line.r#type })
        };
        let patterns = file.patterns.into_iter().map(pattern).collect::<Result<_>>()?;
        Ok(Truth { software: file.software, patterns })
    }

    /// The number of the only pattern that a key belongs to.
    pub(crate) fn pattern_of(&self, key: &[u8], key_type: &str) -> Result<usize> {
        let belongs =
            |pattern: &Pattern| pattern.key_type == key_type && pattern.form.is_match(key);
        let mut found = self.patterns.iter().enumerate().filter(|(_, pattern)| belongs(pattern));
        let shown = key.escape_ascii();
        let Some((at, first)) = found.next() else {
            bail!("no true pattern has the {key_type} `{shown}`");
        };
        if let Some((_, second)) = found.next() {
            bail!("`{}` and `{}` both have the {key_type} `{shown}`", first.key, second.key);
        }
        Ok(at)
    }
}

/// A piece of a pattern: text, or a parameter with the regular expression of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(char),
    Parameter(String),
}

/// A pattern as a regular expression over whole keys.
fn form(pattern: &str) -> Result<String> {
    let part = |part: &Part| match part {
        Part::Text(char) => regex::escape(char.encode_utf8(&mut [0; 4])),
        Part::Parameter(form) => format!("(?:{form})"),
    };
    let parts: String = parts(pattern)?.iter().map(part).collect();
    Ok(format!("^(?s-u:{parts})$"))
}

/// What a pattern consists of.
pub(crate) fn parts(pattern: &str) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some(char) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("{{").filter(|_| !rest.starts_with("{{{")) {
            parts.push(Part::Text('{'));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("}}") {
            parts.push(Part::Text('}'));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("{{{") {
            parts.push(Part::Text('{'));
            rest = &rest[rest.len() - after.len() - 1..];
        } else if let Some(after) = rest.strip_prefix('{') {
            let (parameter, after) = parameter(after)?;
            parts.push(Part::Parameter(parameter));
            rest = after;
        } else {
            parts.push(Part::Text(char));
            rest = &rest[char.len_utf8()..];
        }
    }
    Ok(parts)
}

/// What a parameter matches, and the pattern after it.
fn parameter(text: &str) -> Result<(String, &str)> {
    let end = text.find([':', '}']).context("a `{` has no end")?;
    let (name, rest) = text.split_at(end);
    let is_name = name.chars().all(|char| matches!(char, 'a'..='z' | '0'..='9' | '_'));
    ensure!(is_name && !name.is_empty(), "`{name}` is not a parameter's name");
    let Some(rest) = rest.strip_prefix(':') else {
        return Ok(("[A-Za-z0-9_-]+".to_owned(), &rest[1..]));
    };
    if let Some(rest) = rest.strip_prefix('/') {
        let end = rest.find("/}").context("a regular expression has no end")?;
        return Ok((rest[..end].replace(r"\/", "/"), &rest[end + 2..]));
    }
    let (ty, rest) = rest.split_once('}').context("a `{` has no end")?;
    if let Some((_, form)) = TYPES.iter().find(|(name, _)| *name == ty) {
        return Ok(((*form).to_owned(), rest));
    }
    if let Some(length) = ty.strip_prefix("hex(").and_then(|ty| ty.strip_suffix(')')) {
        let length: u32 = length.parse().context("`hex(n)` takes a number")?;
        return Ok((format!("[0-9a-f]{{{length}}}"), rest));
    }
    ensure!(ty.contains('|'), "`{ty}` is not a type");
    Ok((ty.split('|').map(regex::escape).collect::<Vec<_>>().join("|"), rest))
}

fn matches(pattern: &str, key: &str) -> bool {
    Regex::new(&form(pattern).unwrap()).unwrap().is_match(key.as_bytes())
}

#[test]
fn a_pattern_is_text_and_typed_parameters() {
    assert!(matches("cart:{user:uint}", "cart:42"));
    assert!(!matches("cart:{user:uint}", "cart:42:items"));
    assert!(matches("a.{b}", "a.b-c_1"));
    assert!(!matches("a.{b}", "axb"));
    assert!(matches("{digest:hex(4)}", "00af"));
    assert!(matches("{mode:ranked|casual}|{n:uint}", "casual|7"));
    assert!(matches(r"{at:/[0-9]+\/[0-9]+/}", "1/2"));
    assert!(matches("cms:\u{0}tags\u{0}{tag}", "cms:\u{0}tags\u{0}x"));
}

#[test]
fn doubled_braces_are_braces() {
    assert!(matches("dev:{{{device}}}:info", "dev:{a1}:info"));
    assert!(matches("x:{{y/{n:uint}/z}}", "x:{y/1/z}"));
}

#[test]
fn a_pattern_that_cannot_be_read_is_an_error() {
    for wrong in ["{", "{a", "{a:", "{a:b}", "{:uint}", "{a:/b}"] {
        assert!(form(wrong).is_err(), "{wrong}");
    }
}
