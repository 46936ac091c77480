use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_fact::thousands;
use keyward_schema::model::Schema;

/// How many definitions a message names.
const MAX_LISTED: usize = 5;

rule! {
    /// ## What it does
    /// Reports a keyspace whose keys are elsewhere: with another prefix or separator, unless migrations have the old
    /// names, or in another database.
    ///
    /// ## Why is this bad
    /// All keys are lost at once: caches are cold, sessions end, counters and queues start from nothing, while the
    /// old keys stay on the server.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// prefix = "shop:"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// prefix = "web:"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// prefix = "web:"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    ///
    /// [migrations.prefix]
    /// phase = "dual-write"
    ///
    /// [migrations.prefix.renames]
    /// cart = "shop:cart:{user_id}"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    let (old, new) = (&cx.old.keyspace, &cx.new.keyspace);
    let name = new.name.value.as_str();
    let db = |schema: &Schema| schema.keyspace.db.as_ref().map_or(0, |db| db.value);
    let behind: Vec<&str> = cx
        .pairs
        .iter()
        .filter(|pair| pair.keys.left_behind)
        .map(|pair| pair.new.name.as_str())
        .collect();
    if !behind.is_empty() {
        let message =
            format!("the keys are looked for in database {}, not in {}", db(cx.new), db(cx.old));
        let span = |db: Option<&'a keyward_schema::Spanned<u32>>| db.map(|db| &db.span);
        out.add(
            Finding::new(message)
                .changes_other(name)
                .at(span(new.db.as_ref()).unwrap_or(cx.nowhere()), "the database now")
                .at(span(old.db.as_ref()).unwrap_or(&old.name.span), "the database before")
                .note(format!("the definitions: {}", listed(&behind, MAX_LISTED)))
                .help("name the old database in a migration: `{ pattern = \"…\", db = … }`"),
        );
    }
    if cx.is_in_place() {
        return;
    }
    let lost: Vec<_> =
        cx.pairs.iter().filter(|pair| pair.keys.lost.is_some() && pair.has_same_shape()).collect();
    let Some(first) = lost.first() else { return };
    let Some(key) = first.keys.lost.as_ref() else { return };
    let names: Vec<&str> = lost.iter().map(|pair| pair.new.name.as_str()).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    let message = format!(
        "the keyspace has moved: keys of {} definition{plural}, such as `{}`, are not found any more",
        thousands(names.len() as u64),
        key.key
    );
    let is = new.prefix.as_ref().map_or(&new.separator.span, |prefix| &prefix.span);
    let was = old.prefix.as_ref().map_or(&old.name.span, |prefix| &prefix.span);
    out.add(
        Finding::new(message)
            .changes_other(name)
            .at(is, "where the keys are now")
            .at(was, "where they were")
            .note(format!("the definitions: {}", listed(&names, MAX_LISTED)))
            .help("declare the old names in a migration: `[migrations.NAME.renames]`"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        let message = "the keyspace has moved: keys of 1 definition, such as `shop:cart:0`, are not found any more";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn a_database_is_the_first_one_unless_it_is_named() {
        let with =
            |db: &str| format!("[keyspace]\nname = \"a\"\n{db}\n[keys.a]\npattern = \"a\"\n");
        let message = "the keys are looked for in database 2, not in 0";
        assert_eq!(broken(&RULE, &with(""), &with("db = 2")), [message]);
        assert_eq!(broken(&RULE, &with(""), &with("db = 0")), [""; 0]);
    }

    #[test]
    fn keys_that_a_migration_finds_in_their_database_are_not_left_behind() {
        let old = "[keys.a]\npattern = \"a:{id}\"\n[keys.b]\npattern = \"b\"\n";
        let new = |renames: &str| {
            format!(
                "[keyspace]\nname = \"test\"\ndb = 2\n{old}[migrations.m]\nphase = \"dual-write\"\n\
                 [migrations.m.renames]\n{renames}\n"
            )
        };
        let of_a = "a = { pattern = \"a:{id}\", db = 0 }";
        let message = "the keys are looked for in database 2, not in 0";
        assert_eq!(broken(&RULE, old, &new(of_a)), [message]);
        let of_both = format!("{of_a}\nb = {{ pattern = \"b\", db = 0 }}");
        assert_eq!(broken(&RULE, old, &new(&of_both)), [""; 0]);
        assert_eq!(broken(&RULE, old, &new(&of_both.replace("db = 0", "db = 1"))), [message]);
    }

    #[test]
    fn a_prefix_that_takes_the_old_one_in_loses_nothing() {
        let with = |prefix: &str| {
            format!("[keyspace]\nname = \"a\"\nprefix = \"{prefix}\"\n[keys.a]\npattern = \"a\"\n")
        };
        assert_eq!(broken(&RULE, &with("acme:"), &with("{tenant:slug}:")), [""; 0]);
        assert_eq!(broken(&RULE, &with("{tenant:slug}:"), &with("acme:")).len(), 1);
    }
}
