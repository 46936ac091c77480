use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::fit::{Misfit, misfits};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a pattern that does not follow the shape in `[layout]`.
    ///
    /// The pattern's segments are laid beside the slots of the shape, without the prefix. A slot
    /// that has words takes those words, or an enum parameter of them. `<id>`, `<user_id>` and
    /// `<identifier>` take a parameter or a reserved word. `<entity>`, `<attribute>`, `<module>`,
    /// `<namespace>`, `<type>` and the like take text or an enum parameter. Any other slot, and
    /// `<rest...>`, takes anything.
    ///
    /// ## Why is this bad
    /// A layout is what lets people read a key they have never seen, and tools group keys without
    /// being told how. Each exception has to be known by heart.
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
        let shapes = misfits(cx.schema, definition, layout).into_iter().filter_map(|it| match it {
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
                .help("rename the pattern, or widen the shape"),
        );
    }
}
