use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::segment::within;
use crate::words::listed;
use keyward_pattern::Template;
use keyward_schema::span::{Span, Spanned};
use std::ops::Range;

/// How many placeholders a message names.
const MAX_LISTED: usize = 5;

rule! {
    /// ## What it does
    /// Reports text in a pattern that is a placeholder in another notation but literal text here:
    /// `<id>`, `%s`, `%d`, `${id}`, `*`, `?`. Also reports white space and a second hash tag.
    ///
    /// Old names of migrations may contain white space and several hash tags, if their keys did.
    ///
    /// ## Why is this bad
    /// `user:<id>` is one key, not one key for each user. A `*` in a key makes every glob over it
    /// match too much, and a space breaks tools that read one key per line. Of two hash tags, Redis
    /// Cluster reads only the first.
    ///
    /// ## Example
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:<user_id>:profile"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}:profile"
    /// ttl = "1h"
    /// ```
    Shape, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let prefix = cx.schema.keyspace.prefix.as_ref();
    if let Some(prefix) = prefix {
        out.extend(placeholders("the prefix", prefix));
        out.extend(white_space("the prefix", prefix));
    }
    for definition in &cx.schema.keys {
        let pattern = &definition.pattern;
        let whose = format!("the pattern of `{}`", definition.name.value);
        let found = placeholders(&whose, pattern).into_iter().chain(white_space(&whose, pattern));
        out.extend(found.map(|finding| finding.about(definition)));
        if let [first, second, ..] = tags(prefix.into_iter().chain([pattern])).as_slice() {
            out.add(
                Finding::new(format!("{whose} has two hash tags, and only the first counts"))
                    .about(definition)
                    .at(second, "has no effect")
                    .at(first, "decides the slot")
                    .help("remove the `#` from the parameter that should not decide the slot"),
            );
        }
    }
    for migration in &cx.schema.migrations {
        for rename in &migration.renames {
            let whose = format!("an old name of `{}`", rename.definition.value);
            let found = placeholders(&whose, &rename.from);
            out.extend(found.map(|finding| finding.about_migration(migration)));
        }
    }
}

/// Where the tagged parameters of a key's patterns stand, in their order.
fn tags<'t>(patterns: impl Iterator<Item = &'t Spanned<Template>>) -> Vec<Span> {
    let of_pattern = |pattern: &'t Spanned<Template>| {
        let tagged = pattern.holes().filter(|hole| hole.tag);
        tagged.map(|hole| within(pattern, hole.span.clone()))
    };
    patterns.flat_map(of_pattern).collect()
}

