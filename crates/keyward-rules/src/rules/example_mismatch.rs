use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::{DefinitionId, Keyspace, Param, Type};
use keyward_schema::model::Definition;

rule! {
    /// ## What it does
    /// Reports an example that is not a key of its definition.
    ///
    /// ## Why is this bad
    /// People copy examples. Either the example is wrong, or the pattern does not mean what its
    /// author intended.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uuid}"
    /// ttl = "7d"
    /// examples = ["session:abc123"]
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uuid}"
    /// ttl = "7d"
    /// examples = ["session:550e8400-e29b-41d4-a716-446655440000"]
    /// ```
    /// Write examples like the pattern, without the prefix of the keyspace.
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    if cx.schema.keys.iter().all(|definition| definition.examples.is_empty()) {
        return;
    }
    let Some(keyspace) = without_prefix(cx) else { return };
    for (id, definition) in (0..).map(DefinitionId).zip(&cx.schema.keys) {
        for example in &definition.examples {
            if keyspace.definition(id).parse(example.as_bytes()).is_some() {
                continue;
            }
            let (example_text, name) = (&example.value, &definition.name.value);
            let finding = Finding::new(format!("`{example_text}` is not a key of `{name}`"))
                .about(definition)
                .at(&example.span, why(cx, definition, example))
                .at(&definition.pattern.span, "the pattern");
            let owner = keyspace.classify(example.as_bytes());
            let with_prefix = cx.schema.compiled.classify(example.as_bytes()) == Some(id);
            out.add(match owner {
                Some(owner) => {
                    let owner = &cx.schema.keys[owner.index()].name.value;
                    finding.help(format!("it is a key of `{owner}`: move it there"))
                }
                None if with_prefix => finding.help("leave the prefix out"),
                None => finding.help("correct the example or the pattern"),
            });
        }
    }
}

/// The first thing about an example that its pattern does not admit, where it is one segment.
fn why(cx: &Context<'_>, definition: &Definition, example: &str) -> String {
    let separator = *cx.schema.keyspace.separator;
    let segments = definition.pattern.segments(separator);
    let pieces: Vec<&str> = example.split(separator).collect();
    if segments.len() != pieces.len() {
        return String::new();
    }
    let mut reasons = segments.iter().zip(pieces).filter_map(|(segment, piece)| {
        if let Some(text) = segment.literal() {
            return (text != piece).then(|| format!("`{piece}` is not `{text}`"));
        }
        let hole = segment.hole()?;
        let param = &definition.params.iter().find(|param| *param.name == hole.name)?.param;
        let piece_alone = Param::from(Type::Enum(vec![piece.to_owned()]));
        let refused = cx.refusal(param, &piece_alone);
        refused.map(|piece| format!("`{piece}` is not a valid `{}` ({})", hole.name, param.ty))
    });
    reasons.next().unwrap_or_default()
}

/// The same definitions without the prefix: examples do not have it, and it may have parameters.
fn without_prefix(cx: &Context<'_>) -> Option<Keyspace> {
    let mut builder = Keyspace::builder(*cx.schema.keyspace.separator).ok()?;
    for definition in &cx.schema.keys {
        builder.define(&definition.name, &definition.pattern, |name| {
            let declaration = definition.params.iter().find(|param| *param.name == name)?;
            Some(declaration.param.value.clone())
        });
    }
    builder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[example-mismatch]: `session:abc123` is not a key of `session`
          ╭▸ keyward.toml:5:13
          │
        3 │ pattern = "session:{session_id:uuid}"
          │           ─────────────────────────── the pattern
        4 │ ttl = "7d"
        5 │ examples = ["session:abc123"]
          │             ━━━━━━━━━━━━━━━━ `abc123` is not a valid `session_id` (uuid)
          │
          ├ help: correct the example or the pattern
          ╰ note: `keyward explain example-mismatch`
        "#);
    }

    #[test]
    fn an_example_has_no_prefix() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "{tenant:slug}:"
[keys.session]
pattern = "session:{id:uint}"
examples = ["session:42"]
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn the_help_for_an_example_with_the_prefix_is_to_drop_it() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "shop:"
[keys.session]
pattern = "session:{id:uint}"
examples = ["shop:session:42"]
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[example-mismatch]: `shop:session:42` is not a key of `session`
          ╭▸ keyward.toml:8:13
          │
        7 │ pattern = "session:{id:uint}"
          │           ─────────────────── the pattern
        8 │ examples = ["shop:session:42"]
          │             ━━━━━━━━━━━━━━━━━
          │
          ├ help: leave the prefix out
          ╰ note: `keyward explain example-mismatch`
        "#);
    }

    #[test]
    fn an_example_of_another_definition_names_it() {
        let schema = r#"
[keys.user]
pattern = "user:{name}"
examples = ["user:admin"]
[keys.admin]
pattern = "user:admin"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[example-mismatch]: `user:admin` is not a key of `user`
          ╭▸ keyward.toml:5:13
          │
        4 │ pattern = "user:{name}"
          │           ───────────── the pattern
        5 │ examples = ["user:admin"]
          │             ━━━━━━━━━━━━
          │
          ├ help: it is a key of `admin`: move it there
          ╰ note: `keyward explain example-mismatch`
        "#);
    }
}
