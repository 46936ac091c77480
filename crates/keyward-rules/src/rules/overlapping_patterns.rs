use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::DefinitionId;
use keyward_pattern::prove::{self, Claim, Overlap, OverlapKind};

rule! {
    /// ## What it does
    /// Reports a key that belongs to two definitions, to a definition and a derived key, or to a
    /// definition and other software (`[foreign]`), and shows the shortest such key.
    ///
    /// Where one pattern is at least as specific as the other at every position, as
    /// `user:{id}:admin` is beside `user:{id}:{role}`, nothing overlaps: the word is reserved, and
    /// the rule `reserved-word` speaks about it.
    ///
    /// ## Why is this bad
    /// Two parts of the application write the same key, with different types and TTLs. One
    /// overwrites the other, a command fails with `WRONGTYPE`, or a user picks a name that leads
    /// into someone else's data.
    ///
    /// ## Example
    /// ```toml
    /// [keys.report]
    /// pattern = "report:{customer}:summary"
    /// ttl = "1h"
    ///
    /// [keys.yearly]
    /// pattern = "report:yearly:{name}"
    /// ttl = "1d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.report]
    /// pattern = "report:customer:{customer}:summary"
    /// ttl = "1h"
    ///
    /// [keys.yearly]
    /// pattern = "report:yearly:{name}"
    /// ttl = "1d"
    /// ```
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let found = cx.overlaps();
    for overlap in found.overlaps.iter().filter(|it| it.kind == OverlapKind::Conflict) {
        out.add(between_definitions(cx, overlap));
    }
    if !found.complete {
        out.add(
            Finding::new("not every pair of patterns could be compared")
                .at(
                    &cx.schema.keyspace.name.span,
                    "too many patterns meet, or their types are too large",
                )
                .help("mend the overlaps that are reported, and check again"),
        );
    }
    for foreign in &cx.schema.foreign {
        if let Some((definition, witness)) = prove::glob_overlap(&cx.schema.compiled, &foreign.glob)
        {
            let definition = &cx.schema.keys[definition.0 as usize];
            out.add(
                Finding::new(format!(
                    "the key `{witness}` belongs to `{}` and to the foreign `{}`",
                    definition.name.value, foreign.name.value
                ))
                .about(definition)
                .at(&definition.pattern.span, "ours")
                .at(&foreign.glob.span, "counted, and never judged")
                .help("narrow the glob, or rename the pattern"),
            );
        }
    }
}

fn between_definitions<'a>(cx: &Context<'a>, overlap: &Overlap) -> Finding<'a> {
    let (DefinitionId(first), first_is_derived) = claim(&overlap.first);
    let (DefinitionId(second), second_is_derived) = claim(&overlap.second);
    let (first, second) = (&cx.schema.keys[first as usize], &cx.schema.keys[second as usize]);
    let owner = |name: &str, derived| {
        if derived { format!("the keys that `{name}` derives") } else { format!("`{name}`") }
    };
    let label = |derived| if derived { "a role derives further keys here" } else { "" };
    let finding = Finding::new(format!(
        "the key `{}` belongs to {} and to {}",
        overlap.witness,
        owner(&second.name, second_is_derived),
        owner(&first.name, first_is_derived),
    ))
    .about(second)
    .about(first)
    .at(&second.pattern.span, label(second_is_derived))
    .at(&first.pattern.span, label(first_is_derived));
    if first_is_derived || second_is_derived {
        finding.help("keep `~` out of the pattern's first segment: derived keys begin with it")
    } else {
        finding.help("give the patterns a word of their own, or the parameters narrower types")
    }
}

fn claim(claim: &Claim) -> (DefinitionId, bool) {
    match claim {
        Claim::Definition(id) => (*id, false),
        Claim::Derived(id) => (*id, true),
    }
}
