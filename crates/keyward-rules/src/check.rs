//! Runs the rules over a schema.

use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::{Compare, Judges};
use crate::rules::{self, Rule};
use keyward_fact::{thousands, visible};
use keyward_schema::diagnostic::Diagnostic;
use keyward_schema::model::{Date, RuleSet, Schema, Severity};
use keyward_schema::span::{FileId, Span};
use std::borrow::Cow;

/// How many findings of one rule are reported; the last says how many more there were.
pub const MAX_FINDINGS: usize = 200;

/// What a check depends on beside the schema.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The day on which migrations are judged
    pub today: Date,
}

/// Runs every rule that the schema asks for, and returns what is left after `allow`, in the order
/// of the places.
pub fn check(schema: &Schema, options: &Options) -> Vec<Diagnostic> {
    check_all(&[schema], options)
}

/// The same for several schemas of the same servers, which are compared with each other as well. Their
/// files must be in one list, see [`keyward_schema::load_after`].
pub fn check_all(schemas: &[&Schema], options: &Options) -> Vec<Diagnostic> {
    judge_all(schemas, options.today).0
}

/// The same, with what the rules knew.
pub(crate) fn judge_all<'a>(
    schemas: &[&'a Schema],
    today: Date,
) -> (Vec<Diagnostic>, Vec<Context<'a>>) {
    let mut found = Vec::new();
    let alone = schemas.len() == 1;
    let contexts: Vec<Context<'_>> =
        schemas.iter().map(|schema| Context::new(schema, today, alone, &mut found)).collect();
    let first = Rule::ALL.iter().copied().filter(|rule| *rule != rules::LAST);
    for rule in first.chain([rules::LAST]) {
        for context in &contexts {
            found.extend(run(rule, context));
        }
        for (compare, left, right) in pairs(rule, &contexts) {
            found.extend(run_across(rule, compare, left, right));
        }
    }
    (ordered(found), contexts)
}

/// Why no code can be made from these schemas of the same servers: what breaks a rule that every
/// keyspace must keep, in one of them or between two. Neither `[rules]` nor an `allow` changes that.
pub fn unsound(schemas: &[&Schema]) -> Vec<Diagnostic> {
    // None of these rules looks at the day, and names in `[rules]` are the matter of `check`.
    let today = Date { year: 1970, month: 1, day: 1 };
    let alone = schemas.len() == 1;
    let contexts: Vec<Context<'_>> =
        schemas.iter().map(|schema| Context::new(schema, today, alone, &mut Vec::new())).collect();
    let mut found = Vec::new();
    for rule in Rule::ALL.iter().copied().filter(|rule| rule.set() == Some(RuleSet::Minimal)) {
        let severity = rule.severity();
        for context in &contexts {
            if let Some(findings) = findings(rule, context) {
                found.extend(diagnostics(rule, severity, findings, |_| false));
            }
        }
        for (compare, left, right) in pairs(rule, &contexts) {
            found.extend(diagnostics(rule, severity, compared(compare, left, right), |_| false));
        }
    }
    found.retain(|finding| finding.severity == Severity::Error);
    ordered(found)
}

/// The schemas that a rule compares, two by two.
fn pairs<'c, 'a>(
    rule: Rule,
    contexts: &'c [Context<'a>],
) -> impl Iterator<Item = (Compare, &'c Context<'a>, &'c Context<'a>)> {
    rule.compares().into_iter().flat_map(move |compare| {
        contexts.iter().enumerate().flat_map(move |(number, left)| {
            contexts[number + 1..].iter().map(move |right| (compare, left, right))
        })
    })
}

fn compared<'a>(compare: Compare, left: &Context<'a>, right: &Context<'a>) -> Findings<'a> {
    let mut findings = Findings::default();
    compare(left, right, &mut findings);
    findings
}

fn run<'a>(rule: Rule, context: &Context<'a>) -> Vec<Diagnostic> {
    let severity = context.settings.severity(rule);
    if severity == Severity::Off {
        return Vec::new();
    }
    let Some(findings) = findings(rule, context) else { return Vec::new() };
    let accepted = |finding: &Finding<'a>| context.allowing.accepts(rule, finding.lists());
    diagnostics(rule, severity, findings, accepted)
}

