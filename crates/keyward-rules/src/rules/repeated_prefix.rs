use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::segment::{within, within_text};
use keyward_pattern::Template;

rule! {
    /// ## What it does
    /// Reports a pattern, or an example of it, that starts with the prefix of the keyspace. If the prefix has
    /// parameters, the text before the first one counts.
    ///
    /// ## Why is this bad
    /// Keyward adds the prefix to every pattern. With `prefix = "shop:"`, the keys of `shop:cart:{user_id}` are
    /// `shop:shop:cart:4`, and an audit reports the real ones as unknown.
    ///
    /// ## Example
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// prefix = "shop:"
    ///
    /// [keys.cart]
    /// pattern = "shop:cart:{user_id}"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// prefix = "shop:"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id}"
    /// ttl = "7d"
    /// ```
    /// If keys such as `shop:shop:4` are intended, accept the finding with an `allow`.
    Shape, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let Some(prefix) = &cx.schema.keyspace.prefix else { return };
    let Some(start) = first_text(prefix, *cx.schema.keyspace.separator) else { return };
    let in_keys = start.replace("{{", "{").replace("}}", "}");
    let help = format!("remove `{in_keys}`: Keyward adds the prefix to patterns and examples");
    for definition in &cx.schema.keys {
        let (name, pattern) = (&definition.name.value, &definition.pattern);
        let becomes = |text: &str| format!("with the prefix: `{}{text}`", prefix.as_str());
        if pattern.as_str().starts_with(&start) {
            let message = format!("the pattern of `{name}` repeats the prefix `{in_keys}`");
            let finding = Finding::new(message)
                .at(&within(pattern, 0..start.len()), becomes(pattern.as_str()))
                .at(&prefix.span, "the prefix");
            out.add(finding.about(definition).help(&help));
        } else if pattern.holes().next().is_some_and(|hole| hole.span.start == 0) {
            // An example that a pattern with text at its start cannot match is an `example-mismatch`.
            for example in definition.examples.iter().filter(|it| it.starts_with(&in_keys)) {
                let message = format!("an example of `{name}` repeats the prefix `{in_keys}`");
                let span = within_text(&example.span, example.len(), 0..in_keys.len());
                let finding = Finding::new(message)
                    .at(&span, becomes(example))
                    .at(&prefix.span, "the prefix");
                out.add(finding.about(definition).help(&help));
            }
        }
    }
}

/// What the prefix starts with, up to its first parameter and with a separator at the end, if it has a word.
fn first_text(prefix: &Template, separator: char) -> Option<String> {
    let text = prefix.as_str();
    let start = match prefix.holes().next() {
        Some(hole) => text[..hole.span.start].rsplit_once(separator)?.0,
        None => text.strip_suffix(separator).unwrap_or(text),
    };
    start.contains(char::is_alphanumeric).then(|| format!("{start}{separator}"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[repeated-prefix]: the pattern of `cart` repeats the prefix `shop:`
          ╭▸ keyward.toml:7:12
          │
        4 │ prefix = "shop:"
          │          ─────── the prefix
          ┆
        7 │ pattern = "shop:cart:{user_id}"
          │            ━━━━━ with the prefix: `shop:shop:cart:{user_id}`
          │
          ├ help: remove `shop:`: Keyward adds the prefix to patterns and examples
          ╰ note: `keyward explain repeated-prefix`
        "#);
    }

    fn of(prefix: &str, pattern: &str, example: &str) -> Vec<String> {
        messages(
            &RULE,
            &format!(
                "[keyspace]\nname = \"shop\"\nprefix = \"{prefix}\"\n[keys.cart]\npattern = \"{pattern}\"\n\
                 examples = [\"{example}\"]\n"
            ),
        )
    }

    #[test]
    fn any_start_of_the_prefix_counts() {
        let repeats = ["the pattern of `cart` repeats the prefix `shop:`"];
        assert_eq!(of("shop:", "shop:cart:{id}", "shop:cart:4"), repeats);
        assert_eq!(of("shop", "shop:cart:{id}", "shop:cart:4"), repeats);
        assert_eq!(of("shop:{tenant}:", "shop:cart:{id}", "shop:cart:4"), repeats);
        let tagged = ["the pattern of `cart` repeats the prefix `{shop}:`"];
        assert_eq!(of("{{shop}}:", "{{shop}}:cart:{id}", "{shop}:cart:4"), tagged);
    }

    #[test]
    fn an_example_that_the_pattern_matches_counts() {
        let repeats = ["an example of `cart` repeats the prefix `shop:`"];
        assert_eq!(of("shop:", "{kind}:{id}", "shop:4"), repeats);
        assert_eq!(of("shop:", "cart:{id}", "shop:cart:4"), [""; 0], "an `example-mismatch`");
    }

    #[test]
    fn another_word_with_the_same_start_is_not_the_prefix() {
        assert_eq!(of("shop:", "shopping:{id}", "shopping:4"), [""; 0]);
        assert_eq!(of("s{tenant}:", "s:{id}", "s:4"), [""; 0]);
        assert_eq!(of("{tenant}:", "cart:{id}", "cart:4"), [""; 0]);
    }
}
