use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a prefix that ends in a word or a parameter, without a separator between it and the patterns.
    ///
    /// ## Why is this bad
    /// The prefix is joined to each pattern as it is. With `prefix = "shop"`, the keys of `cart:{user_id}` are
    /// `shopcart:4`: no `shop:*` finds them, and an audit reports the real ones as unknown.
    ///
    /// ## Example
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// prefix = "shop"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id}"
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
    /// A prefix that ends in another sign, such as `shop-` or `shop.`, is not reported.
    Shape, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let keyspace = &cx.schema.keyspace;
    let Some(prefix) = keyspace.prefix.as_ref().filter(|prefix| prefix.as_str().ends_with(joins))
    else {
        return;
    };
    let joined = cx.schema.keys.iter().find(|it| it.pattern.as_str().starts_with(joins));
    let Some(definition) = joined else { return };
    let (start, separator) = (prefix.as_str(), *keyspace.separator);
    let pattern = &definition.pattern;
    out.add(
        Finding::new(format!("the prefix `{start}` has no `{separator}` at its end"))
            .at(&prefix.span, "joined to each pattern as it is")
            .at(&pattern.span, format!("with the prefix: `{start}{}`", pattern.as_str()))
            .help(format!("write `prefix = \"{start}{separator}\"`")),
    );
}

/// Whether a character belongs to a word, or to a parameter or a hash tag.
fn joins(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '{' | '}')
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[unseparated-prefix]: the prefix `shop` has no `:` at its end
          ╭▸ keyward.toml:4:10
          │
        4 │ prefix = "shop"
          │          ━━━━━━ joined to each pattern as it is
          ┆
        7 │ pattern = "cart:{user_id}"
          │           ──────────────── with the prefix: `shopcart:{user_id}`
          │
          ├ help: write `prefix = "shop:"`
          ╰ note: `keyward explain unseparated-prefix`
        "#);
    }

    fn of(prefix: &str, pattern: &str) -> Vec<String> {
        messages(
            &RULE,
            &format!(
                "[keyspace]\nname = \"shop\"\nprefix = \"{prefix}\"\n[keys.cart]\npattern = \"{pattern}\"\n"
            ),
        )
    }

    #[test]
    fn a_parameter_at_the_end_is_reported_too() {
        let message = "the prefix `{tenant:uint}` has no `:` at its end";
        assert_eq!(of("{tenant:uint}", "cart:{id}"), [message]);
    }

    #[test]
    fn a_sign_between_the_two_is_enough() {
        for prefix in ["shop:", "shop-", "shop.", "{tenant}/"] {
            assert_eq!(of(prefix, "cart:{id}"), [""; 0], "{prefix}");
        }
        assert_eq!(of("shop", ":cart:{id}"), [""; 0]);
    }
}
