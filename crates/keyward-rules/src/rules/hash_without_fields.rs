use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::KeyType;

rule! {
    /// ## What it does
    /// Reports a hash that declares no fields, unless it sets `open = true`.
    ///
    /// ## Why is this bad
    /// Everyone who uses a hash must agree on its fields. If they are not declared, a misspelt
    /// field is written next to the right one and nobody notices.
    ///
    /// ## Example
    /// ```toml
    /// [keys.file_meta]
    /// pattern = "file:{file_id}:meta"
    /// type = "hash"
    /// ttl = "30m"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.file_meta]
    /// pattern = "file:{file_id}:meta"
    /// ttl = "30m"
    /// fields = { name = "text", size = "uint" }
    /// ```
    Shape, Warn, Strict
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let Some(key_type) = &definition.key_type else { continue };
        if key_type.value != KeyType::Hash || !definition.fields.is_empty() || definition.open {
            continue;
        }
        out.add(
            Finding::new(format!("the hash `{}` declares no fields", definition.name.value))
                .about(definition)
                .at(&key_type.span, "its fields are not declared")
                .help("declare `fields`, or set `open = true` if they vary"),
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
        warning[hash-without-fields]: the hash `file_meta` declares no fields
          ╭▸ keyward.toml:4:8
          │
        4 │ type = "hash"
          │        ━━━━━━ its fields are not declared
          │
          ├ help: declare `fields`, or set `open = true` if they vary
          ╰ note: `keyward explain hash-without-fields`
        "#);
    }

    #[test]
    fn an_open_hash_may_have_any() {
        let schema = r#"
[keys.entity]
pattern = "entity:{id}"
type = "hash"
open = true
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
