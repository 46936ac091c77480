//! What of the corpus the language of schemas can say: each true pattern is written as a definition, and the keys that
//! have it are counted.

use crate::apps::{App, Key, apps};
use crate::truth::{Part, parts};
use keyward_pattern::prove::ambiguities;
use keyward_pattern::{Keyspace, Param, Template, Type};
use std::fmt::Write as _;
use std::path::Path;

/// The characters of which one may be the separator of a keyspace.
const SEPARATORS: [char; 4] = [':', '/', '.', '|'];

/// How well a pattern can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// With the values that are true of it
    Exactly,
    /// With `{name...}` for values that contain the separator
    Wider,
    /// As a name of other software only
    Never(&'static str),
}

#[derive(Debug, Default)]
struct Counts {
    patterns: u64,
    keys: u64,
}

fn judge(parts: &[Part], separator: char, keys: &[&Key]) -> Said {
    for wider in [false, true] {
        let Some(keyspace) = keyspace(parts, separator, wider) else { continue };
        let found = |key: &&Key| keyspace.classify(&key.name).is_some();
        if ambiguities(&keyspace).is_empty() && keys.iter().all(found) {
            return if wider { Said::Wider } else { Said::Exactly };
        }
    }
    let holds = |what: fn(char) -> bool| {
        keys.iter().any(|key| String::from_utf8_lossy(&key.name).chars().any(what))
    };
    Said::Never(if keys.iter().any(|key| std::str::from_utf8(&key.name).is_err()) {
        "bytes that are not UTF-8"
    } else if holds(char::is_control) {
        "control characters"
    } else if holds(|char| matches!(char, '{' | '}')) {
        "braces in values"
    } else {
        "values whose ends cannot be told"
    })
}

/// A keyspace with this pattern alone.
fn keyspace(parts: &[Part], separator: char, wider: bool) -> Option<Keyspace> {
    let mut text = String::new();
    let mut forms = Vec::new();
    for part in parts {
        match part {
            Part::Text('{') => text.push_str("{{"),
            Part::Text('}') => text.push_str("}}"),
            Part::Text(char) => text.push(*char),
            Part::Parameter(form) => {
                let param = Param::from(Type::Regex(form.clone()));
                let fits = one(&param, separator);
                let rest = if wider && !fits { "..." } else { "" };
                let _ = write!(text, "{{p{}{rest}}}", forms.len());
                forms.push(if fits { param } else { Type::Text.into() });
                if !fits && !wider {
                    return None;
                }
            }
        }
    }
    let template = Template::parse(&text).ok()?;
    let mut builder = Keyspace::builder(separator).ok()?;
    builder.define("it", &template, |name| forms.get(name[1..].parse::<usize>().ok()?).cloned());
    builder.finish().ok()
}

/// Whether a parameter can have this type.
fn one(param: &Param, separator: char) -> bool {
    let mut builder = Keyspace::builder(separator).unwrap();
    builder.define("it", &Template::parse("{it}").unwrap(), |_| Some(param.clone()));
    builder.finish().is_ok()
}

/// The character that most keys of an application contain.
fn separator(keys: &[Key]) -> char {
    let having = |char: char| keys.iter().filter(|key| key.name.contains(&(char as u8))).count();
    // Of several, the first.
    SEPARATORS.into_iter().rev().max_by_key(|char| having(*char)).unwrap_or(':')
}

fn count(app: &App, into: &mut Vec<(Said, Counts)>) {
    let keys = app.keys().unwrap();
    let separator = separator(&keys);
    for (number, pattern) in app.truth.patterns.iter().enumerate() {
        let own: Vec<&Key> = keys.iter().filter(|key| key.pattern == number).collect();
        let said = judge(&parts(&pattern.key).unwrap(), separator, &own);
        let at = into.iter().position(|(known, _)| *known == said).unwrap_or_else(|| {
            into.push((said, Counts::default()));
            into.len() - 1
        });
        into[at].1.patterns += 1;
        into[at].1.keys += own.len() as u64;
    }
}

fn row(what: &str, of: &[&(Said, Counts)]) -> String {
    let patterns: u64 = of.iter().map(|(_, counts)| counts.patterns).sum();
    let keys: u64 = of.iter().map(|(_, counts)| counts.keys).sum();
    format!(
        "| {what} | {} | {} |\n",
        keyward_fact::thousands(patterns),
        keyward_fact::thousands(keys)
    )
}

/// The table in the reference says what was counted.
#[test]
fn what_no_pattern_can_say_is_counted() {
    let mut counts = Vec::new();
    let mut applications = 0;
    for set in ["tune", "held-out"] {
        for app in apps(set).unwrap() {
            count(&app, &mut counts);
            applications += 1;
        }
    }
    let of = |wanted: fn(&Said) -> bool| {
        counts.iter().filter(|(said, _)| wanted(said)).collect::<Vec<_>>()
    };
    let mut table =
        format!("| of {applications} applications | patterns | keys |\n|---|---|---|\n");
    table += &row("said exactly", &of(|said| *said == Said::Exactly));
    table += &row(
        "said with `{name...}` for values that contain the separator",
        &of(|said| *said == Said::Wider),
    );
    let mut never = of(|said| matches!(said, Said::Never(_)));
    never.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.keys));
    for it in &never {
        let Said::Never(why) = it.0 else { continue };
        table += &row(&format!("not said: {why}"), &[it]);
    }
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/schema/patterns.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(&table), "the page must have this table:\n\n{table}");
}
