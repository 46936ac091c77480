use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::{DefinitionId, Keyspace};

rule! {
    /// ## What it does
    /// Reports an example that is no key of its definition.
    ///
    /// ## Why is this bad
    /// People copy examples. Either the example is wrong, or the pattern does not say what its
    /// author meant.
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
    /// Examples are written like the pattern: without the prefix of the keyspace.
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    if cx.schema.keys.iter().all(|definition| definition.examples.is_empty()) {
        return;
    }
    let Some(keyspace) = without_prefix(cx) else { return };
    for (id, definition) in (0..).map(DefinitionId).zip(&cx.schema.keys) {
        for example in &definition.examples {
            let Err(reason) = keyspace.definition(id).parse(example.as_bytes()) else { continue };
            let mut finding = Finding::new(format!(
                "`{}` is no key of `{}`: {reason}",
                example.value, definition.name.value
            ))
            .about(definition)
            .at(&example.span, "")
            .at(&definition.pattern.span, "the pattern");
            let owner = keyspace.classify(example.as_bytes()).filter(|owner| *owner != id);
            if let Some(owner) = owner {
                let owner = &cx.schema.keys[owner.0 as usize];
                finding = finding.note(format!("it is a key of `{}`", owner.name.value));
            } else if cx.schema.compiled.classify(example.as_bytes()) == Some(id) {
                finding = finding.help("examples are written without the prefix");
            }
            out.add(finding);
        }
    }
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
