use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::Keyspace;
use keyward_pattern::prove::{self, Claim, Overlap};
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
    let with_new = prove::overlaps_between(&names, &cx.schema.compiled);
    let with_old = prove::overlaps(&names);
    for overlap in &with_new.overlaps {
        let (migration, rename) = old[index(overlap.first)];
        let definition = &cx.schema.keys[index(overlap.second)];
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
    for overlap in &with_old.overlaps {
        out.extend(between_old_names(&old, overlap));
    }
    if !(with_new.complete && with_old.complete) {
        let (migration, rename) = old[0];
        out.add(
            Finding::new("not every old name could be compared with the new ones")
                .about_migration(migration)
                .at(&rename.from.span, "too many patterns meet, or their types are too large")
                .help("mend the overlaps that are reported, and check again"),
        );
    }
}

fn between_old_names<'a>(
    old: &[(&'a Migration, &'a Rename)],
    overlap: &Overlap,
) -> Option<Finding<'a>> {
    let (_, first) = old[index(overlap.first)];
    let (migration, second) = old[index(overlap.second)];
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

fn index(claim: Claim) -> usize {
    let (Claim::Definition(id) | Claim::Derived(id)) = claim;
    id.index()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[migration-overlaps]: the key `user:a` is an old name of `profile` and a key of `profile`
          ╭▸ keyward.toml:9:11
          │
        3 │ pattern = "user:{user_id}"
          │           ──────────────── its new name
          ┆
        9 │ profile = "user:{username}"
          │           ━━━━━━━━━━━━━━━━━ the old name
          │
          ├ help: rename to a pattern that no old key fits
          ╰ note: `keyward explain migration-overlaps`
        "#);
    }

    #[test]
    fn two_old_names_must_not_meet() {
        let schema = r#"
[keys.left]
pattern = "new:left:{id}"
[keys.right]
pattern = "new:right:{id}"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
left = "old:{id}"
right = "old:{id}"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[migration-overlaps]: the key `old:a` is an old name of `left` and of `right`
           ╭▸ keyward.toml:11:9
           │
        10 │ left = "old:{id}"
           │        ──────────
        11 │ right = "old:{id}"
           │         ━━━━━━━━━━
           │
           ├ help: give the parameters of the old names narrower types
           ╰ note: `keyward explain migration-overlaps`
        "#);
    }

    #[test]
    fn several_old_names_of_one_definition_may_meet() {
        let schema = r#"
[keys.left]
pattern = "new:left:{id}"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
left = ["old:{id}", "old:left"]
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn an_old_name_may_be_a_word_of_another_definition() {
        let schema = r#"
[keys.user]
pattern = "user:{name}"
[keys.admin]
pattern = "staff:admin"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
admin = "user:admin"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["the key `user:admin` is an old name of `admin` and a key of `user`",]
        );
    }
}
