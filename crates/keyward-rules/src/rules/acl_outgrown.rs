use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_pattern::{Glob, Part, derived};
use keyward_schema::model::{Derived, Schema};

rule! {
    /// ## What it does
    /// Reports a definition with keys that an ACL pattern for its old keys does not match: its pattern is another, or it
    /// has derived keys that it did not have. Only patterns of keys are compared. Which commands a user needs follows
    /// from the type, the role and the cache of a definition: `type-changed`, `role-changed` and `cache-changed` report
    /// those. A definition that is new breaks nothing that runs, and is not reported.
    ///
    /// ## Why is this bad
    /// A user who is granted `~shop:cart:*` gets `NOPERM` for keys outside of it. The deployment works in tests, where
    /// the user may do everything, and fails in production.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// type = "hash"
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [keys.cart]
    /// pattern = "user:{user_id:uint}:cart"
    /// type = "hash"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// Grant the new pattern before the program is released, and accept the change.
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// type = "hash"
    /// ttl = "7d"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    if !cx.is_in_place() {
        out.extend(moved(cx));
        return;
    }
    for pair in &cx.pairs {
        let name = &pair.new.name.value;
        let is = (Some(&pair.new.pattern.span), String::new());
        let was = (Some(&pair.old.pattern.span), String::new());
        let (Some(old), Some(new)) = (glob(cx.old, &pair.old.name), glob(cx.new, &pair.new.name))
        else {
            continue;
        };
        let has_more = !pair.keys.same && pair.keys.gained.is_some();
        if let Some(key) = has_more.then(|| cx.outside(pair, &Glob::new(&old))).flatten() {
            out.add(
                Finding::new(format!("an ACL of `~{old}` does not grant `{key}` of `{name}`"))
                    .changes(cx, pair, None)
                    .was(pair, is, was)
                    .help(format!(
                        "grant `~{new}` to the users that have `~{old}` before the release"
                    )),
            );
            continue;
        }
        let before = cx.old.derived(pair.old);
        let added = cx.new.derived(pair.new).into_iter().filter(|it| !before.contains(it));
        let added: Vec<&str> = added.map(Derived::word).collect();
        let Some(first) = added.first() else { continue };
        let message = format!(
            "`{name}` has derived keys {} now, which an ACL of `~{old}` may not grant",
            listed(&added.iter().map(|word| format!("~{word}")).collect::<Vec<_>>(), 6)
        );
        let such_as = derived(&beginning(cx.new), &new, first);
        let such_as = such_as.map_or(String::new(), |glob| format!(", such as `~{glob}`"));
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, is, was)
                .help(format!("grant them before the release{such_as}")),
        );
    }
}

/// With another prefix no old grant fits: one finding says it for all definitions.
fn moved<'a>(cx: &Change<'a>) -> Option<Finding<'a>> {
    let (old, new) = (beginning(cx.old), beginning(cx.new));
    let granted = Glob::new(&format!("{old}*"));
    let key = cx.pairs.iter().find_map(|pair| cx.outside(pair, &granted))?;
    let keyspace = &cx.new.keyspace;
    let span = keyspace.prefix.as_ref().map_or(&keyspace.name.span, |prefix| &prefix.span);
    let message =
        format!("an ACL of `~{old}*` does not grant `{key}` of `{}`", keyspace.name.value);
    Some(
        Finding::new(message)
            .changes_other(keyspace.name.value.as_str())
            .at(span, "what keys begin with now")
            .help(format!("grant `~{new}*` to the users that have `~{old}*` before the release")),
    )
}

/// What all keys begin with, as a glob.
fn beginning(schema: &Schema) -> String {
    let parts = schema.keyspace.prefix.iter().flat_map(|prefix| prefix.value.parts());
    let parts = parts.map(|part| match part {
        Part::Literal(text) => text.as_str(),
        Part::Hole(_) => "*",
    });
    parts.collect()
}

/// What `SCAN MATCH` and an ACL call the keys of a definition.
fn glob(schema: &Schema, name: &str) -> Option<String> {
    let id = schema.compiled.find(name)?;
    schema.compiled.definition(id).glob_named(&[]).ok()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(
            broken_example(&RULE),
            ["an ACL of `~cart:*` does not grant `user:0:cart` of `cart`"]
        );
    }

    #[test]
    fn more_values_in_the_same_place_are_granted() {
        let with = |ty: &str| {
            format!("[keys.a]\npattern = \"a:{{id:{ty}}}\"\ntype = \"set\"\nttl = \"1h\"\n")
        };
        assert_eq!(broken(&RULE, &with("uint"), &with("slug")), [""; 0]);
    }

    /// The shortest new key is `a:a`, which the old grant matches.
    #[test]
    fn a_key_that_is_not_granted_need_not_be_the_shortest_new_one() {
        let old = "[keys.a]\npattern = \"a:{id:uint}\"\n";
        let new = "[keys.a]\npattern = \"{kind:slug}:{id:slug}\"\n";
        let found = broken(&RULE, old, new);
        assert_eq!(found, ["an ACL of `~a:*` does not grant `b:a` of `a`"]);
    }

    #[test]
    fn another_prefix_is_one_finding() {
        let with = |prefix: &str| {
            format!(
                "[keyspace]\nname = \"s\"\nprefix = \"{prefix}\"\n[keys.a]\npattern = \"a:{{id:uint}}\"\n\
                 [keys.b]\npattern = \"b:{{id:uint}}\"\n"
            )
        };
        assert_eq!(
            broken(&RULE, &with("x:"), &with("y:")),
            ["an ACL of `~x:*` does not grant `y:a:0` of `s`"]
        );
    }

    #[test]
    fn derived_keys_need_a_grant() {
        let with = |more: &str| {
            format!(
                "[keys.a]\npattern = \"a:{{id:uint}}\"\nvalue = \"uint\"\nttl = \"1h\"\n{more}\n"
            )
        };
        assert_eq!(
            broken(&RULE, &with(""), &with("negative_ttl = \"30s\"")),
            ["`a` has derived keys `~none` now, which an ACL of `~a:*` may not grant"]
        );
    }
}
