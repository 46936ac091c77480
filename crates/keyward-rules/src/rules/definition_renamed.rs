use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition that has the keys of another id: all keys of the old one are its keys, or by a migration
    /// its old names.
    ///
    /// ## Why is this bad
    /// The keys are found as before. But functions, types, metrics and reports are named after the id: code that uses
    /// the old one does not compile, and dashboards lose the line.
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
    /// [keys.basket]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// Rename it together with the code that uses it, and accept the change; or keep the id.
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    breaking Code, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in cx.pairs.iter().filter(|pair| pair.is_renamed()) {
        let (old, new) = (&pair.old.name, &pair.new.name);
        let message = format!("`{}` is called `{}` now", old.value, new.value);
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, (None, "the id now".to_owned()), (None, "the id before".to_owned()))
                .help("keep the id, or change the code that uses it in the same commit"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["`cart` is called `basket` now"]);
    }

    #[test]
    fn an_id_that_was_there_before_is_not_a_new_name() {
        let old = "[keys.a]\npattern = \"x:{id:uint}\"\n[keys.b]\npattern = \"y:{id:uint}\"\n";
        assert_eq!(broken(&RULE, old, "[keys.b]\npattern = \"x:{id:uint}\"\n"), [""; 0]);
    }

    #[test]
    fn a_successor_must_have_all_keys() {
        let old = "[keys.a]\npattern = \"x:{id}\"\n";
        assert_eq!(broken(&RULE, old, "[keys.b]\npattern = \"x:{id:slug}\"\n"), [""; 0]);
    }
}
