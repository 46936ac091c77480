use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::Layout;

rule! {
    /// ## What it does
    /// Reports a key that belonged to one definition and belongs to another one now, because a definition is new or
    /// its pattern has grown; and a word that `[layout] reserved` takes from the values of a parameter.
    ///
    /// ## Why is this bad
    /// What is stored under that key was written as something else: it is read with the wrong type, counted for the
    /// wrong definition, and expires by the wrong TTL.
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
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for taken in &cx.taken {
        let Some(pair) = cx.pair(&taken.from.name) else { continue };
        let (from, by) = (&pair.new.name.value, &taken.by.name.value);
        let message = format!("`{}` was a key of `{from}`, and belongs to `{by}` now", taken.key);
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .at(&taken.by.pattern.span, "takes it")
                .at(&taken.from.pattern.span, "had it")
                .help("give the patterns different words"),
        );
    }
    if !cx.complete {
        out.stop();
    }
    for pair in &cx.pairs {
        for (old, new) in pair.old.params.iter().zip(&pair.new.params) {
            let words = new.param.except.iter().filter(|word| !old.param.except.contains(word));
            for word in words.filter(|_| old.param.ty == new.param.ty) {
                let (param, name) = (&new.name.value, &pair.new.name.value);
                let message = format!("`{word}` is reserved now: `{param}` of `{name}` refuses it");
                let span = cx.new.layout.as_ref().and_then(|layout| reserved(layout, word));
                out.add(
                    Finding::new(message)
                        .changes(cx, pair, Some(param))
                        .at(span.unwrap_or(cx.nowhere()), "reserved here")
                        .at(&pair.new.pattern.span, "has such keys, perhaps")
                        .help("reserve a word that no key has")
                        .touching(cx.touches_some(pair, "invalid-param", Some(param))),
                );
            }
        }
    }
}

fn reserved<'l>(layout: &'l Layout, word: &str) -> Option<&'l keyward_schema::Span> {
    layout.reserved.iter().find(|it| it.value == word).map(|it| &it.span)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        let message = "`symbol:active` was a key of `symbol`, and belongs to `active_symbols` now";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn a_wider_definition_takes_nothing() {
        let old = "[keys.a]\npattern = \"x:{id:uint}\"\n";
        let new = "[keys.a]\npattern = \"x:{id:uint}\"\n[keys.b]\npattern = \"x:{id}\"\n";
        assert_eq!(broken(&RULE, old, new), [""; 0]);
    }

    #[test]
    fn a_word_of_the_layout_is_taken_from_every_parameter() {
        let with = |words: &str| {
            format!(
                "[layout]\nshape = \"<entity>:<id>\"\nreserved = [{words}]\n\
                 [keys.a]\npattern = \"a:{{id}}\"\n[keys.n]\npattern = \"n:{{id:uint}}\"\n"
            )
        };
        let found = broken(&RULE, &with("\"all\""), &with("\"all\", \"active\""));
        assert_eq!(found, ["`active` is reserved now: `id` of `a` refuses it"]);
        assert_eq!(broken(&RULE, &with("\"all\", \"active\""), &with("\"all\"")), [""; 0]);
    }

    #[test]
    fn a_pattern_that_grows_may_take_keys() {
        let old = "[keys.a]\npattern = \"x:{id}\"\n[keys.b]\npattern = \"x:y\"\n";
        let new = "[keys.a]\npattern = \"x:{id}\"\n[keys.b]\npattern = \"x:{id:uint}\"\n";
        assert_eq!(broken(&RULE, old, new), ["`x:0` was a key of `a`, and belongs to `b` now"]);
    }

    #[test]
    fn a_definition_that_grows_past_another_one_leaves_keys_to_it() {
        let old = "[keys.a]\npattern = \"x:{id:uint}\"\n[keys.b]\npattern = \"x:{id:slug}\"\n";
        let new = "[keys.a]\npattern = \"x:{id}\"\n[keys.b]\npattern = \"x:{id:slug}\"\n";
        assert_eq!(broken(&RULE, old, new), ["`x:0` was a key of `a`, and belongs to `b` now"]);
    }

    /// The shortest key that two patterns share, and the next ones, may be a third definition's.
    #[test]
    fn a_key_that_no_third_definition_has_is_looked_for() {
        let third = "[keys.c]\npattern = \"x:{id:uint}\"\n[keys.d]\npattern = \"x:a\"\n";
        let old = format!("[keys.a]\npattern = \"x:{{id}}\"\n{third}");
        let new = format!("{old}[keys.b]\npattern = \"x:{{id:slug}}\"\n");
        assert_eq!(broken(&RULE, &old, &new), ["`x:b` was a key of `a`, and belongs to `b` now"]);
        let words = "[keys.b]\npattern = \"x:{id}\"\nparams = { id = [\"7\", \"8\", \"a\"] }\n";
        let taken = broken(&RULE, &old, &format!("{old}{words}"));
        assert_eq!(taken.len(), 1, "{taken:?}");
        assert!(taken[0].contains("was a key of `c`"), "{taken:?}");
    }

    #[test]
    fn a_key_inside_a_key_changes_hands_with_it() {
        let old = "[keys.a]\npattern = \"x:{id}\"\n[keys.h]\npattern = \"h:{of}\"\nparams = { of = { key = \"a\" } }\n";
        let new = format!("{old}[keys.b]\npattern = \"x:a\"\n");
        let lost = broken(&super::super::param_narrowed::RULE, old, &new);
        assert_eq!(lost, ["`h:x:a` was a key of `h`, and is not found any more"]);
    }
}
