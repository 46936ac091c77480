use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::KeyType;
use keyward_schema::model::{Definition, Lifecycle, Ttl};

rule! {
    /// ## What it does
    /// Reports a list, set, sorted set, geo set or stream without a bound: it has no `max_len`, and
    /// it is not a cache or temporary key that expires as a whole.
    ///
    /// ## Why is this bad
    /// It grows until one command on it blocks the server for seconds, and until one key holds a
    /// gigabyte that a cluster cannot spread.
    ///
    /// ## Example
    /// ```toml
    /// [keys.activity]
    /// pattern = "activity:{user_id}"
    /// type = "stream"
    /// ttl = "none"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.activity]
    /// pattern = "activity:{user_id}"
    /// type = "stream"
    /// ttl = "none"
    /// max_len = 10_000
    /// ```
    /// `[defaults] max_len` bounds all of them. If the oldest entries must not be trimmed, as in a
    /// queue, add `on_full = "refuse"`.
    Shape, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let Some(key_type) = &definition.key_type else { continue };
        if !grows(key_type) || definition.max_len.is_some() || ends_as_a_whole(definition) {
            continue;
        }
        out.add(
            Finding::new(format!(
                "the {} `{}` has no maximum length",
                **key_type, definition.name.value
            ))
            .about(definition)
            .at(&key_type.span, "may grow without limit")
            .help("set `max_len`, here or in `[defaults]`"),
        );
    }
}

fn grows(key_type: &KeyType) -> bool {
    key_type.is_collection() && *key_type != KeyType::Hash
}

fn ends_as_a_whole(definition: &Definition) -> bool {
    let fleeting = matches!(definition.lifecycle, Lifecycle::Cache | Lifecycle::Temporary);
    fleeting && definition.ttl.as_deref().is_some_and(Ttl::expires)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[unbounded-collection]: the stream `activity` has no maximum length
          ╭▸ keyward.toml:4:8
          │
        4 │ type = "stream"
          │        ━━━━━━━━ may grow without limit
          │
          ├ help: set `max_len`, here or in `[defaults]`
          ╰ note: `keyward explain unbounded-collection`
        "#);
    }

    #[test]
    fn a_cache_that_expires_is_bounded_by_its_time() {
        let schema = r#"
[keys.results]
pattern = "search:{hash}"
type = "list"
ttl = "1h"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_queue_grows() {
        let schema = r#"
[keys.jobs]
pattern = "queue:{name}"
queue = {}
"#;
        assert_eq!(messages(&RULE, schema), ["the list `jobs` has no maximum length",]);
    }

    #[test]
    fn a_default_bounds_all() {
        let schema = r#"
[defaults]
max_len = 100
[keys.jobs]
pattern = "queue:{name}"
queue = {}
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
