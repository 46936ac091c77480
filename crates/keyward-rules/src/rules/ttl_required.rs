use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition whose keys never expire. It is in no rule set: a team that wants a TTL
    /// on every key enables it in `[rules]`.
    ///
    /// ## Why is this bad
    /// In a Redis that is only a cache, a key without a TTL is a leak: only a person or an eviction
    /// removes it.
    ///
    /// ## Example
    /// ```toml
    /// [rules]
    /// ttl-required = "error"
    ///
    /// [keys.settings]
    /// pattern = "settings"
    /// type = "hash"
    /// ttl = "none"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [rules]
    /// ttl-required = "error"
    ///
    /// [keys.settings]
    /// pattern = "settings"
    /// type = "hash"
    /// ttl = "1d"
    /// ```
    /// If the keys must stay, accept the finding with a reason:
    /// `allow = [{ rule = "ttl-required", reason = "…" }]`.
    opt_in Lifetime, Error
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let Some(ttl) = definition.ttl.as_ref().filter(|ttl| !ttl.expires()) else { continue };
        out.add(
            Finding::new(format!("keys of `{}` never expire", definition.name.value))
                .about(definition)
                .at(&ttl.span, "no TTL")
                .help("add a `ttl`, or an `allow` with the reason why its keys must stay"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[ttl-required]: keys of `settings` never expire
          ╭▸ keyward.toml:8:7
          │
        8 │ ttl = "none"
          │       ━━━━━━ no TTL
          │
          ├ help: add a `ttl`, or an `allow` with the reason why its keys must stay
          ╰ note: `keyward explain ttl-required`
        "#);
    }

    #[test]
    fn it_is_off_unless_it_is_named() {
        let schema = "[keys.settings]\npattern = \"settings\"\ntype = \"hash\"\nttl = \"none\"\n";
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_ttl_that_a_role_implies_counts() {
        let schema = r#"
[rules]
ttl-required = "error"
[keys.jobs]
pattern = "jobs:{name}"
queue = {}
[keys.limit]
pattern = "limit:{name}"
rate_limit = { limit = 3, window = "1m" }
"#;
        assert_eq!(messages(&RULE, schema), ["keys of `jobs` never expire"]);
    }
}
