use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Role, Ttl};

rule! {
    /// ## What it does
    /// Reports a queue with a TTL.
    ///
    /// ## Why is this bad
    /// The TTL belongs to the key, not to one job. When it ends, every waiting job is deleted, and
    /// that happens exactly when workers are slow or down.
    ///
    /// ## Example
    /// ```toml
    /// [keys.jobs]
    /// pattern = "queue:{name}"
    /// queue = {}
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.jobs]
    /// pattern = "queue:{name}"
    /// queue = {}
    /// ```
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let (Some(role), Some(ttl)) = (&definition.role, &definition.ttl) else { continue };
        if !matches!(role.value, Role::Queue(_)) || !Ttl::expires(ttl) {
            continue;
        }
        out.add(
            Finding::new(format!(
                "the queue `{}` expires, and its waiting jobs with it",
                definition.name.value
            ))
            .about(definition)
            .at(&ttl.span, "deletes every waiting job")
            .at(&role.span, "a queue")
            .help("remove the TTL; to bound the queue, set `max_len` and `on_full = \"refuse\"`"),
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
        error[expiring-queue]: the queue `jobs` expires, and its waiting jobs with it
          ╭▸ keyward.toml:5:7
          │
        4 │ queue = {}
          │         ── a queue
        5 │ ttl = "1h"
          │       ━━━━ deletes every waiting job
          │
          ├ help: remove the TTL; to bound the queue, set `max_len` and `on_full = "refuse"`
          ╰ note: `keyward explain expiring-queue`
        "#);
    }

    #[test]
    fn dead_letters_may_expire() {
        let schema = r#"
[keys.jobs]
pattern = "queue:{name}"
queue = { dead_letter = "dead" }
[keys.dead]
pattern = "dead:{name}"
type = "list"
ttl = "7d"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
