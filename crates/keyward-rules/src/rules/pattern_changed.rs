use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition whose pattern has another shape, so that keys of the old pattern are no longer its keys,
    /// with the shortest of them. Old keys that a migration names are found, and are not reported.
    ///
    /// ## Why is this bad
    /// The program looks for the new names. What is stored under the old ones is not read, not invalidated and not
    /// deleted.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [keys.cart]
    /// pattern = "user:{user_id:uint}:cart"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.cart]
    /// pattern = "user:{user_id:uint}:cart"
    /// ttl = "7d"
    ///
    /// [migrations.carts]
    /// phase = "dual-write"
    ///
    /// [migrations.carts.renames]
    /// cart = "cart:{user_id}"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let name = &pair.new.name.value;
        let is = (Some(&pair.new.pattern.span), "the pattern now".to_owned());
        let was = (Some(&pair.old.pattern.span), "the pattern before".to_owned());
        if pair.keys.uncompared {
            let message = format!("the patterns of `{name}` are too large to be compared");
            out.add(Finding::new(message).changes(cx, pair, None).was(pair, is, was));
            continue;
        }
        let Some(lost) = pair.keys.lost.as_ref().filter(|_| !pair.has_same_shape()) else {
            continue;
        };
        let message = match &lost.now {
            Some(now) if now != name => {
                format!("`{}` was a key of `{name}`, and belongs to `{now}` now", lost.key)
            }
            _ => format!("`{}` was a key of `{name}`, and is not found any more", lost.key),
        };
        let prefix = cx.old.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
        let help = format!(
            "declare the old name in a migration: `[migrations.NAME.renames]` with `{name} = \"{prefix}{}\"`",
            pair.old.pattern.as_str()
        );
        let touched = match &pair.keys.shared {
            None => cx.touches_all(pair.old),
            Some(_) => cx.touches_at_most(pair.old, pair.new),
        };
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, is, was)
                .help(help)
                .touching(touched),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example, changed};
    use keyward_schema::{Style, render};

    #[test]
    fn the_example_is_reported() {
        let message = "`cart:0` was a key of `cart`, and is not found any more";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn both_versions_are_shown() {
        let old = "[keys.cart]\npattern = \"cart:{user_id:uint}\"\nttl = \"7d\"\n";
        let new = "[keys.cart]\npattern = \"basket:{user_id:uint}\"\nttl = \"7d\"\n";
        let (sources, mut diagnostics) = changed(old, new, None);
        diagnostics.retain(|it| it.rule == RULE.name);
        insta::assert_snapshot!(render(&sources, &diagnostics, &Style::default()));
    }

    #[test]
    fn a_pattern_that_only_grows_loses_nothing() {
        let old = "[keys.cart]\npattern = \"cart:open\"\n";
        assert_eq!(broken(&RULE, old, "[keys.cart]\npattern = \"cart:{state:slug}\"\n"), [""; 0]);
    }

    #[test]
    fn an_old_name_must_have_all_old_keys() {
        let old = "[keys.cart]\npattern = \"cart:{user}\"\n";
        let new = "[keys.cart]\npattern = \"user:{user}:cart\"\n[migrations.m]\nphase = \"dual-write\"\n\
                   [migrations.m.renames]\ncart = \"cart:{user:uint}\"\n";
        assert_eq!(
            broken(&RULE, old, new),
            ["`cart:a` was a key of `cart`, and is not found any more"]
        );
        assert_eq!(broken(&RULE, old, &new.replace(":uint", "")), [""; 0]);
    }

    #[test]
    fn what_a_narrower_definition_had_is_not_lost() {
        let old = "[keys.a]\npattern = \"x:{id}\"\n[keys.b]\npattern = \"x:y\"\n";
        let new = "[keys.a]\npattern = \"x:{id}\"\n[keys.b]\npattern = \"z\"\n";
        assert_eq!(broken(&RULE, old, new), ["`x:y` was a key of `b`, and belongs to `a` now"]);
    }
}
