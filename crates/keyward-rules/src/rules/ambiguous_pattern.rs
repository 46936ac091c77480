use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::prove;

rule! {
    /// ## What it does
    /// Reports a pattern that reads one key in two ways.
    ///
    /// ## Why is this bad
    /// `parse` cannot tell which values the key was built from, and two different sets of values
    /// build the same key: one overwrites the other.
    ///
    /// ## Example
    /// ```toml
    /// [keys.pair]
    /// pattern = "pair:{base}-{quote}"
    /// ttl = "5m"
    /// ```
    /// `pair:a-b-c` is `a` and `b-c`, or `a-b` and `c`.
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.pair]
    /// pattern = "pair:{base}:{quote}"
    /// ttl = "5m"
    /// ```
    /// A type that cannot hold the character between the parameters helps as well.
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for ambiguity in prove::ambiguities(&cx.schema.compiled) {
        let definition = &cx.schema.keys[ambiguity.definition.0 as usize];
        out.add(
            Finding::new(format!(
                "`{}` reads the key `{}` in two ways",
                definition.name.value, ambiguity.key
            ))
            .about(definition)
            .at(&definition.pattern.span, "where one parameter ends is not sure")
            .note(format!("it is {}", reading(&ambiguity.left)))
            .note(format!("or it is {}", reading(&ambiguity.right)))
            .help("put a separator between the parameters, or give them narrower types"),
        );
    }
}

fn reading(values: &[(String, String)]) -> String {
    let values = values.iter().map(|(name, value)| format!("{name} = `{value}`"));
    values.collect::<Vec<_>>().join(", ")
}
