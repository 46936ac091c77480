use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::prove::{self, Claim, Overlap};
use keyward_schema::model::{Migration, Rename};

rule! {
    /// ## What it does
    /// Reports an old name that is also a current name, of the same or of another definition, or an
    /// old name of another definition. Old names in another database (`db`) are compared with each
    /// other only.
    ///
    /// ## Why is this bad
    /// Nobody can tell whether such a key was already moved. It is moved twice, or deleted as old
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
    let renames = cx.schema.migrations.iter().find(|migration| !migration.renames.is_empty());
    let Some(first) = renames else { return };
    let by_db = cx.schema.old_names_by_db();
    let with_old: Vec<_> =
        by_db.iter().map(|names| (names, prove::overlaps(&names.keyspace))).collect();
    // Keys in other databases have their own names.
    let own = by_db.iter().find(|names| names.db.is_none());
    let with_new =
        own.map(|names| (names, prove::overlaps_between(&names.keyspace, &cx.schema.compiled)));
    let all = by_db.iter().map(|names| names.renames.len()).sum::<usize>();
    let renames = cx.schema.migrations.iter().map(|it| it.renames.len()).sum::<usize>();
    if all < renames
        || !with_old.iter().all(|(_, overlaps)| overlaps.complete)
        || !with_new.iter().all(|(_, overlaps)| overlaps.complete)
    {
        out.stop();
        out.add(
            Finding::new("some old names could not be compared with the new ones")
                .about_migration(first)
                .at(
                    &first.renames[0].from.span,
                    "too many patterns overlap, or their types are too large",
                )
                .help("fix the overlaps that are reported, and check again"),
        );
    }
    if let Some((names, found)) = &with_new {
        let found = found.overlaps.iter();
        out.extend(found.filter_map(|overlap| with_new_name(cx, &names.renames, overlap)));
    }
    for (names, found) in &with_old {
        let found = found.overlaps.iter();
        out.extend(found.filter_map(|overlap| with_old_name(&names.renames, overlap)));
    }
}

/// An old name of a definition.
type Old<'a> = (&'a Migration, &'a Rename);

fn with_new_name<'a>(cx: &Context<'a>, old: &[Old<'a>], overlap: &Overlap) -> Option<Finding<'a>> {
    let &(migration, rename) = old.get(index(overlap.first))?;
    let definition = &cx.schema.keys[index(overlap.second)];
    let name = &definition.name.value;
    let whose = if *rename.definition == *name { "its new name" } else { "a current name" };
    Some(
        Finding::new(format!(
            "the key `{}` is an old name of `{}` and a key of `{name}`",
            overlap.witness, rename.definition.value
        ))
        .about(definition)
        .about_migration(migration)
        .at(&rename.from.span, "the old name")
        .at(&definition.pattern.span, whose)
        .help("choose a new pattern that no old key matches"),
    )
}

fn with_old_name<'a>(old: &[Old<'a>], overlap: &Overlap) -> Option<Finding<'a>> {
    let &(_, first) = old.get(index(overlap.first))?;
    let &(migration, second) = old.get(index(overlap.second))?;
    if first.definition.value == second.definition.value {
        return None;
    }
    Some(
        Finding::new(format!(
            "the key `{}` is an old name of `{}` and of `{}`",
            overlap.witness, first.definition.value, second.definition.value
        ))
        .about_migration(migration)
        .at(&second.from.span, "matches this key")
        .at(&first.from.span, "matches this key")
        .help("give the parameters of the old names narrower types"),
    )
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
          ├ help: choose a new pattern that no old key matches
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
           │        ────────── matches this key
        11 │ right = "old:{id}"
           │         ━━━━━━━━━━ matches this key
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
    fn names_in_other_databases_may_be_the_same() {
        let schema = r#"
[keys.left]
pattern = "left:{id}"
[keys.right]
pattern = "right:{id}"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
left = ["old:{id}", { pattern = "left:{id}", db = 3 }, { pattern = "right:{id}", db = 4 }]
right = { pattern = "left:{id}", db = 4 }
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
        assert_eq!(
            messages(&RULE, &schema.replace("db = 4", "db = 3")),
            ["the key `left:a` is an old name of `left` and of `right`"]
        );
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

    #[test]
    fn an_old_name_may_hold_a_key() {
        let schema = r#"
[keys.doc]
pattern = "doc:{id:uint}"
[keys.children]
pattern = "{parent}:children"
params = { parent = { key = "doc" } }
[keys.list]
pattern = "kids:{parent}"
params = { parent = { key = "doc" } }
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
list = "{parent}:children"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["the key `doc:0:children` is an old name of `list` and a key of `children`"]
        );
    }
}