fn run_across<'a>(
    rule: Rule,
    compare: Compare,
    left: &Context<'a>,
    right: &Context<'a>,
) -> Vec<Diagnostic> {
    let severity = left.settings.severity(rule).max(right.settings.severity(rule));
    if severity == Severity::Off {
        return Vec::new();
    }
    let findings = compared(compare, left, right);
    // Both are asked, so that each `allow` that accepts it counts as used.
    let accepted = |finding: &Finding<'a>| {
        left.allowing.accepts(rule, finding.lists())
            | right.allowing.accepts(rule, finding.lists_of_other())
    };
    diagnostics(rule, severity, findings, accepted)
}

/// What a rule finds in a schema; `None` if it judges keys.
fn findings<'a>(rule: Rule, context: &Context<'a>) -> Option<Findings<'a>> {
    let (Judges::Schema(check) | Judges::Schemas(check, _)) = rule.declaration().judges else {
        return None;
    };
    let mut findings = Findings::default();
    check(context, &mut findings);
    Some(findings)
}

/// The findings that nothing accepts, cut.
pub(crate) fn diagnostics<'a>(
    rule: Rule,
    severity: Severity,
    findings: Findings<'a>,
    accepted: impl Fn(&Finding<'a>) -> bool,
) -> Vec<Diagnostic> {
    let stopped = findings.stopped();
    let mut diagnostics: Vec<_> = findings
        .into_iter()
        .filter(|finding| !accepted(finding))
        .map(|finding| finding.into_diagnostic(rule, severity))
        .collect();
    cut(&mut diagnostics, rule, stopped);
    diagnostics
}

pub(crate) fn ordered(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(place);
    diagnostics.iter_mut().for_each(printable);
    diagnostics
}

/// Cuts a rule's findings, and says with the last one that there are more.
fn cut(diagnostics: &mut Vec<Diagnostic>, rule: Rule, stopped: bool) {
    let more = diagnostics.len().saturating_sub(MAX_FINDINGS);
    if more == 0 && !stopped {
        return;
    }
    diagnostics.sort_by_key(place);
    diagnostics.truncate(MAX_FINDINGS);
    let count = thousands(more as u64);
    let note = match (more, stopped) {
        (0, _) => format!("there may be more findings of `{rule}`: the search stopped"),
        (_, true) => format!("and at least {count} more findings of `{rule}`: the search stopped"),
        (_, false) => format!("and {count} more findings of `{rule}`"),
    };
    if let Some(last) = diagnostics.last_mut() {
        last.notes.push(note);
        last.left_out = more as u64;
    }
}

fn place(diagnostic: &Diagnostic) -> (Span, &'static str) {
    let start = Span::new(FileId(0), 0..0);
    (diagnostic.labels.first().map_or(start, |label| label.span.clone()), diagnostic.rule)
}

