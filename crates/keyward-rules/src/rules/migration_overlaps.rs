use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::prove::{self, Claim, Overlap};
use keyward_pattern::{DefinitionId, Keyspace};
use keyward_schema::model::{Migration, Rename};

rule! {
    /// ## What it does
    /// Reports an old name that is also a new one: of another definition, of the definition it
    /// moves to, or the old name of something else.
    ///
    /// ## Why is this bad
    /// Nobody can tell whether such a key has been moved. It is moved twice, or deleted as old
    /// although it is new.
    ///
    /// ## Example
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}"
    /// ttl = "1h"
    ///
    /// [migrations.v2]
    /// phase = "dual-write"
    /// [migrations.v2.renames]
    /// profile = "user:{username}"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:profile:{user_id}"
    /// ttl = "1h"
    ///
    /// [migrations.v2]
    /// phase = "dual-write"
    /// [migrations.v2.renames]
    /// profile = "user:{user_id}"
    /// ```
    Change, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let old: Vec<(&Migration, &Rename)> = cx
        .schema
        .migrations
        .iter()
        .flat_map(|migration| migration.renames.iter().map(move |rename| (migration, rename)))
        .collect();
    if old.is_empty() {
        return;
    }
    let Some(names) = old_names(cx, &old) else { return };
    for overlap in &prove::overlaps_between(&names, &cx.schema.compiled).overlaps {
        let (migration, rename) = old[index(&overlap.first)];
        let definition = &cx.schema.keys[index(&overlap.second)];
        let name = &definition.name.value;
        let whose = if *rename.definition == *name { "its new name" } else { "a name of today" };
        out.add(
            Finding::new(format!(
                "the key `{}` is an old name of `{}` and a key of `{name}`",
                overlap.witness, rename.definition.value
            ))
            .about(definition)
            .about_migration(migration)
            .at(&rename.from.span, "the old name")
            .at(&definition.pattern.span, whose)
            .help("rename to a pattern that no old key fits"),
        );
    }
    for overlap in &prove::overlaps(&names).overlaps {
        out.extend(between_old_names(&old, overlap));
    }
}

fn between_old_names<'a>(
    old: &[(&'a Migration, &'a Rename)],
    overlap: &Overlap,
) -> Option<Finding<'a>> {
    let (_, first) = old[index(&overlap.first)];
    let (migration, second) = old[index(&overlap.second)];
    if first.definition.value == second.definition.value {
        return None;
    }
    Some(
        Finding::new(format!(
            "the key `{}` is an old name of `{}` and of `{}`",
            overlap.witness, first.definition.value, second.definition.value
        ))
        .about_migration(migration)
        .at(&second.from.span, "")
        .at(&first.from.span, "")
        .help("give the parameters of the old names narrower types"),
    )
}

fn old_names(cx: &Context<'_>, old: &[(&Migration, &Rename)]) -> Option<Keyspace> {
    let mut builder = Keyspace::builder(*cx.schema.keyspace.separator).ok()?;
    for (number, (_, rename)) in old.iter().enumerate() {
        builder.define_absolute(&format!("old_{number}"), &rename.from, |name| {
            let declaration = rename.params.iter().find(|param| *param.name == name)?;
            Some(declaration.param.value.clone())
        });
    }
    builder.finish().ok()
}

fn index(claim: &Claim) -> usize {
    let (Claim::Definition(DefinitionId(id)) | Claim::Derived(DefinitionId(id))) = claim;
    *id as usize
}
