use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::segment::within;
use crate::words::listed;
use keyward_pattern::{Hole, Recase, Type, prove};
use keyward_schema::model::{Definition, Migration, ParamDeclaration, Phase, Rename};

rule! {
    /// ## What it does
    /// Reports an old name that cannot be built from the values of the new one: it has a parameter
    /// that the definition lacks, lacks one that the definition has, or accepts values that the
    /// definition's parameter refuses. With `recase`, values are compared in their new case, and
    /// the definition's parameter must accept no other case.
    ///
    /// An old name that lacks the parameters of the prefix is only a warning: its keys had no
    /// tenant yet. In the phase `cleanup` old names are no longer built, and nothing is reported.
    ///
    /// ## Why is this bad
    /// During a migration every write goes to both names, built from the same values. If one of
    /// them cannot be built, writes fail, or two keys share one old name and overwrite each other.
    ///
    /// ## Example
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:profile:{user_id}"
    /// ttl = "1h"
    ///
    /// [migrations.v2]
    /// phase = "dual-write"
    /// [migrations.v2.renames]
    /// profile = "profile:{usr_id}"
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
    /// profile = "profile:{user_id}"
    /// ```
    /// Keys that have other values under their new name cannot be renamed: leave the rename out,
    /// and let the old keys expire.
    Change, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for migration in cx.schema.migrations.iter().filter(|it| *it.phase != Phase::Cleanup) {
        for rename in &migration.renames {
            let Some(definition) = cx.definition(&rename.definition) else { continue };
            let mapping = Mapping { cx, migration, rename, definition };
            out.extend(mapping.problems());
        }
    }
}

/// One old name, and the definition it moves to.
struct Mapping<'c, 'a> {
    cx: &'c Context<'a>,
    migration: &'a Migration,
    rename: &'a Rename,
    definition: &'a Definition,
}

