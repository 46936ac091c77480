use crate::allowing::lists;
use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::rules::{self, Rule};
use keyward_schema::model::Severity;

rule! {
    /// ## What it does
    /// Reports an `allow` that accepts nothing, because its rule reports nothing there. An `allow`
    /// is not checked if its rule is off, or if its rule judges keys: only an audit knows what it
    /// accepts. An `allow` for a rule that also compares schemas is checked when several schemas
    /// are checked together.
    ///
    /// ## Why is this bad
    /// The problem was fixed, or never existed. If the `allow` stays, it hides the next real
    /// finding.
    ///
    /// ## Example
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}:profile"
    /// ttl = "1h"
    /// allow = [{ rule = "missing-ttl", reason = "the profile service removes it" }]
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}:profile"
    /// ttl = "1h"
    /// ```
    Care, Warn, Recommended
}

/// Runs after every other rule, which is when it is known what was used.
fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for list in lists(cx.schema) {
        for allow in list.iter().filter(|allow| !cx.allowing.is_used(allow)) {
            let judged = Rule::parse(&allow.rule).is_some_and(|rule| {
                let by_others = rule.is_live() || rule.is_breaking();
                let by_pairs = cx.alone && rule.compares().is_some();
                rule != rules::LAST
                    && !by_others
                    && !by_pairs
                    && cx.settings.severity(rule) != Severity::Off
            });
            if judged {
                out.add(
                    Finding::new(format!("the `allow` for `{}` accepts nothing", allow.rule.value))
                        .allowed_by(list)
                        .at(&allow.span, "the rule reports nothing here")
                        .help("remove it"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[unused-allow]: the `allow` for `missing-ttl` accepts nothing
          ╭▸ keyward.toml:5:10
          │
        5 │ allow = [{ rule = "missing-ttl", reason = "the profile service removes it" }]
          │          ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ the rule reports nothing here
          │
          ├ help: remove it
          ╰ note: `keyward explain unused-allow`
        "#);
    }

    #[test]
    fn an_allow_that_accepts_something_is_used() {
        let schema = r#"
[keys.profile]
pattern = "profile:{user_id}"
allow = [{ rule = "missing-ttl", reason = "the service removes it" }]
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn of_two_that_accept_the_same_one_is_unused() {
        let schema = r#"
allow = [{ rule = "missing-ttl", reason = "everywhere" }]
[keys.profile]
pattern = "profile:{user_id}"
allow = [{ rule = "missing-ttl", reason = "here" }]
"#;
        assert_eq!(messages(&RULE, schema), ["the `allow` for `missing-ttl` accepts nothing",]);
    }

    #[test]
    fn what_only_an_audit_can_find_is_left_alone() {
        let schema = r#"
[keys.profile]
pattern = "profile:{user_id}"
ttl = "1h"
allow = [{ rule = "ttl-missing", reason = "the old service forgets it" }]
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn what_only_another_schema_can_show_is_left_alone() {
        let schema = r#"
[keys.profile]
pattern = "profile:{user_id}"
ttl = "1h"
allow = [{ rule = "overlapping-patterns", reason = "the old service reads it too" }]
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_rule_that_is_off_excuses_its_allow() {
        let schema = r#"
[rules]
missing-ttl = "off"
[keys.profile]
pattern = "profile:{user_id}"
allow = [{ rule = "missing-ttl", reason = "the service removes it" }]
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
