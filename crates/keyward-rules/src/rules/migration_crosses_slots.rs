use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::tag::{hashed_by, share_slot, tagged, with_tag};
use keyward_fact::KeyType;
use keyward_pattern::Template;
use keyward_schema::model::{Definition, Phase, Role};

rule! {
    /// ## What it does
    /// With `cluster = true`, reports the migration of a key that is changed in place, such as a
    /// counter, hash, list or set, if its old and new name may be in different slots.
    ///
    /// Strings are written whole to both names, limits count under one name, locks are taken under
    /// both, and jobs are taken from both: none of them is reported. Neither is anything in the
    /// phase `cleanup`.
    ///
    /// ## Why is this bad
    /// A key that is changed in place is copied to its other name in the step that changes it.
    /// Redis Cluster cannot do that across slots, so concurrent changes would be lost.
    ///
    /// ## Example
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// cluster = true
    ///
    /// [keys.visits]
    /// pattern = "visits:{page}"
    /// counter = {}
    /// ttl = "none"
    ///
    /// [migrations.v2]
    /// phase = "dual-write"
    /// [migrations.v2.renames]
    /// visits = "count:visits:{page}"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// cluster = true
    ///
    /// [keys.visits]
    /// pattern = "visits:{#page}"
    /// counter = {}
    /// ttl = "none"
    ///
    /// [migrations.v2]
    /// phase = "dual-write"
    /// [migrations.v2.renames]
    /// visits = "count:visits:{#page}"
    /// ```
    /// If the old name has no hash tag, move the values while nobody writes. An old name with `convert`
    /// is not reported: stores do not use it.
    Change, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    if !*cx.schema.keyspace.cluster {
        return;
    }
    let prefix = cx.schema.keyspace.prefix.as_deref();
    for migration in cx.schema.migrations.iter().filter(|it| *it.phase != Phase::Cleanup) {
        for rename in migration.renames.iter().filter(|it| it.is_known_to_stores()) {
            let Some(definition) = cx.definition(&rename.definition) else { continue };
            let Some(what) = changed_in_place(definition) else { continue };
            let new: Vec<_> = prefix.into_iter().chain([&definition.pattern.value]).collect();
            if share_slot(&[&rename.from], &new) {
                continue;
            }
            let name = &definition.name.value;
            out.add(
                Finding::new(format!(
                    "{what} `{name}` cannot be migrated from one slot to another"
                ))
                .about(definition)
                .about_migration(migration)
                .at(&rename.from.span, hashed_by(&[&rename.from]))
                .at(&definition.pattern.span, hashed_by(&new))
                .help(help(&rename.from, prefix, &definition.pattern)),
            );
        }
    }
}

/// A tag is given back only where that brings the two names together.
fn help(old: &Template, prefix: Option<&Template>, new: &Template) -> String {
    let at_once = "move the values while nobody writes";
    let with_old_tag = tagged(&[old]).map(|param| with_tag(new, param));
    let with_old_tag = with_old_tag.filter(|text| {
        let Ok(new) = Template::parse(text) else { return false };
        share_slot(&[old], &prefix.into_iter().chain([&new]).collect::<Vec<_>>())
    });
    match with_old_tag {
        Some(text) => format!("keep the old name's hash tag: `{text}`; or {at_once}"),
        None => format!("{at_once}, or keep the old name"),
    }
}

/// What a definition is, if it is changed in place.
fn changed_in_place(definition: &Definition) -> Option<&'static str> {
    match definition.role.as_deref() {
        Some(Role::Counter(_)) => return Some("the counter"),
        Some(Role::Quota(_)) => return Some("the quota"),
        Some(Role::RateLimit(_) | Role::Lock(_) | Role::Queue(_) | Role::Flag(_)) => return None,
        Some(Role::Session(_) | Role::RefreshToken(_) | Role::Index(_) | Role::Ranking(_))
        | None => {}
    }
    match definition.key_type.as_deref()? {
        KeyType::Hash => Some("the hash"),
        KeyType::List => Some("the list"),
        KeyType::Set => Some("the set"),
        KeyType::Zset => Some("the sorted set"),
        KeyType::Stream => Some("the stream"),
        KeyType::Bitmap => Some("the bitmap"),
        KeyType::HyperLogLog => Some("the HyperLogLog"),
        KeyType::Geo => Some("the geo set"),
        KeyType::String | KeyType::Module(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[migration-crosses-slots]: the counter `visits` cannot be migrated from one slot to another
           ╭▸ keyward.toml:14:10
           │
         7 │ pattern = "visits:{page}"
           │           ─────────────── hashed by the whole key
           ┆
        14 │ visits = "count:visits:{page}"
           │          ━━━━━━━━━━━━━━━━━━━━━ hashed by the whole key
           │
           ├ help: move the values while nobody writes, or keep the old name
           ╰ note: `keyward explain migration-crosses-slots`
        "#);
    }

    #[test]
    fn whole_values_locks_and_queues_may_cross() {
        let schema = r#"
[keyspace]
name = "shop"
cluster = true
[keys.profile]
pattern = "new:profile:{id}"
value = "json"
[keys.lock]
pattern = "new:lock:{id}"
lock = {}
ttl = "30s"
[keys.jobs]
pattern = "new:queue:{id}"
queue = {}
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
profile = "profile:{id}"
lock = "lock:{id}"
jobs = "queue:{id}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn the_tag_of_the_old_name_is_given_back() {
        let schema = r#"
[keyspace]
name = "shop"
cluster = true
[keys.cart]
pattern = "shop:cart:{user_id}"
type = "hash"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
cart = "cart:{#user_id}"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[migration-crosses-slots]: the hash `cart` cannot be migrated from one slot to another
           ╭▸ keyward.toml:12:8
           │
         7 │ pattern = "shop:cart:{user_id}"
           │           ───────────────────── hashed by the whole key
           ┆
        12 │ cart = "cart:{#user_id}"
           │        ━━━━━━━━━━━━━━━━━ hashed by `{user_id}`
           │
           ├ help: keep the old name's hash tag: `shop:cart:{#user_id}`; or move the values while nobody writes
           ╰ note: `keyward explain migration-crosses-slots`
        "#);
    }

    #[test]
    fn a_tag_in_the_prefix_leaves_no_tag_to_give_back() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "{#tenant}:"
cluster = true
[keys.cart]
pattern = "cart:{user_id}"
type = "hash"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
cart = "cart:{tenant}:{#user_id}"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[migration-crosses-slots]: the hash `cart` cannot be migrated from one slot to another
           ╭▸ keyward.toml:13:8
           │
         8 │ pattern = "cart:{user_id}"
           │           ──────────────── hashed by `{tenant}`
           ┆
        13 │ cart = "cart:{tenant}:{#user_id}"
           │        ━━━━━━━━━━━━━━━━━━━━━━━━━━ hashed by `{user_id}`
           │
           ├ help: move the values while nobody writes, or keep the old name
           ╰ note: `keyward explain migration-crosses-slots`
        "#);
    }
}
