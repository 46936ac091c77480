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
        if listed.iter().any(|reserved| reserved.value == *word) {
            continue;
        }
        let taker = &cx.schema.keys[taker.0 as usize];
        let loser = &cx.schema.keys[loser.0 as usize];
        out.add(
            Finding::new(format!(
                "`{word}` is reserved: the builder of `{}` refuses it as `{hole}`",
                loser.name.value
            ))
            .about(loser)
            .about(taker)
            .at(&loser.pattern.span, format!("`{hole}` cannot be `{word}`"))
            .at(&taker.pattern.span, format!("takes `{}`", overlap.witness))
            .help(format!("list `{word}` in `[layout] reserved`, or tell the patterns apart")),
        );
    }
}
