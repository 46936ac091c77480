use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::Ttl;

rule! {
    /// ## What it does
    /// Reports a TTL that the application chooses without a maximum.
    ///
    /// ## Why is this bad
    /// A token that claims to expire in the year 9999 keeps its key until then. An audit cannot
    /// tell a TTL that is too long from one that is intended.
    ///
    /// ## Example
    /// ```toml
    /// [keys.revoked_token]
    /// pattern = "auth:revoked:{token_id}"
    /// value = ["revoked"]
    /// ttl = { caller = true }
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.revoked_token]
    /// pattern = "auth:revoked:{token_id}"
    /// value = ["revoked"]
    /// ttl = { caller = true, max = "24h" }
    /// ```
    Lifetime, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let Some(ttl) = &definition.ttl else { continue };
        if ttl.value != (Ttl::Caller { max: None }) {
            continue;
        }
        out.add(
            Finding::new(format!("the TTL of `{}` has no maximum", definition.name.value))
                .about(definition)
                .at(&ttl.span, "the application may choose any TTL")
                .help("add a `max`, such as `{ caller = true, max = \"24h\" }`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::example;

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[unbounded-caller-ttl]: the TTL of `revoked_token` has no maximum
          ╭▸ keyward.toml:5:7
          │
        5 │ ttl = { caller = true }
          │       ━━━━━━━━━━━━━━━━━ the application may choose any TTL
          │
          ├ help: add a `max`, such as `{ caller = true, max = "24h" }`
          ╰ note: `keyward explain unbounded-caller-ttl`
        "#);
    }
}
