use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::prove;

rule! {
    /// ## What it does
    /// Reports a definition that has more keys than before: a parameter takes more values, or a word has become a
    /// parameter. It shows the shortest key that is new.
    ///
    /// ## Why is this bad
    /// Programs that were built from the old version do not parse such a key, and their audits report it as unknown. In
    /// generated code the parameter's type is another, or has one case more.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{user_id:uuid}"
    /// ttl = "1h"
    /// ```
    /// After:
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{user_id:slug}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// Release the programs that parse these keys before those that write the new values, and accept the change.
    /// ```toml
    /// [keys.profile]
    /// pattern = "profile:{user_id:uuid}"
    /// ttl = "1h"
    /// ```
    breaking Code, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    let separator = *cx.new.keyspace.separator;
    for pair in &cx.pairs {
        let keys = &pair.keys;
        let Some(gained) = &keys.gained else { continue };
        let same_shape = cx.is_in_place() && pair.has_same_shape();
        if keys.shared.is_none() || !(same_shape || keys.lost.is_none()) {
            continue; // other keys, not more of them
        }
        let name = &pair.new.name.value;
        let widened = pair.old.params.iter().zip(&pair.new.params).filter(|_| same_shape);
        let widened = widened.filter_map(|(old, new)| {
            let value = prove::accepts_all(separator, &old.param, &new.param).ok().flatten()?;
            Some((old, new, value))
        });
        let finding = match widened.into_iter().next() {
            Some((old, new, value)) => {
                let param = &new.name.value;
                let message =
                    format!("`{param}` of `{name}` takes `{value}` as well: `{gained}` is new");
                let typed = |ty: &keyward_pattern::Type| ty.to_string().replace('`', "");
                Finding::new(message)
                    .changes(cx, pair, Some(param))
                    .at(&new.param.span, format!("is `{}`", typed(&new.param.ty)))
                    .at(&old.param.span, format!("was `{}`", typed(&old.param.ty)))
            }
            None => Finding::new(format!("`{name}` has more keys: `{gained}` is new"))
                .changes(cx, pair, None)
                .at(&pair.new.pattern.span, "the pattern now")
                .at(&pair.old.pattern.span, "the pattern before"),
        };
        out.add(finding.help("release what parses these keys before what writes them"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        let message = "`user_id` of `profile` takes `a` as well: `profile:a` is new";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn a_word_that_becomes_a_parameter_is_one_of_many() {
        let old = "[keys.a]\npattern = \"a:open\"\n";
        let new = "[keys.a]\npattern = \"a:{state:slug}\"\n";
        assert_eq!(broken(&RULE, old, new), ["`a` has more keys: `a:a` is new"]);
    }

    #[test]
    fn other_keys_are_not_more_keys() {
        let old = "[keys.a]\npattern = \"a:{id:uint}\"\n";
        assert_eq!(broken(&RULE, old, "[keys.a]\npattern = \"b:{id:uint}\"\n"), [""; 0]);
        assert_eq!(broken(&RULE, old, "[keys.a]\npattern = \"a:{id:digits(3)}\"\n").len(), 1);
        assert_eq!(broken(&RULE, old, "[keys.a]\npattern = \"a:{id:unix}\"\n"), [""; 0]);
    }
}
