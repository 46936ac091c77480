use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition whose generated constructor can fail now, or cannot any more: another definition takes some
    /// of its keys, or `max_key_len` can be exceeded.
    ///
    /// ## Why is this bad
    /// The constructor returns a result where it returned a key, or a key where it returned a result. Code that calls
    /// it does not compile, or misses the error.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.symbol]
    /// pattern = "symbol:{symbol}"
    /// ttl = "1h"
    /// ```
    /// After:
    /// ```toml
    /// [keys.symbol]
    /// pattern = "symbol:{symbol}"
    /// ttl = "1h"
    ///
    /// [keys.active_symbols]
    /// pattern = "symbol:active"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.symbol]
    /// pattern = "symbol:{symbol}"
    /// ttl = "1h"
    ///
    /// [keys.active_symbols]
    /// pattern = "symbols:active"
    /// ttl = "1h"
    /// ```
    breaking Code, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let (Some(old), Some(new)) =
            (cx.old.compiled.find(&pair.old.name), cx.new.compiled.find(&pair.new.name))
        else {
            continue;
        };
        let fails = cx.new.compiled.definition(new).is_partial();
        if cx.old.compiled.definition(old).is_partial() == fails {
            continue;
        }
        let name = &pair.new.name.value;
        let message = if fails {
            format!("building a key of `{name}` can fail now")
        } else {
            format!("building a key of `{name}` cannot fail any more")
        };
        let is = (Some(&pair.new.pattern.span), "the constructor has another type".to_owned());
        let was = (Some(&pair.old.pattern.span), String::new());
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, is, was)
                .help("change the code that builds its keys in the same commit"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{blocks, broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["building a key of `symbol` can fail now"]);
    }

    #[test]
    fn the_way_back_changes_the_type_as_well() {
        let example = blocks(&RULE, "Example");
        assert_eq!(
            broken(&RULE, &example[1], &example[0]),
            ["building a key of `symbol` cannot fail any more"]
        );
    }
}
