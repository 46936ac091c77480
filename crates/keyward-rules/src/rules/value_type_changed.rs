use crate::breaking::{Change, Reading, parts, reading, words};
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a value, field, member or score whose type is another one that reads all that was stored. What cannot be
    /// read is reported by `value-changed`.
    ///
    /// ## Why is this bad
    /// Generated code has another type there. Programs that were built from the old version may not read what new ones
    /// write.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.order]
    /// pattern = "order:{id:uint}"
    /// fields = { state = ["open", "paid"] }
    /// ttl = "1d"
    /// ```
    /// After:
    /// ```toml
    /// [keys.order]
    /// pattern = "order:{id:uint}"
    /// fields = { state = ["open", "paid", "void"] }
    /// ttl = "1d"
    /// ```
    ///
    /// ## Use instead
    /// Release the programs that read the new values before those that write them, and accept the change.
    /// ```toml
    /// [keys.order]
    /// pattern = "order:{id:uint}"
    /// fields = { state = ["open", "paid"] }
    /// ttl = "1d"
    /// ```
    breaking Code, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        for part in parts(pair.old, pair.new) {
            if reading(part.old.0, part.new.0) != Reading::Wider {
                continue;
            }
            let what = match part.name {
                None => format!("the value of `{}`", pair.new.name.value),
                Some("*") => format!("each other field of `{}`", pair.new.name.value),
                Some(name) => format!("`{name}` of `{}`", pair.new.name.value),
            };
            let (is, was) = (words::value(part.new.0), words::value(part.old.0));
            out.add(
                Finding::new(format!("{what} is `{is}` now, and was `{was}`"))
                    .changes(cx, pair, part.name)
                    .at(part.new.1, "the type now")
                    .at(part.old.1, "the type before")
                    .help("release what reads the new values before what writes them"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        let message = "`state` of `order` is `open | paid | void` now, and was `open | paid`";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn types_of_the_application_are_told_by_their_names() {
        let with = |of: &str| format!("[keys.a]\npattern = \"a\"\nvalue = {{ json = \"{of}\" }}\n");
        assert_eq!(
            broken(&RULE, &with("Cart"), &with("Basket")),
            ["the value of `a` is `json Basket` now, and was `json Cart`"]
        );
    }
}