/// Makes what a schema says safe to print on one line: a name, a word or an example may hold
/// anything that TOML can escape.
fn printable(diagnostic: &mut Diagnostic) {
    let labels = diagnostic.labels.iter_mut().map(|label| &mut label.text);
    let rest = diagnostic.help.iter_mut().chain(&mut diagnostic.notes);
    for text in labels.chain(rest).chain([&mut diagnostic.message]) {
        if let Cow::Owned(shown) = visible(text) {
            *text = shown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SCHEMA;
    use crate::harness::{TODAY, checked};
    use keyward_schema::{Style, read, render};
    use std::fmt::Write as _;

    fn names(piece: &str) -> Vec<(&'static str, Severity)> {
        checked(piece).1.into_iter().map(|finding| (finding.rule, finding.severity)).collect()
    }

    #[test]
    fn a_set_decides_which_rules_run() {
        let with_set = |set: &str| {
            names(&format!(
                "[rules]\nset = \"{set}\"\n[keys.a]\npattern = \"a\"\nexamples = [\"b\"]\n"
            ))
        };
        let (error, warn) = (Severity::Error, Severity::Warn);
        let minimal = vec![("example-mismatch", error)];
        let recommended = vec![("missing-ttl", error), ("missing-type", warn), minimal[0]];
        assert_eq!(with_set("minimal"), minimal);
        assert_eq!(with_set("recommended"), recommended);
        assert_eq!(
            with_set("strict"),
            [
                ("missing-owner", warn),
                recommended[0],
                recommended[1],
                ("undocumented", warn),
                minimal[0]
            ]
        );
    }

    #[test]
    fn a_rule_is_turned_on_off_or_up() {
        let piece = r#"
[rules]
set = "minimal"
missing-ttl = "warn"
undocumented = "error"
missing-type = "off"
stale-cache = { max = "1h" }
[keys.a]
pattern = "a"
[keys.b]
pattern = "b"
doc = "B"
ttl = "2h"
"#;
        let expected = [
            ("missing-ttl", Severity::Warn),
            ("undocumented", Severity::Error),
            ("stale-cache", Severity::Warn),
        ];
        assert_eq!(names(piece), expected);
    }

    #[test]
    fn names_of_rules_must_exist() {
        let (sources, diagnostics) = checked(
            r#"
allow = [{ rule = "missing-tll", reason = "a" }]
[rules]
set = "minimal"
undocumentd = "error"
something-else = "off"
missing-ttl = { max = "1h" }
stale-cache = { words = ["a"] }
"#,
        );
        assert!(diagnostics.iter().all(|it| it.rule == SCHEMA && it.severity == Severity::Error));
        insta::assert_snapshot!(render(&sources, &diagnostics, &Style::default()), @r#"
        error[schema]: there is no rule `missing-tll`
          ╭▸ keyward.toml:3:19
          │
        3 │ allow = [{ rule = "missing-tll", reason = "a" }]
          │                   ━━━━━━━━━━━━━ no such rule
          │
          ╰ help: did you mean `missing-ttl`?

        error[schema]: there is no rule `undocumentd`
          ╭▸ keyward.toml:6:1
          │
        6 │ undocumentd = "error"
          │ ━━━━━━━━━━━ no such rule
          │
          ╰ help: did you mean `undocumented`?

        error[schema]: there is no rule `something-else`
          ╭▸ keyward.toml:7:1
          │
        7 │ something-else = "off"
          │ ━━━━━━━━━━━━━━ no such rule
          │
          ╰ help: `keyward rules` lists them

        error[schema]: the rule `missing-ttl` has no option `max`
          ╭▸ keyward.toml:8:23
          │
        8 │ missing-ttl = { max = "1h" }
          │                       ━━━━ has no effect
          │
          ╰ help: only its severity can be set

        error[schema]: the rule `stale-cache` has no option `words`
          ╭▸ keyward.toml:9:26
          │
        9 │ stale-cache = { words = ["a"] }
          │                          ━━━ has no effect
          │
          ╰ help: it has `max`
        "#);
    }

    #[test]
    fn what_a_schema_says_cannot_reach_the_terminal_as_it_is() {
        let piece = "[rules]\n\"\\u001b[31m\" = \"off\"\n[keys.a]\npattern = \"a\"\nttl = \"1h\"\n\
                     value = \"text\"\nexamples = [\"b\\nc\"]\n";
        let messages: Vec<_> = checked(piece).1.into_iter().map(|it| it.message).collect();
        assert_eq!(messages, [r"there is no rule `\u{1b}[31m`", r"`b\nc` is not a key of `a`"]);
    }

    fn schema_of(text: &str) -> Schema {
        read(&format!("version = 1\n{text}")).schema.unwrap()
    }

    #[test]
    fn no_setting_and_no_allow_makes_an_unsound_schema_sound() {
        let overlapping = |settings: &str| {
            let allow = r#"allow = [{ rule = "overlapping-patterns", reason = "we are careful" }]"#;
            schema_of(&format!(
                "{allow}\n[keyspace]\nname = \"x\"\n{settings}\n[keys.left]\npattern = \"a:{{x}}:b\"\n{allow}\n\
                 [keys.right]\npattern = \"a:c:{{y}}\"\n"
            ))
        };
        for settings in [
            "",
            "[rules]\noverlapping-patterns = \"off\"",
            "[rules]\noverlapping-patterns = \"warn\"",
        ] {
            let schema = overlapping(settings);
            assert_eq!(
                check(&schema, &Options { today: TODAY })
                    .iter()
                    .filter(|it| it.rule == "overlapping-patterns")
                    .count(),
                0
            );
            let found = unsound(&[&schema]);
            assert_eq!(found.len(), 1, "{settings}");
            assert_eq!(found[0].severity, Severity::Error);
        }
    }

    #[test]
    fn schemas_that_are_checked_together_are_compared() {
        let shop = |more: &str| {
            schema_of(&format!(
                "[keyspace]\nname = \"shop\"\n{more}[rules]\nset = \"minimal\"\nunused-allow = \"warn\"\n\
                 [keys.cart]\npattern = \"cart:{{id}}\"\n"
            ))
        };
        let till = |allow: &str| {
            schema_of(&format!(
                "[keyspace]\nname = \"till\"\ndb = 2\n[rules]\nset = \"minimal\"\nunused-allow = \"warn\"\n\
                 [keys.cart_of]\npattern = \"cart:{{user:uint}}\"\n{allow}\n"
            ))
        };
        let messages = |schemas: &[&Schema]| -> Vec<String> {
            let found = check_all(schemas, &Options { today: TODAY });
            found.into_iter().map(|finding| finding.message).collect()
        };
        let allow = r#"allow = [{ rule = "overlapping-patterns", reason = "it reads ours" }]"#;
        let found = "the key `cart:0` belongs to `cart_of` of `till` and to `cart` of `shop`";
        assert_eq!(messages(&[&shop(""), &till("")]), [found]);
        assert_eq!(messages(&[&shop(""), &till(allow)]), [""; 0]);
        assert_eq!(
            messages(&[&till(allow)]),
            [""; 0],
            "only the other schema shows whether it is used"
        );
        let elsewhere = shop("db = 1\n");
        assert_eq!(
            messages(&[&elsewhere, &till(allow)]),
            ["the `allow` for `overlapping-patterns` accepts nothing"]
        );
    }

    #[test]
    fn findings_come_in_the_order_of_their_places() {
        let (_, diagnostics) = checked("[keys.b]\npattern = \"B\"\n[keys.a]\npattern = \"A\"\n");
        let starts: Vec<_> = diagnostics.iter().map(|it| it.labels[0].span.start).collect();
        assert!(starts.is_sorted());
    }

    #[test]
    fn a_thousand_ordinary_definitions_have_no_findings() {
        let mut piece = String::from("[rules]\nset = \"recommended\"\n");
        for number in 0..1_000 {
            let _ = write!(
                piece,
                "[keys.k{number}]\npattern = \"area{}:{{user_id}}:part{number}\"\nvalue = \"text\"\nttl = \"1h\"\n",
                number % 40
            );
        }
        assert_eq!(names(&piece), []);
    }

    #[test]
    fn ten_thousand_overlapping_patterns_are_cut_with_a_count() {
        let mut text =
            String::from("version = 1\n[keyspace]\nname = \"x\"\n[rules]\nset = \"minimal\"\n");
        for number in 0..10_000 {
            let _ = write!(text, "[keys.k{number}]\npattern = \"a:{{p{number}}}:{{q{number}}}\"\n");
        }
        let schema = read(&text).schema.unwrap();
        let diagnostics = check(&schema, &Options { today: TODAY });
        assert_eq!(diagnostics.len(), MAX_FINDINGS);
        let notes = &diagnostics.last().unwrap().notes;
        assert!(notes.iter().any(|note| note.starts_with("and at least ")
            && note.ends_with(" more findings of `overlapping-patterns`: the search stopped")));
    }
}
