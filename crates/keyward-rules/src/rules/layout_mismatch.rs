use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::fit::{Misfit, misfits};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a pattern that does not follow the shape in `[layout]`.
    ///
    /// The segments of the pattern, without the prefix, are compared with the slots of the shape
    /// one by one. A slot with words accepts those words, or an enum parameter made of them. For a
    /// slot without words, the last part of its name decides:
    ///
    /// - `id`, `identifier` and `uuid` accept a parameter, or a reserved word;
    /// - `aspect`, `attribute`, `business`, `component`, `domain`, `entity`, `feature`, `field`,
    ///   `kind`, `module`, `namespace`, `object`, `property`, `service` and `type` accept text, or
    ///   an enum parameter;
    /// - any other slot, and `<rest...>`, accepts anything.
    ///
    /// ## Why is this bad
    /// With a layout, people can read a key they have never seen, and tools can group keys without
    /// configuration. Each exception must be remembered.
    ///
    /// ## Example
    /// ```toml
    /// [layout]
    /// shape = "<entity>:<id>:<attribute>"
    ///
    /// [keys.upload_limit]
    /// pattern = "rl:upload:{user_id}"
    /// rate_limit = { limit = 10, window = "60s" }
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [layout]
    /// shape = "<entity>:<id>:<attribute>"
    ///
    /// [keys.upload_limit]
    /// pattern = "user:{user_id}:upload_limit"
    /// rate_limit = { limit = 10, window = "60s" }
    /// ```
    Shape, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let Some(layout) = &cx.schema.layout else { return };
    for definition in &cx.schema.keys {
        let shapes = misfits(cx, definition, layout).into_iter().filter_map(|it| match it {
            Misfit::Shape { span, label } => Some((span, label)),
            Misfit::Word { .. } => None,
        });
        let mut labels = shapes.peekable();
        if labels.peek().is_none() {
            continue;
        }
        let mut finding = Finding::new(format!(
            "`{}` does not fit the layout `{}`",
            definition.pattern.as_str(),
            layout.text.value
        ))
        .about(definition);
        for (span, label) in labels {
            finding = finding.at(&span, label);
        }
        out.add(
            finding
                .at(&layout.text.span, "the layout")
                .help("change the pattern, or widen the shape"),
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
        error[layout-mismatch]: `rl:upload:{user_id}` does not fit the layout `<entity>:<id>:<attribute>`
          ╭▸ keyward.toml:6:15
          │
        3 │ shape = "<entity>:<id>:<attribute>"
          │         ─────────────────────────── the layout
          ┆
        6 │ pattern = "rl:upload:{user_id}"
          │               ┯━━━━━ ───────── `<attribute>` must be a word, not `{user_id}`
          │               │
          │               `<id>` must be a parameter, not the word `upload`
          │
          ├ help: change the pattern, or widen the shape
          ╰ note: `keyward explain layout-mismatch`
        "#);
    }

    #[test]
    fn a_layout_of_entity_id_and_attribute() {
        let schema = r#"
[layout]
shape = "<entity>:<id>:<attribute>"
[keys.folder_listing]
pattern = "folder:{folder_id}:listing"
[keys.quota]
pattern = "quota:{user_id}:used"
[keys.permission]
pattern = "perm:{folder_id}:{user_id}"
[keys.upload_limit]
pattern = "rl:upload:{user_id}"
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`perm:{folder_id}:{user_id}` does not fit the layout `<entity>:<id>:<attribute>`",
                "`rl:upload:{user_id}` does not fit the layout `<entity>:<id>:<attribute>`",
            ]
        );
    }

    #[test]
    fn a_pattern_may_be_too_long_or_too_short() {
        let schema = r#"
[layout]
shape = "<namespace>:<entity>:<identifier>[:<subkey>]"
[keys.session]
pattern = "session:active:{session_id}"
[keys.last_sync]
pattern = "sync:platform:{platform}:last"
[keys.progress]
pattern = "user:progress:{user_id}:{content_id}"
[keys.long]
pattern = "content:avail:{content_id}:{platform}:{region}"
[keys.short]
pattern = "content:meta"
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`content:avail:{content_id}:{platform}:{region}` does not fit the layout `<namespace>:<entity>:<identifier>[:<subkey>]`",
                "`content:meta` does not fit the layout `<namespace>:<entity>:<identifier>[:<subkey>]`",
            ]
        );
    }

    #[test]
    fn a_slot_with_words_takes_an_enum_of_them() {
        let schema = r#"
[layout]
shape = "<level>:<name>"
level = ["doc", "chapter"]
[keys.any_level]
pattern = "{level}:{name}"
params = { level = ["doc", "chapter"] }
[keys.free_level]
pattern = "{level:word}:{name}"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`{level:word}:{name}` does not fit the layout `<level>:<name>`",]
        );
    }

    #[test]
    fn a_key_inside_a_key_is_written_out() {
        let schema = r#"
[layout]
shape = "<level>:<identifier>[:<relation>]"
level = ["doc", "chapter"]
[keys.doc]
pattern = "doc:{name}"
[keys.chapter]
pattern = "chapter:{name}"
[keys.children]
pattern = "{parent}:children"
params = { parent = { key = ["doc", "chapter"] } }
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn the_rest_takes_anything_and_a_reserved_word_is_an_identifier() {
        let schema = r#"
[layout]
shape = "<module>:<id>:<more...>"
reserved = ["all"]
[keys.a]
pattern = "user:all:{x}:{y}:z"
[keys.b]
pattern = "user:{id}:{rest...}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn an_empty_segment_fits_no_slot() {
        let schema = r#"
[layout]
shape = "<module>:<type>:<identifier>"
type = ["cache"]
[keys.spring]
pattern = "user::{id}"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`user::{id}` does not fit the layout `<module>:<type>:<identifier>`"]
        );
    }
}
