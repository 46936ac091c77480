use crate::allowing::accepted;
use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::rules::Rule;
use crate::words::listed;
use keyward_pattern::prove::{self, Claim, Overlap, OverlapKind};
use keyward_pattern::{DefinitionId, Part};
use keyward_schema::model::{Definition, Foreign};

/// How many definitions a message names.
const MAX_LISTED: usize = 5;

const THEIRS: &str = "keys of other software: counted, not judged";

rule! {
    /// ## What it does
    /// Reports a key that belongs to two definitions, to a definition and a derived key, or to a
    /// definition and other software (`[foreign]`), and shows the shortest such key. Schemas that
    /// are checked together are compared with each other, unless they declare different databases.
    ///
    /// If one pattern is at least as specific as the other at every position, as `user:{id}:admin`
    /// is compared with `user:{id}:{role}`, they do not overlap: the word is reserved, and the rule
    /// `reserved-word` reports it.
    ///
    /// ## Why is this bad
    /// Two parts of the application write the same key with different types and TTLs. One
    /// overwrites the other, a command fails with `WRONGTYPE`, or a user picks a name that leads
    /// into someone else's data.
    ///
    /// ## Example
    /// ```toml
    /// [keys.report]
    /// pattern = "report:{customer}:summary"
    /// ttl = "1h"
    ///
    /// [keys.yearly]
    /// pattern = "report:yearly:{name}"
    /// ttl = "1d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.report]
    /// pattern = "report:customer:{customer}:summary"
    /// ttl = "1h"
    ///
    /// [keys.yearly]
    /// pattern = "report:yearly:{name}"
    /// ttl = "1d"
    /// ```
    across Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let found = cx.overlaps();
    for overlap in found.overlaps.iter().filter(|it| it.kind == OverlapKind::Conflict) {
        out.add(between_definitions(cx, overlap));
    }
    if !found.complete {
        out.stop();
        out.add(
            Finding::new("some patterns could not be compared")
                .at(
                    &cx.schema.keyspace.name.span,
                    "too many patterns overlap, or their types are too large",
                )
                .help("fix the overlaps that are reported, and check again"),
        );
    }
    for foreign in &cx.schema.foreign {
        let found = prove::glob_overlaps(&cx.schema.compiled, &foreign.glob);
        let found = found.into_iter().map(|(id, key)| (&cx.schema.keys[id.index()], key));
        // What an `allow` accepts, or was not compared, is a finding of its own.
        let (together, alone): (Vec<_>, Vec<_>) = found.partition(|(definition, key)| {
            !key.is_empty() && !accepted(Rule::OverlappingPatterns, &definition.allow)
        });
        match together.as_slice() {
            [] => {}
            [(definition, key)] => out.add(with_foreign(cx, definition, foreign, key)),
            several => out.add(several_with_foreign(cx, several, foreign)),
        }
        out.extend(alone.iter().map(|(it, key)| with_foreign(cx, it, foreign, key)));
    }
}

/// Keys that two schemas claim: servers are shared, and so is the promise that no key has two
/// meanings.
fn compare<'a>(left: &Context<'a>, right: &Context<'a>, out: &mut Findings<'a>) {
    let db = |cx: &Context<'_>| cx.schema.keyspace.db.as_ref().map(|db| db.value);
    if let (Some(left), Some(right)) = (db(left), db(right))
        && left != right
    {
        return;
    }
    let found = prove::overlaps_between(&left.schema.compiled, &right.schema.compiled);
    for overlap in &found.overlaps {
        let first = &left.schema.keys[claimed(overlap.first).0.index()];
        let second = &right.schema.keys[claimed(overlap.second).0.index()];
        let finding = Finding::new(format!(
            "the key `{}` belongs to `{}` of `{}` and to `{}` of `{}`",
            overlap.witness,
            second.name.value,
            right.schema.keyspace.name.value,
            first.name.value,
            left.schema.keyspace.name.value,
        ));
        out.add(
            finding
                .named(second)
                .about(first)
                .about_other(second)
                .at(&second.pattern.span, "")
                .at(&first.pattern.span, "")
                .help("give each keyspace its own prefix, or the patterns different words"),
        );
    }
    if !found.complete {
        out.stop();
        let names = [left, right].map(|cx| &cx.schema.keyspace.name);
        out.add(
            Finding::new(format!(
                "some patterns of `{}` could not be compared with those of `{}`",
                names[1].value, names[0].value
            ))
            .at(&names[1].span, "too many patterns overlap, or their types are too large")
            .at(&names[0].span, "")
            .help("fix the overlaps that are reported, and check again"),
        );
    }
}

