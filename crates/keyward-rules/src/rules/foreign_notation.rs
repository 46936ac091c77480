use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::segment::within;
use keyward_pattern::Template;
use keyward_schema::span::{Span, Spanned};
use std::ops::Range;

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
        let found =
            first(prefix).map(|(range, foreign)| foreign.finding("the prefix", prefix, range));
        out.extend(found);
    }
    for definition in &cx.schema.keys {
        let pattern = &definition.pattern;
        let whose = format!("the pattern of `{}`", definition.name.value);
        if let Some((range, foreign)) = first(pattern) {
            out.add(foreign.finding(&whose, pattern, range).about(definition));
        }
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
            let found = first(&rename.from).filter(|(_, foreign)| *foreign != Foreign::Space);
            out.extend(found.map(|(range, foreign)| {
                foreign.finding(&whose, &rename.from, range).about_migration(migration)
            }));
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

impl Foreign<'_> {
    fn finding<'a>(
        &self,
        whose: &str,
        pattern: &'a Spanned<Template>,
        range: Range<usize>,
    ) -> Finding<'a> {
        let text = &pattern.as_str()[range.clone()];
        let span = within(pattern, range);
        if *self == Foreign::Space {
            return Finding::new(format!("{whose} contains white space"))
                .at(&span, "part of every key")
                .help("remove it, or write `_` or `-` instead");
        }
        let help = match self {
            Foreign::Angle(name) | Foreign::Dollar(name) => {
                format!("write `{{{name}}}` for a parameter")
            }
            _ => "write `{name}` for a parameter".to_owned(),
        };
        let label = match self {
            Foreign::Dollar(_) => "the `$` is part of every key",
            _ => "literally part of every key",
        };
        Finding::new(format!("{whose} contains `{text}`, which is not a parameter"))
            .at(&span, label)
            .help(help)
    }
}

/// The first piece of a pattern's text that is of another notation.
fn first(pattern: &Template) -> Option<(Range<usize>, Foreign<'_>)> {
    pattern.literals().find_map(|range| {
        let text = &pattern.as_str()[range.clone()];
        let mut places = text.char_indices();
        places.find_map(|(offset, char)| {
            let (rest, start) = (&text[offset..], range.start + offset);
            let (len, foreign) = match char {
                '*' | '?' => (1, Foreign::Glob),
                '<' => angle(rest)?,
                '%' => printf(rest)?,
                '$' if rest.len() == 1 => dollar(pattern, range.end)?,
                char if char.is_whitespace() => (char.len_utf8(), Foreign::Space),
                _ => return None,
            };
            Some((start..start + len, foreign))
        })
    })
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