impl<'a> Mapping<'_, 'a> {
    fn problems(&self) -> Vec<Finding<'a>> {
        let (prefix, own) = self.definition.params.split_at(self.cx.bound_by_prefix());
        let (by_prefix, missing) = (self.missing(prefix), self.missing(own));
        let unknown: Vec<_> = self
            .rename
            .from
            .holes()
            .filter(|hole| self.definition.params.iter().all(|param| *param.name != hole.name))
            .collect();
        let mut problems: Vec<_> =
            unknown.iter().map(|hole| self.unknown(hole, &missing)).collect();
        if unknown.is_empty() && !missing.is_empty() {
            problems.push(self.lacks(&missing));
        }
        if !by_prefix.is_empty() {
            problems.push(self.lacks_prefix(&by_prefix));
        }
        let pairs = self.rename.params.iter().filter_map(|old| {
            let new = self.definition.params.iter().find(|param| *param.name == *old.name)?;
            Some((old, new))
        });
        for (old, new) in pairs {
            problems.extend(self.refused(old, new));
            problems.extend(self.shared(new));
        }
        problems
    }

    /// The parameters that the old name does not have.
    fn missing(&self, params: &'a [ParamDeclaration]) -> Vec<&'a str> {
        let names = params.iter().map(|param| param.name.as_str());
        names.filter(|name| self.rename.from.holes().all(|hole| hole.name != *name)).collect()
    }

    fn unknown(&self, hole: &Hole, missing: &[&'a str]) -> Finding<'a> {
        let (name, new) = (&hole.name, &self.definition.name.value);
        let near = self.cx.nearest(name, missing.iter().copied());
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("use a parameter of `{new}`, or add `{{{name}}}` to its pattern")
            }
        };
        let label = if missing.is_empty() {
            format!("has no `{name}`")
        } else {
            format!("has {} instead", listed(missing, 3))
        };
        self.finding(format!("the old name has a parameter `{name}` that `{new}` does not have"))
            .at(&within(&self.rename.from, hole.span.clone()), "has no value")
            .at(&self.definition.pattern.span, label)
            .help(help)
    }

    fn lacks(&self, missing: &[&str]) -> Finding<'a> {
        let (names, new) = (listed(missing, 3), &self.definition.name.value);
        self.finding(format!("the old name of `{new}` lacks {names}"))
            .at(&self.rename.from.span, format!("the same key for every {names}"))
            .at(&self.definition.pattern.span, "one key for each")
            .help("leave the rename out: such keys cannot be moved, only written again")
    }

    fn lacks_prefix(&self, missing: &[&str]) -> Finding<'a> {
        let (names, new) = (listed(missing, 3), &self.definition.name.value);
        let finding = self
            .finding(format!("the old name of `{new}` does not say which {names} it belongs to"))
            .at(&self.rename.from.span, format!("the same key for every {names}"));
        let prefix = self.cx.schema.keyspace.prefix.as_ref();
        prefix
            .into_iter()
            .fold(finding, |finding, prefix| finding.at(&prefix.span, "now in front of every key"))
            .help(format!("run the migration for the one {names} that the old keys belong to"))
            .warning()
    }

    fn refused(&self, old: &'a ParamDeclaration, new: &'a ParamDeclaration) -> Option<Finding<'a>> {
        let name = &old.name.value;
        let old_hole = self.rename.from.holes().find(|hole| hole.name == *name)?;
        let takes_rest =
            self.definition.pattern.holes().any(|hole| hole.name == *name && hole.rest);
        let separator = *self.cx.schema.keyspace.separator;
        let takes_rest = takes_rest || new.param.ty == Type::Encoded;
        let (value, old_type, new_type) = if old_hole.rest && !takes_rest {
            (format!("a{separator}b"), "takes the rest".to_owned(), "one segment".to_owned())
        } else {
            let value = match self.rename.recase(name) {
                None => self.cx.refusal(&new.param, &old.param)?,
                Some(recase) => {
                    prove::recased(separator, &new.param, &old.param, recase).ok()?.refused?
                }
            };
            (value, format!("`{}`", old.param.ty), format!("`{}`", new.param.ty))
        };
        Some(
            self.finding(format!(
                "`{name}` of the old name may be `{value}`, which `{}` refuses",
                self.definition.name.value
            ))
            .at(&within(&self.rename.from, old_hole.span.clone()), old_type)
            .at(&new.param.span, new_type)
            .help("give both the same type"),
        )
    }

    /// A parameter whose case the old name does not keep: two keys have one old name.
    fn shared(&self, new: &'a ParamDeclaration) -> Option<Finding<'a>> {
        let name = &new.name.value;
        let recase = self.rename.recase(name).filter(|_| self.rename.is_known_to_stores())?;
        let separator = *self.cx.schema.keyspace.separator;
        if !prove::changes_case(separator, &new.param, recase).ok()? {
            return None;
        }
        let place = self.rename.recase.iter().find(|(param, _)| *param.value == **name)?;
        let definition = &self.definition.name.value;
        Some(
            self.finding(format!("keys of `{definition}` that differ in case share one old name"))
                .at(&place.0.span, "the old name is the same for both cases")
                .at(&new.param.span, format!("`{}` accepts both cases", new.param.ty))
                .help(match recase {
                    Recase::Lower => {
                        format!("add `normalize = \"lower\"` to `{name}`, or use a type such as `slug`")
                    }
                    Recase::Upper => format!(
                        "give `{name}` a type without lower-case letters, such as `{{ regex = \"[A-Z]+\" }}`"
                    ),
                }),
        )
    }

    fn finding(&self, message: String) -> Finding<'a> {
        Finding::new(message).about(self.definition).about_migration(self.migration)
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{checked, example, findings, messages};
    use keyward_schema::model::Severity;

    fn renamed(pattern: &str, old: &str) -> String {
        format!(
            "[keys.profile]\npattern = \"{pattern}\"\n[migrations.v2]\nphase = \"dual-write\"\n\
             [migrations.v2.renames]\nprofile = \"{old}\"\n"
        )
    }

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[migration-cannot-map]: the old name has a parameter `usr_id` that `profile` does not have
          ╭▸ keyward.toml:9:20
          │
        3 │ pattern = "user:profile:{user_id}"
          │           ──────────────────────── has `user_id` instead
          ┆
        9 │ profile = "profile:{usr_id}"
          │                    ━━━━━━━━ has no value
          │
          ├ help: did you mean `user_id`?
          ╰ note: `keyward explain migration-cannot-map`
        "#);
    }

    #[test]
    fn two_keys_must_not_share_an_old_name() {
        let schema = renamed("new:{user_id}:{locale}", "old:{user_id}");
        insta::assert_snapshot!(findings(&RULE, &schema), @r#"
        error[migration-cannot-map]: the old name of `profile` lacks `locale`
          ╭▸ keyward.toml:7:11
          │
        3 │ pattern = "new:{user_id}:{locale}"
          │           ──────────────────────── one key for each
          ┆
        7 │ profile = "old:{user_id}"
          │           ━━━━━━━━━━━━━━━ the same key for every `locale`
          │
          ├ help: leave the rename out: such keys cannot be moved, only written again
          ╰ note: `keyward explain migration-cannot-map`
        "#);
    }

    #[test]
    fn a_value_of_the_old_name_may_be_refused() {
        let schema = renamed("new:{user_id:uuid}", "old:{user_id:uint}");
        insta::assert_snapshot!(findings(&RULE, &schema), @r#"
        error[migration-cannot-map]: `user_id` of the old name may be `0`, which `profile` refuses
          ╭▸ keyward.toml:7:16
          │
        3 │ pattern = "new:{user_id:uuid}"
          │                ────────────── `uuid`
          ┆
        7 │ profile = "old:{user_id:uint}"
          │                ━━━━━━━━━━━━━━ `uint`
          │
          ├ help: give both the same type
          ╰ note: `keyward explain migration-cannot-map`
        "#);
    }

    #[test]
    fn a_rest_does_not_fit_one_segment() {
        let schema = renamed("new:{path}", "old:{path...}");
        assert_eq!(
            messages(&RULE, &schema),
            ["`path` of the old name may be `a:b`, which `profile` refuses"]
        );
        assert_eq!(messages(&RULE, &renamed("new:{path...}", "old:{path...}")), [""; 0]);
        assert_eq!(messages(&RULE, &renamed("new:{path...}", "old:{path}")), [""; 0]);
    }

    #[test]
    fn a_new_tenant_is_a_warning() {
        let schema = format!(
            "[keyspace]\nname = \"shop\"\nprefix = \"{{tenant}}:\"\n{}",
            renamed("new:{user_id}", "old:{user_id}")
        );
        insta::assert_snapshot!(findings(&RULE, &schema), @r#"
        warning[migration-cannot-map]: the old name of `profile` does not say which `tenant` it belongs to
           ╭▸ keyward.toml:10:11
           │
         4 │ prefix = "{tenant}:"
           │          ─────────── now in front of every key
           ┆
        10 │ profile = "old:{user_id}"
           │           ━━━━━━━━━━━━━━━ the same key for every `tenant`
           │
           ├ help: run the migration for the one `tenant` that the old keys belong to
           ╰ note: `keyward explain migration-cannot-map`
        "#);
        let (_, diagnostics) = checked(&schema);
        let own = diagnostics.iter().find(|it| it.rule == RULE.name).unwrap();
        assert_eq!(own.severity, Severity::Warn);
    }

    fn recased(pattern: &str, old: &str, case: &str) -> String {
        let schema = renamed(pattern, old);
        schema.replace(
            &format!("profile = \"{old}\""),
            &format!("profile = {{ pattern = \"{old}\", recase = {{ user_id = \"{case}\" }} }}"),
        )
    }

    #[test]
    fn values_are_compared_in_their_new_case() {
        let schema = recased("new:{user_id:slug}", "OLD:{user_id:word}", "lower");
        insta::assert_snapshot!(findings(&RULE, &schema), @r#"
        error[migration-cannot-map]: `user_id` of the old name may be `_`, which `profile` refuses
          ╭▸ keyward.toml:7:28
          │
        3 │ pattern = "new:{user_id:slug}"
          │                ────────────── `slug`
          ┆
        7 │ profile = { pattern = "OLD:{user_id:word}", recase = { user_id = "lower" } }
          │                            ━━━━━━━━━━━━━━ `word`
          │
          ├ help: give both the same type
          ╰ note: `keyward explain migration-cannot-map`
        "#);
        let schema = "[params]\nuser_id = { regex = \"[a-z0-9_]+\" }\n".to_owned()
            + &recased("new:{user_id}", "OLD:{user_id:word}", "lower");
        assert_eq!(messages(&RULE, &schema), [""; 0]);
    }

    #[test]
    fn keys_that_differ_in_case_must_not_share_an_old_name() {
        let schema = recased("new:{user_id:word}", "OLD:{user_id:word}", "lower");
        insta::assert_snapshot!(findings(&RULE, &schema), @r#"
        error[migration-cannot-map]: keys of `profile` that differ in case share one old name
          ╭▸ keyward.toml:7:56
          │
        3 │ pattern = "new:{user_id:word}"
          │                ────────────── `word` accepts both cases
          ┆
        7 │ profile = { pattern = "OLD:{user_id:word}", recase = { user_id = "lower" } }
          │                                                        ━━━━━━━ the old name is the same for both cases
          │
          ├ help: add `normalize = "lower"` to `user_id`, or use a type such as `slug`
          ╰ note: `keyward explain migration-cannot-map`
        "#);
    }

    #[test]
    fn parameters_may_change_their_order_and_types_may_grow() {
        let schema = renamed("new:{a}:{b}", "old:{b:uint}:{a:uuid}");
        assert_eq!(messages(&RULE, &schema), [""; 0]);
    }

    #[test]
    fn old_names_that_are_only_removed_are_left_alone() {
        let schema = renamed("new:{user_id}", "old:{name}").replace("dual-write", "cleanup");
        assert_eq!(messages(&RULE, &schema), [""; 0]);
    }
}
