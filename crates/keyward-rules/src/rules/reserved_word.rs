use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::prove::{Claim, OverlapKind};

rule! {
    /// ## What it does
    /// Reports a word that one pattern takes away from another's parameter and that
    /// `[layout] reserved` does not list.
    ///
    /// ## Why is this bad
    /// It is safe: `classify` prefers the more specific pattern, and the other's builder refuses
    /// the word. But a customer who is really called `active` cannot be stored, which should be a
    /// decision and not a surprise.
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
        let finding = match word {
            Some(word) if listed.iter().any(|reserved| reserved.value == *word) => continue,
            Some(word) => {
                let message = format!("`{word}` is reserved: the builder of `{name}` refuses it");
                Finding::new(message)
                    .at(&loser.pattern.span, format!("`{hole}` cannot be `{word}`"))
                    .help(format!(
                        "list `{word}` in `[layout] reserved`, or tell the patterns apart"
                    ))
            }
            None => {
                let message = format!(
                    "some values of `{hole}` are reserved: the builder of `{name}` refuses them"
                );
                Finding::new(message)
                    .at(
                        &loser.pattern.span,
                        format!("`{hole}` cannot be what `{}` takes", taker.name.value),
                    )
                    .help("tell the patterns apart by a word of their own")
            }
        };
        out.add(
            finding
                .about(loser)
                .about(taker)
                .at(&taker.pattern.span, format!("takes `{}`", overlap.witness)),
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
        warning[reserved-word]: `active` is reserved: the builder of `symbol` refuses it
          ╭▸ keyward.toml:3:11
          │
        3 │ pattern = "symbol:{symbol}"
          │           ━━━━━━━━━━━━━━━━━ `symbol` cannot be `active`
          ┆
        7 │ pattern = "symbol:active"
          │           ─────────────── takes `symbol:active`
          │
          ├ help: list `active` in `[layout] reserved`, or tell the patterns apart
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
}
