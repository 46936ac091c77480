use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::prove;

rule! {
    /// ## What it does
    /// Reports an `encode` that turns two values into the same text, and shows both.
    ///
    /// ## Why is this bad
    /// Two pages, files or people share one key: a reader who asks for one gets the other. The key
    /// cannot be parsed either, because both values are possible.
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
    /// A custom `encode` must also encode the characters it inserts: `{ "/" = "_s", "_" = "_u" }`.
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for lossy in prove::lossy(&cx.schema.compiled) {
        let definition = &cx.schema.keys[lossy.definition.index()];
        let declaration = definition.params.iter().find(|param| *param.name == lossy.param);
        let encode = declaration.and_then(|param| param.encode_span.as_ref());
        let name = &definition.name.value;
        let message = if lossy.spelling.is_empty() {
            format!(
                "could not prove that the encoding of `{}` in `{name}` is reversible",
                lossy.param
            )
        } else {
            let (left, right, spelling) = (&lossy.left, &lossy.right, &lossy.spelling);
            format!("`{left}` and `{right}` become the same `{spelling}` in a key of `{name}`")
        };
        let finding = Finding::new(message).about(definition);
        let pattern = &definition.pattern.span;
        out.add(
            match encode {
                Some(encode) => finding
                    .at(encode, format!("`{}` cannot be decoded", lossy.param))
                    .at(pattern, "used here"),
                None => finding.at(pattern, format!("`{}` cannot be decoded", lossy.param)),
            }
            .help(format!(
                "use the type `encoded` for `{}`, or encode the replacement characters too",
                lossy.param
            )),
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
        error[lossy-encoding]: `/` and `_` become the same `_` in a key of `page`
          ╭▸ keyward.toml:4:45
          │
        3 │ pattern = "page:{path}"
          │           ───────────── used here
        4 │ params = { path = { type = "text", encode = { "/" = "_" } } }
          │                                             ━━━━━━━━━━━━━ `path` cannot be decoded
          │
          ├ help: use the type `encoded` for `path`, or encode the replacement characters too
          ╰ note: `keyward explain lossy-encoding`
        "#);
    }

    #[test]
    fn an_encoding_that_can_be_undone_is_fine() {
        let schema = r#"
[keys.page]
pattern = "page:{path}"
params = { path = { type = "text", encode = { "/" = "_s", "_" = "_u" } } }
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_type_without_the_replacement_is_fine() {
        let schema = r#"
[keys.page]
pattern = "page:{path}"
params = { path = { regex = "[a-z/]+", encode = { "/" = "_" } } }
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
