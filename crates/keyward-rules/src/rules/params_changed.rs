use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_schema::model::Definition;

/// How many parameters a message names.
const MAX_LISTED: usize = 5;

rule! {
    /// ## What it does
    /// Reports a definition whose parameters have other names, another number or another order.
    ///
    /// ## Why is this bad
    /// Generated functions take the parameters by name or in this order. Code that calls them does not compile, or
    /// passes values in the wrong places where the types are the same.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{id:uint}"
    /// ttl = "1h"
    /// ```
    /// After:
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{user_id:uint}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{id:uint}"
    /// ttl = "1h"
    /// ```
    breaking Code, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let (old, new) = (names(pair.old), names(pair.new));
        if old == new {
            continue;
        }
        let name = &pair.new.name.value;
        let lacking = |some: &[&'a str], of: &[&'a str]| {
            of.iter().copied().filter(|it| !some.contains(it)).collect::<Vec<_>>()
        };
        let (gone, added) = (lacking(&new, &old), lacking(&old, &new));
        let message = match (gone.as_slice(), added.as_slice()) {
            ([], []) => format!("the parameters of `{name}` are in another order"),
            ([gone], [added]) if old.len() == new.len() => {
                format!("`{gone}` of `{name}` is called `{added}` now")
            }
            (gone, []) => format!("`{name}` does not take {} any more", listed(gone, MAX_LISTED)),
            ([], added) => format!("`{name}` takes {} as well", listed(added, MAX_LISTED)),
            (gone, added) => {
                let (added, gone) = (listed(added, MAX_LISTED), listed(gone, MAX_LISTED));
                format!("`{name}` takes {added} instead of {gone}")
            }
        };
        let is = (Some(&pair.new.pattern.span), "the pattern now".to_owned());
        let was = (Some(&pair.old.pattern.span), "the pattern before".to_owned());
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, is, was)
                .help("change the code that builds its keys in the same commit"),
        );
    }
}

fn names(definition: &Definition) -> Vec<&str> {
    definition.params.iter().map(|param| param.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["`id` of `profile` is called `user_id` now"]);
    }

    #[test]
    fn parameters_come_go_and_change_places() {
        let with = |pattern: &str| format!("[keys.a]\npattern = \"{pattern}\"\n");
        let say = |old: &str, new: &str| broken(&RULE, &with(old), &with(new)).remove(0);
        assert_eq!(say("a:{x}", "a:{x}:{y}"), "`a` takes `y` as well");
        assert_eq!(say("a:{x}:{y}", "a:{y}"), "`a` does not take `x` any more");
        assert_eq!(say("a:{x}:{y}", "a:{y}:{x}"), "the parameters of `a` are in another order");
        assert_eq!(say("a:{x}:{y}", "a:{z}"), "`a` takes `z` instead of `x` and `y`");
        assert_eq!(broken(&RULE, &with("a:{x}"), &with("b:{x:uint}")), [""; 0]);
    }
}