/// An empty witness says that the search for one was given up.
fn with_foreign<'a>(
    cx: &Context<'a>,
    definition: &'a Definition,
    foreign: &'a Foreign,
    witness: &str,
) -> Finding<'a> {
    let (ours, theirs) = (&definition.name.value, &foreign.name.value);
    let message = if witness.is_empty() {
        format!("`{ours}` could not be compared with the foreign `{theirs}`")
    } else {
        format!("the key `{witness}` belongs to `{ours}` and to the foreign `{theirs}`")
    };
    Finding::new(message)
        .about(definition)
        .at(&definition.pattern.span, "the definition")
        .at(&foreign.glob.span, THEIRS)
        .help(foreign_help(cx, foreign))
}

/// One glob meets several definitions, mostly for one reason.
fn several_with_foreign<'a>(
    cx: &Context<'a>,
    several: &[(&'a Definition, String)],
    foreign: &'a Foreign,
) -> Finding<'a> {
    let names: Vec<&str> = several.iter().map(|(it, _)| it.name.as_str()).collect();
    let finding = Finding::new(format!(
        "keys of {} definitions also belong to the foreign `{}`",
        several.len(),
        foreign.name.value
    ));
    let finding = finding.at(&foreign.glob.span, THEIRS);
    let finding = match (&cx.schema.keyspace.prefix, taken_by_prefix(cx, &foreign.glob)) {
        (Some(prefix), Some((param, value))) => {
            finding.at(&prefix.span, format!("`{param}` can be `{value}`"))
        }
        _ => several.iter().take(MAX_LISTED).fold(finding, |finding, (definition, key)| {
            finding.at(&definition.pattern.span, format!("matches `{key}`"))
        }),
    };
    finding
        .note(format!("the definitions: {}", listed(&names, MAX_LISTED)))
        .help(foreign_help(cx, foreign))
}

fn foreign_help(cx: &Context<'_>, foreign: &Foreign) -> String {
    match taken_by_prefix(cx, &foreign.glob) {
        Some((param, value)) => format!(
            "give `{param}` a type without `{value}` in `[params]`, such as `{param} = [\"acme\", \"globex\"]` \
             or `{param} = {{ regex = \"t-[a-z]+\" }}`; or narrow the glob"
        ),
        None => "narrow the glob, or rename the pattern".to_owned(),
    }
}

/// The parameter of the prefix that must have a value which the glob spells out, and the value.
fn taken_by_prefix<'a, 'g>(cx: &Context<'a>, glob: &'g str) -> Option<(&'a str, &'g str)> {
    let prefix = cx.schema.keyspace.prefix.as_ref()?;
    let before = match prefix.parts().first()? {
        Part::Literal(text) => text.len(),
        Part::Hole(_) => 0,
    };
    let spelled = glob.find(['*', '?', '[', '\\']).unwrap_or(glob.len());
    let value = glob.get(before..spelled)?.split(*cx.schema.keyspace.separator).next()?;
    let hole = prefix.holes().next()?;
    (!value.is_empty()).then_some((hole.name.as_str(), value))
}

fn between_definitions<'a>(cx: &Context<'a>, overlap: &Overlap) -> Finding<'a> {
    let mut claims = [overlap.first, overlap.second].map(claimed);
    claims.sort_by_key(|claim| std::cmp::Reverse(*claim));
    let [(later, later_derives), (earlier, earlier_derives)] = claims;
    let (later, earlier) = (&cx.schema.keys[later.index()], &cx.schema.keys[earlier.index()]);
    let witness = &overlap.witness;
    let owner = |name: &str, derives| {
        if derives { format!("the keys derived from `{name}`") } else { format!("`{name}`") }
    };
    let label = |derives| if derives { "has derived keys" } else { "matches this key" };
    let help = if later_derives || earlier_derives {
        "remove `~` from the pattern: derived keys have the form `~word:{key}` or `key~{word}`"
    } else {
        "give each pattern its own word, or the parameters narrower types"
    };
    let (first, second) =
        (owner(&later.name, later_derives), owner(&earlier.name, earlier_derives));
    Finding::new(format!("the key `{witness}` belongs to {first} and to {second}"))
        .about(later)
        .about(earlier)
        .at(&later.pattern.span, label(later_derives))
        .at(&earlier.pattern.span, label(earlier_derives))
        .help(help)
}

