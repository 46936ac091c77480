use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::prove;

rule! {
    /// ## What it does
    /// Reports an `encode` that turns two values into the same text, and shows the two.
    ///
    /// ## Why is this bad
    /// Two pages, files or people share one key: whoever asks for one is given the other. Nor can
    /// the key be parsed, because nobody knows which of the two it was.
    ///
    /// ## Example
    /// ```toml
    /// [keys.page]
    /// pattern = "page:{path}"
    /// params = { path = { type = "text", encode = { "/" = "_" } } }
    /// ttl = "5m"
    /// ```
    /// `/a/b` and `/a_b` both become `_a_b`.
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.page]
    /// pattern = "page:{path}"
    /// params = { path = "encoded" }
    /// ttl = "5m"
    /// ```
    /// An `encode` of one's own must encode what it replaces with as well:
    /// `{ "/" = "_s", "_" = "_u" }`.
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for lossy in prove::lossy(&cx.schema.compiled) {
        let definition = &cx.schema.keys[lossy.definition.0 as usize];
        let declaration = definition.params.iter().find(|param| *param.name == lossy.param);
        let encode = declaration.and_then(|param| param.encode_span.as_ref());
        let finding = Finding::new(format!(
            "`{}` and `{}` become the same `{}` in `{}`",
            lossy.left, lossy.right, lossy.image, definition.name.value
        ))
        .about(definition);
        let pattern = &definition.pattern.span;
        out.add(
            match encode {
                Some(encode) => finding
                    .at(encode, format!("cannot be undone for `{}`", lossy.param))
                    .at(pattern, "used here"),
                None => finding.at(pattern, format!("`{}` cannot be decoded", lossy.param)),
            }
            .help(format!(
                "use the type `encoded` for `{}`, or encode the replacement too",
                lossy.param
            )),
        );
    }
}
