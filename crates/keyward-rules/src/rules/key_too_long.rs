use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::thousands;
use keyward_pattern::DefinitionId;

rule! {
    /// ## What it does
    /// Reports a definition whose longest key exceeds `max_key_len`. Where a parameter has no
    /// longest value, `max_key_len` is what bounds it, and only the shortest key is judged.
    ///
    /// ## Why is this bad
    /// The builder refuses a key that is too long, so that well-formed values cannot be stored.
    ///
    /// ## Example
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// max_key_len = 40
    ///
    /// [keys.asset]
    /// pattern = "asset:bundle:{hash:hex(64)}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// max_key_len = 100
    ///
    /// [keys.asset]
    /// pattern = "asset:bundle:{hash:hex(64)}"
    /// ttl = "1h"
    /// ```
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let Some(bound) = &cx.schema.keyspace.max_key_len else { return };
    for (id, definition) in (0..).map(DefinitionId).zip(&cx.schema.keys) {
        let compiled = cx.schema.compiled.definition(id);
        let (shortest, longest) =
            (compiled.min_len() as u64, compiled.max_len().map(|len| len as u64));
        let name = &definition.name.value;
        let message = if shortest > **bound {
            format!("every key of `{name}` is longer than {} bytes", thousands(**bound))
        } else if longest.is_some_and(|longest| longest > **bound) {
            format!("a key of `{name}` may be longer than {} bytes", thousands(**bound))
        } else {
            continue;
        };
        let len = thousands(longest.unwrap_or(shortest));
        let label = match longest {
            Some(_) => format!("up to {len} bytes with the prefix"),
            None => format!("at least {len} bytes with the prefix"),
        };
        out.add(
            Finding::new(message)
                .about(definition)
                .at(&definition.pattern.span, label)
                .at(&bound.span, "the bound")
                .help("raise `max_key_len`, or shorten the pattern"),
        );
    }
}
