use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Definition, OnWrite};

rule! {
    /// ## What it does
    /// Reports a definition whose TTL is renewed otherwise: reads start it again or do not any more (`sliding`), or
    /// writes do (`on_write`).
    ///
    /// ## Why is this bad
    /// Keys in use expire although they did not before, or never expire because they are always in use.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{id:uint}"
    /// type = "hash"
    /// ttl = "1h"
    /// sliding = true
    /// ```
    /// After:
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{id:uint}"
    /// type = "hash"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{id:uint}"
    /// type = "hash"
    /// ttl = "1h"
    /// sliding = true
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let name = &pair.new.name.value;
        let renewed = |by: &str, is: bool| {
            if is {
                format!("a {by} starts the TTL of `{name}` again now")
            } else {
                format!("a {by} does not start the TTL of `{name}` again any more")
            }
        };
        let on_write = |it: &Definition| it.on_write == OnWrite::Set;
        let changes = [
            ("read", pair.old.sliding, pair.new.sliding),
            ("write", on_write(pair.old), on_write(pair.new)),
        ];
        for (by, was, is) in changes {
            if was != is {
                out.add(
                    Finding::new(renewed(by, is))
                        .changes(cx, pair, None)
                        .was(
                            pair,
                            (None, "the definition now".to_owned()),
                            (None, "the definition before".to_owned()),
                        )
                        .help("make sure that keys in use live as long as they must"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(
            broken_example(&RULE),
            ["a read does not start the TTL of `profile` again any more"]
        );
    }

    #[test]
    fn writes_count_too() {
        let with = |how: &str| {
            format!(
                "[keys.a]\npattern = \"a\"\nvalue = \"uint\"\nttl = \"1h\"\non_write = \"{how}\"\n"
            )
        };
        assert_eq!(
            broken(&RULE, &with("keep"), &with("set")),
            ["a write starts the TTL of `a` again now"]
        );
    }
}