/// What other notations mean by a piece of text.
#[derive(Debug, PartialEq)]
enum Foreign<'t> {
    /// `<id>`
    Angle(&'t str),
    /// `%s`
    Printf,
    /// `${id}`
    Dollar(&'t str),
    /// `*` or `?`
    Glob,
    Space,
}

/// All placeholders of a pattern in one finding.
fn placeholders<'a>(whose: &str, pattern: &Spanned<Template>) -> Option<Finding<'a>> {
    let mut found = all(pattern);
    found.retain(|(_, foreign)| *foreign != Foreign::Space);
    let texts: Vec<&str> =
        found.iter().map(|(range, _)| &pattern.as_str()[range.clone()]).collect();
    let are_not = match texts.as_slice() {
        [] => return None,
        [_] => "which is not a parameter",
        _ => "which are not parameters",
    };
    let mut names: Vec<String> = Vec::new();
    for (_, foreign) in &found {
        let name = match foreign {
            Foreign::Angle(name) | Foreign::Dollar(name) => format!("{{{name}}}"),
            _ => "{name}".to_owned(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let message = format!("{whose} contains {}, {are_not}", listed(&texts, MAX_LISTED));
    let help = format!("write {} for a parameter", listed(&names, MAX_LISTED));
    let finding = Finding::new(message).help(help);
    Some(found.into_iter().fold(finding, |finding, (range, foreign)| {
        let label = match foreign {
            Foreign::Dollar(_) => "the `$` is part of every key",
            _ => "literally part of every key",
        };
        finding.at(&within(pattern, range), label)
    }))
}

fn white_space<'a>(whose: &str, pattern: &Spanned<Template>) -> Option<Finding<'a>> {
    let (range, _) = all(pattern).into_iter().find(|(_, foreign)| *foreign == Foreign::Space)?;
    Some(
        Finding::new(format!("{whose} contains white space"))
            .at(&within(pattern, range), "part of every key")
            .help("remove it, or write `_` or `-` instead"),
    )
}

/// Everything in a pattern's text that is of another notation.
fn all(pattern: &Template) -> Vec<(Range<usize>, Foreign<'_>)> {
    let mut found: Vec<(Range<usize>, Foreign<'_>)> = Vec::new();
    for literal in pattern.literals() {
        let text = &pattern.as_str()[literal.clone()];
        for (offset, char) in text.char_indices() {
            let (rest, start) = (&text[offset..], literal.start + offset);
            let foreign = match char {
                '*' | '?' => Some((1, Foreign::Glob)),
                '<' => angle(rest),
                '%' => printf(rest),
                '$' if rest.len() == 1 => dollar(pattern, literal.end),
                char if char.is_whitespace() => Some((char.len_utf8(), Foreign::Space)),
                _ => None,
            };
            found.extend(foreign.map(|(len, foreign)| (start..start + len, foreign)));
        }
    }
    found
}

fn angle(rest: &str) -> Option<(usize, Foreign<'_>)> {
    let (name, _) = rest[1..].split_once('>')?;
    let named = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    named.then_some((name.len() + 2, Foreign::Angle(name)))
}

/// `%s` and `%d`, but not `%d0`, which is an encoded byte.
fn printf(rest: &str) -> Option<(usize, Foreign<'_>)> {
    let mut after = rest[1..].chars();
    let (directive, next) = (after.next()?, after.next());
    let encoded = directive == 'd' && next.is_some_and(|next| next.is_ascii_hexdigit());
    (matches!(directive, 's' | 'd') && !encoded).then_some((2, Foreign::Printf))
}

/// The hole right behind a `$`.
fn dollar(pattern: &Template, end: usize) -> Option<(usize, Foreign<'_>)> {
    let hole = pattern.holes().find(|hole| hole.span.start == end)?;
    Some((1 + hole.span.len(), Foreign::Dollar(&hole.name)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    fn of(pattern: &str) -> Vec<String> {
        messages(&RULE, &format!("[keys.a]\npattern = \"{pattern}\"\n"))
    }

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[foreign-notation]: the pattern of `profile` contains `<user_id>`, which is not a parameter
          ╭▸ keyward.toml:3:17
          │
        3 │ pattern = "user:<user_id>:profile"
          │                 ━━━━━━━━━ literally part of every key
          │
          ├ help: write `{user_id}` for a parameter
          ╰ note: `keyward explain foreign-notation`
        "#);
    }

    #[test]
    fn placeholders_of_other_notations_are_reported() {
        for (pattern, text) in [
            ("user:%s:x", "%s"),
            ("user:%d", "%d"),
            ("user:*", "*"),
            ("user:a?", "?"),
            ("user:${id}:x", "${id}"),
            ("user:{id}:<kind>", "<kind>"),
        ] {
            let message = format!("the pattern of `a` contains `{text}`, which is not a parameter");
            assert_eq!(of(pattern), [message]);
        }
    }

    #[test]
    fn all_placeholders_of_a_pattern_are_one_finding() {
        let schema = "[keys.a]\npattern = \"<user_id>:%s:${id}:%d\"\n";
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        warning[foreign-notation]: the pattern of `a` contains `<user_id>`, `%s`, `${id}` and `%d`, which are not parameters
          ╭▸ keyward.toml:3:12
          │
        3 │ pattern = "<user_id>:%s:${id}:%d"
          │            ┯━━━━━━━━ ┬─ ┬──── ── literally part of every key
          │            │         │  │
          │            │         │  the `$` is part of every key
          │            │         literally part of every key
          │            literally part of every key
          │
          ├ help: write `{user_id}`, `{name}` and `{id}` for a parameter
          ╰ note: `keyward explain foreign-notation`
        "#);
    }

    #[test]
    fn white_space_is_reported() {
        assert_eq!(of("user profile:{id}"), ["the pattern of `a` contains white space"]);
    }

    #[test]
    fn text_that_only_resembles_a_placeholder_is_left_alone() {
        for pattern in
            ["user:%d0%b0:{id}", "a<b:{id}", "$system:{id}", "a:{{jobs}}:{id}", "50%:{id}"]
        {
            assert_eq!(of(pattern), [""; 0], "{pattern}");
        }
    }

    #[test]
    fn a_second_hash_tag_is_reported() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "{#tenant}:"
[keys.cart]
pattern = "cart:{#user_id}"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        warning[foreign-notation]: the pattern of `cart` has two hash tags, and only the first counts
          ╭▸ keyward.toml:7:17
          │
        5 │ prefix = "{#tenant}:"
          │           ───────── decides the slot
        6 │ [keys.cart]
        7 │ pattern = "cart:{#user_id}"
          │                 ━━━━━━━━━━ has no effect
          │
          ├ help: remove the `#` from the parameter that should not decide the slot
          ╰ note: `keyward explain foreign-notation`
        "#);
    }

    #[test]
    fn an_old_name_may_have_had_spaces() {
        let schema = r#"
[keys.profile]
pattern = "profile:{id}"
[migrations.v2]
phase = "cleanup"
[migrations.v2.renames]
profile = ["user profile:{id}", "user:*"]
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["an old name of `profile` contains `*`, which is not a parameter"]
        );
    }
}