/// Whose claim it is, and whether it is to derived keys.
fn claimed(claim: Claim) -> (DefinitionId, bool) {
    match claim {
        Claim::Definition(id) => (id, false),
        Claim::Derived(id) => (id, true),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[overlapping-patterns]: the key `report:yearly:summary` belongs to `yearly` and to `report`
          ╭▸ keyward.toml:7:11
          │
        3 │ pattern = "report:{customer}:summary"
          │           ─────────────────────────── matches this key
          ┆
        7 │ pattern = "report:yearly:{name}"
          │           ━━━━━━━━━━━━━━━━━━━━━━ matches this key
          │
          ├ help: give each pattern its own word, or the parameters narrower types
          ╰ note: `keyward explain overlapping-patterns`
        "#);
    }

    #[test]
    fn a_more_specific_pattern_is_no_overlap() {
        let schema = r#"
[keys.user]
pattern = "user:{name}"
[keys.admin]
pattern = "user:admin"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn types_that_have_nothing_in_common_keep_patterns_apart() {
        let schema = r#"
[keys.by_number]
pattern = "user:{id:uint}"
[keys.by_uuid]
pattern = "user:{id:uuid}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn the_prefix_is_part_of_the_witness() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "s:"
[keys.left]
pattern = "a:{x}:b"
[keys.right]
pattern = "a:c:{y}"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["the key `s:a:c:b` belongs to `right` and to `left`",]
        );
    }

    #[test]
    fn keys_of_other_software_are_not_ours() {
        let schema = r#"
[keys.queue]
pattern = "bull:{name}"
[foreign.bullmq]
glob = "bull:*"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[overlapping-patterns]: the key `bull:a` belongs to `queue` and to the foreign `bullmq`
          ╭▸ keyward.toml:4:11
          │
        4 │ pattern = "bull:{name}"
          │           ━━━━━━━━━━━━━ the definition
        5 │ [foreign.bullmq]
        6 │ glob = "bull:*"
          │        ──────── keys of other software: counted, not judged
          │
          ├ help: narrow the glob, or rename the pattern
          ╰ note: `keyward explain overlapping-patterns`
        "#);
    }

    #[test]
    fn definitions_that_other_software_meets_for_one_reason_are_one_finding() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "{tenant:slug}:"
[keys.cart]
pattern = "cart:{id}"
[keys.order]
pattern = "order:{id}"
[foreign.bullmq]
glob = "bull:*"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[overlapping-patterns]: keys of 2 definitions also belong to the foreign `bullmq`
           ╭▸ keyward.toml:11:8
           │
         5 │ prefix = "{tenant:slug}:"
           │          ──────────────── `tenant` can be `bull`
           ┆
        11 │ glob = "bull:*"
           │        ━━━━━━━━ keys of other software: counted, not judged
           │
           ├ help: give `tenant` a type without `bull` in `[params]`, such as `tenant = ["acme", "globex"]` or `tenant = { regex = "t-[a-z]+" }`; or narrow the glob
           ├ note: the definitions: `cart` and `order`
           ╰ note: `keyward explain overlapping-patterns`
        "#);
    }

    #[test]
    fn either_definition_may_allow_it() {
        let schema = r#"
[keys.left]
pattern = "a:{x}:b"
allow = [{ rule = "overlapping-patterns", reason = "x is never c" }]
[keys.right]
pattern = "a:c:{y}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn derived_keys_are_nobody_elses() {
        let schema = r#"
[keys.cart]
pattern = "cart:{#user_id}"
[keys.lease]
pattern = "cart:{#user_id}~{#kind}"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[overlapping-patterns]: the key `cart:{a}~{a}` belongs to `lease` and to the keys derived from `cart`
          ╭▸ keyward.toml:6:11
          │
        4 │ pattern = "cart:{#user_id}"
          │           ───────────────── has derived keys
        5 │ [keys.lease]
        6 │ pattern = "cart:{#user_id}~{#kind}"
          │           ━━━━━━━━━━━━━━━━━━━━━━━━━ matches this key
          │
          ├ help: remove `~` from the pattern: derived keys have the form `~word:{key}` or `key~{word}`
          ╰ note: `keyward explain overlapping-patterns`
        "#);
    }

    #[test]
    fn a_prefix_that_excludes_the_value_meets_no_other_software() {
        let of = |tenant: &str| {
            let head = "[keyspace]\nname = \"shop\"\nprefix = \"{tenant}:\"\n";
            let keys =
                "[keys.cart]\npattern = \"cart:{id}\"\n[foreign.bullmq]\nglob = \"bull:*\"\n";
            messages(&RULE, &format!("{head}[params]\ntenant = {tenant}\n{keys}")).len()
        };
        assert_eq!(of("\"slug\""), 1);
        assert_eq!(of("[\"acme\", \"globex\"]"), 0);
        assert_eq!(of("{ regex = \"t-[a-z]+\" }"), 0);
    }
}
