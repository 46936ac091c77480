use crate::allowing::lists;
use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::Severity;

rule! {
    /// ## What it does
    /// Reports an `allow` that accepts nothing, because its rule finds nothing there. An `allow` of
    /// a rule that is off is left alone.
    ///
    /// ## Why is this bad
    /// What it excused has been mended, or never was there. Left standing, it will hide the next
    /// real finding.
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
            let judged = crate::find(&allow.rule).is_some_and(|rule| {
                rule.name != RULE.name && cx.settings.severity(rule) != Severity::Off
            });
            if judged {
                out.add(
                    Finding::new(format!(
                        "nothing here has to be excused from `{}`",
                        allow.rule.value
                    ))
                    .allowed_by(list)
                    .at(&allow.span, "accepts nothing")
                    .help("remove it"),
                );
            }
        }
    }
}
