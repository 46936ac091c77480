use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::fit::{Misfit, misfits};
use crate::rule::rule;
use crate::words::listed;

rule! {
    /// ## What it does
    /// Reports a word that its slot in `[layout]` does not list.
    ///
    /// ## Why is this bad
    /// A vocabulary keeps one name for each thing. A word outside it is a misspelling, a second
    /// name for the same thing, or something new that the team has not agreed on.
    ///
    /// ## Example
    /// ```toml
    /// [layout]
    /// shape = "<module>:<identifier...>"
    /// module = ["market", "order"]
    ///
    /// [keys.tick]
    /// pattern = "markets:{symbol}:tick"
    /// ttl = "5s"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [layout]
    /// shape = "<module>:<identifier...>"
    /// module = ["market", "order"]
    ///
    /// [keys.tick]
    /// pattern = "market:{symbol}:tick"
    /// ttl = "5s"
    /// ```
    Shape, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let Some(layout) = &cx.schema.layout else { return };
    for definition in &cx.schema.keys {
        for misfit in misfits(cx, definition, layout) {
            let Misfit::Word { span, word, slot, of, known } = misfit else { continue };
            let message = match &of {
                Some(of) => format!("`{word}` is not listed for `<{slot}>` of `{of}`"),
                None => format!("`{word}` is not listed for `<{slot}>`"),
            };
            let finding = Finding::new(message).about(definition).at(&span, "not in `[layout]`");
            let shown: Vec<_> = known.iter().map(|known| known.as_str()).collect();
            let near = cx.nearest(&word, shown.iter().copied());
            out.add(match (near, of) {
                (Some(near), _) => finding.help(format!("did you mean `{near}`?")),
                (None, Some(of)) if known.is_empty() => {
                    finding.help(format!("`[layout.{slot}]` lists no words for `{of}`; add them"))
                }
                (None, _) => finding.help(format!(
                    "use one of {}, or add `{word}` to `[layout]`",
                    listed(&shown, 8)
                )),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[unknown-word]: `markets` is not listed for `<module>`
          ╭▸ keyward.toml:7:12
          │
        7 │ pattern = "markets:{symbol}:tick"
          │            ━━━━━━━ not in `[layout]`
          │
          ├ help: did you mean `market`?
          ╰ note: `keyward explain unknown-word`
        "#);
    }

    #[test]
    fn words_may_depend_on_an_earlier_slot() {
        let schema = r#"
[layout]
shape = "<module>:<business>:<identifier...>"
module = ["user", "order", "risk"]
[layout.business]
by = "module"
user = ["profile", "stats"]
order = ["settlement"]
[keys.user_stats]
pattern = "user:stats:{id}"
[keys.order_stats]
pattern = "order:stats:{id}"
[keys.risk_stats]
pattern = "risk:stats:{id}"
[keys.other_stats]
pattern = "other:stats:{id}"
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`stats` is not listed for `<business>` of `order`",
                "`stats` is not listed for `<business>` of `risk`",
                "`other` is not listed for `<module>`",
            ]
        );
    }
}
