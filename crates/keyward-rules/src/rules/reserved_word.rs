use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::Template;
use keyward_pattern::prove::{Claim, OverlapKind};

rule! {
    /// ## What it does
    /// Reports a word that one pattern takes from the values of another pattern's parameter, unless
    /// `[layout] reserved` lists it.
    ///
    /// ## Why is this bad
    /// This is safe: `classify` prefers the more specific pattern, and the builder of the other
    /// refuses the word. But a customer who is really called `active` cannot be stored. That should
    /// be a decision, not a surprise.
    ///
    /// ## Example
    /// ```toml
    /// [keys.symbol]
    /// pattern = "symbol:{symbol}"
    /// ttl = "1h"
    ///
    /// [keys.active_symbols]
    /// pattern = "symbol:active"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [layout]
    /// shape = "<entity>:<identifier>"
    /// reserved = ["active"]
    ///
    /// [keys.symbol]
    /// pattern = "symbol:{symbol}"
    /// ttl = "1h"
    ///
    /// [keys.active_symbols]
    /// pattern = "symbol:active"
    /// ttl = "1h"
    /// ```
    Soundness, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let listed = cx.schema.layout.as_ref().map_or(&[][..], |layout| &layout.reserved);
    for overlap in &cx.overlaps().overlaps {
        let OverlapKind::Reserved { hole, word } = &overlap.kind else { continue };
        let (Claim::Definition(taker), Claim::Definition(loser)) =
            (&overlap.first, &overlap.second)
        else {
            continue;
        };
        let taker = &cx.schema.keys[taker.index()];
        let loser = &cx.schema.keys[loser.index()];
        let name = &loser.name.value;
        let more = goes_on(cx, &loser.pattern, hole, &overlap.witness);
        let finding = match word {
            Some(word) if listed.iter().any(|reserved| reserved.value == *word) => continue,
            Some(word) if more => {
                let (start, owner) =
                    (format!("{word}{}", *cx.schema.keyspace.separator), &taker.name.value);
                let message = format!(
                    "`{start}` is reserved at the start of `{hole}`: the builder of `{name}` \
                     refuses what belongs to `{owner}`"
                );
                Finding::new(message)
                    .at(
                        &loser.pattern.span,
                        format!("keys with `{start}` at the start of `{hole}` belong to `{owner}`"),
                    )
                    .help(format!(
                        "list `{word}` in `[layout] reserved`, or give the patterns different words"
                    ))
            }
            Some(word) => {
                let message = format!("`{word}` is reserved: the builder of `{name}` refuses it");
                Finding::new(message)
                    .at(&loser.pattern.span, format!("`{hole}` cannot be `{word}`"))
                    .help(format!(
                        "list `{word}` in `[layout] reserved`, or give the patterns different words"
                    ))
            }
            None => {
                let message = format!(
                    "some values of `{hole}` are reserved: the builder of `{name}` refuses them"
                );
                Finding::new(message)
                    .at(
                        &loser.pattern.span,
                        format!("`{hole}` cannot be a value that `{}` takes", taker.name.value),
                    )
                    .help("give each pattern its own word")
            }
        };
        out.add(
            finding
                .about(loser)
                .about(taker)
                .at(&taker.pattern.span, format!("matches `{}`", overlap.witness)),
        );
    }
}

/// Whether the parameter takes the rest of the key, and more than one segment of this one.
fn goes_on(cx: &Context<'_>, pattern: &Template, hole: &str, key: &str) -> bool {
    let separator = *cx.schema.keyspace.separator;
    let templates = cx.schema.keyspace.prefix.as_deref().into_iter().chain([pattern]);
    let separators: usize = templates.map(|template| template.segments(separator).len() - 1).sum();
    let takes_rest = pattern.holes().any(|it| it.name == hole && it.rest);
    takes_rest && key.matches(separator).count() > separators
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[reserved-word]: `active` is reserved: the builder of `symbol` refuses it
          ╭▸ keyward.toml:3:11
          │
        3 │ pattern = "symbol:{symbol}"
          │           ━━━━━━━━━━━━━━━━━ `symbol` cannot be `active`
          ┆
        7 │ pattern = "symbol:active"
          │           ─────────────── matches `symbol:active`
          │
          ├ help: list `active` in `[layout] reserved`, or give the patterns different words
          ╰ note: `keyward explain reserved-word`
        "#);
    }

    #[test]
    fn patterns_that_cannot_meet_reserve_nothing() {
        let schema = r#"
[keys.symbol]
pattern = "symbol:{id:uint}"
[keys.active_symbols]
pattern = "symbol:active"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_parameter_that_takes_the_rest_cannot_begin_as_another_pattern_does() {
        let schema = r#"
[keys.lock]
pattern = "lock:{rest...}"
[keys.cart_lock]
pattern = "lock:cart:{id}"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        warning[reserved-word]: `cart:` is reserved at the start of `rest`: the builder of `lock` refuses what belongs to `cart_lock`
          ╭▸ keyward.toml:4:11
          │
        4 │ pattern = "lock:{rest...}"
          │           ━━━━━━━━━━━━━━━━ keys with `cart:` at the start of `rest` belong to `cart_lock`
        5 │ [keys.cart_lock]
        6 │ pattern = "lock:cart:{id}"
          │           ──────────────── matches `lock:cart:a`
          │
          ├ help: list `cart` in `[layout] reserved`, or give the patterns different words
          ╰ note: `keyward explain reserved-word`
        "#);
    }

    #[test]
    fn a_parameter_that_takes_the_rest_cannot_be_a_word() {
        let schema = r#"
[keys.lock]
pattern = "lock:{rest...}"
[keys.all]
pattern = "lock:all"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`all` is reserved: the builder of `lock` refuses it"]
        );
    }
}
