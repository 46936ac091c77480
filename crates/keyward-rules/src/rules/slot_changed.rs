use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::tag::hashed_by;
use keyward_pattern::Template;
use keyward_schema::model::{Definition, Schema};

rule! {
    /// ## What it does
    /// Reports a definition on a Redis Cluster whose keys are in other slots, because the part of the pattern that
    /// decides the slot is another; also where a migration moves the keys.
    ///
    /// ## Why is this bad
    /// Commands and scripts on several keys work within one slot only. Those that used the key with others fail with
    /// `CROSSSLOT`, and load moves from node to node.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// cluster = true
    ///
    /// [keys.cart]
    /// pattern = "cart:{#user_id:uint}"
    /// type = "hash"
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// cluster = true
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// type = "hash"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// cluster = true
    ///
    /// [keys.cart]
    /// pattern = "cart:{#user_id:uint}"
    /// type = "hash"
    /// ttl = "7d"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    if !*cx.new.keyspace.cluster && !*cx.old.keyspace.cluster {
        return;
    }
    for pair in cx.pairs.iter().filter(|pair| !pair.keys.same) {
        // Parameters may have other names.
        if cx.is_in_place() && pair.has_same_shape() {
            continue;
        }
        let (was, is) = (hashed(cx.old, pair.old), hashed(cx.new, pair.new));
        if was == is {
            continue;
        }
        let message = format!("keys of `{}` are in other slots", pair.new.name.value);
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, (Some(&pair.new.pattern.span), is), (Some(&pair.old.pattern.span), was))
                .help("keep the hash tag, or change what uses the key together with others")
                .touching(cx.touches_all(pair.old)),
        );
    }
}

fn hashed(schema: &Schema, definition: &Definition) -> String {
    let prefix = schema.keyspace.prefix.as_deref();
    let templates: Vec<&Template> = prefix.into_iter().chain([&definition.pattern.value]).collect();
    hashed_by(&templates)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{blocks, broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["keys of `cart` are in other slots"]);
    }

    #[test]
    fn without_a_cluster_there_are_no_slots() {
        let example = blocks(&RULE, "Example").into_iter().map(|it| it.replace("true", "false"));
        let example: Vec<String> = example.collect();
        assert_eq!(broken(&RULE, &example[0], &example[1]), [""; 0]);
    }

    #[test]
    fn another_name_of_the_parameter_moves_nothing() {
        let with = |pattern: &str| {
            format!("[keyspace]\nname = \"a\"\ncluster = true\n[keys.a]\npattern = \"{pattern}\"\n")
        };
        assert_eq!(broken(&RULE, &with("a:{#id:uint}"), &with("a:{#user_id:uint}")), [""; 0]);
        assert_eq!(broken(&RULE, &with("a:{#id:uint}"), &with("a:{#id:uint}:b")), [""; 0]);
        assert_eq!(
            broken(&RULE, &with("a:{#id:uint}:{n:uint}"), &with("a:{id:uint}:{#n:uint}")).len(),
            1
        );
    }
}
