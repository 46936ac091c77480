use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::thousands;
use keyward_schema::model::OnFull;

rule! {
    /// ## What it does
    /// Reports a `max_len` or `max_bytes` that is lower than before, or new.
    ///
    /// ## Why is this bad
    /// A collection that is longer is trimmed by the next write, and what was in it is lost; where it is not trimmed,
    /// writes to it fail. A value that is larger cannot be written again.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.feed]
    /// pattern = "feed:{user_id:uint}"
    /// type = "list"
    /// max_len = 500
    /// ttl = "1d"
    /// ```
    /// After:
    /// ```toml
    /// [keys.feed]
    /// pattern = "feed:{user_id:uint}"
    /// type = "list"
    /// max_len = 100
    /// ttl = "1d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.feed]
    /// pattern = "feed:{user_id:uint}"
    /// type = "list"
    /// max_len = 500
    /// ttl = "1d"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let name = &pair.new.name.value;
        if let Some(new) = &pair.new.max_len
            && pair.old.max_len.as_ref().is_none_or(|old| old.value > new.value)
        {
            let what = match pair.new.on_full {
                OnFull::Trim => "the next write trims longer ones",
                OnFull::Refuse => "writes to longer ones are refused",
            };
            let message =
                format!("`{name}` holds at most {} entries now: {what}", thousands(new.value));
            let old = pair.old.max_len.as_ref();
            let was = old
                .map_or("had no bound".to_owned(), |old| format!("was {}", thousands(old.value)));
            out.add(
                Finding::new(message)
                    .changes(cx, pair, Some("max_len"))
                    .was(pair, (Some(&new.span), String::new()), (old.map(|old| &old.span), was))
                    .help("trim or export longer ones before the bound is lowered")
                    .touching(cx.touches_above(pair, new.value, |measured| &measured.lengths)),
            );
        }
        if let Some(new) = &pair.new.max_bytes
            && pair.old.max_bytes.as_ref().is_none_or(|old| old.bytes() > new.bytes())
        {
            let message = format!(
                "values of `{name}` have at most {} now: larger ones cannot be written again",
                new.human()
            );
            let old = pair.old.max_bytes.as_ref();
            let was = old.map_or("had no bound".to_owned(), |old| format!("was {}", old.human()));
            out.add(
                Finding::new(message)
                    .changes(cx, pair, Some("max_bytes"))
                    .was(pair, (Some(&new.span), String::new()), (old.map(|old| &old.span), was))
                    .help("look with `keyward audit` how large the largest value is")
                    .touching(cx.touches_above(pair, new.bytes(), |measured| &measured.sizes)),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::breaking::{Measured, MeasuredDefinition};
    use crate::harness::{broken, broken_example, broken_with};

    #[test]
    fn the_example_is_reported() {
        let message = "`feed` holds at most 100 entries now: the next write trims longer ones";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn a_bound_on_bytes_is_one() {
        let with = |bound: &str| format!("[keys.a]\npattern = \"a\"\nvalue = \"text\"\n{bound}\n");
        let message = "values of `a` have at most 1.0 KiB now: larger ones cannot be written again";
        assert_eq!(broken(&RULE, &with(""), &with("max_bytes = \"1kb\"")), [message]);
        assert_eq!(broken(&RULE, &with("max_bytes = \"1kb\""), &with("")), [""; 0]);
    }

    #[test]
    fn an_audit_has_counted_what_is_longer() {
        let with =
            |bound: u64| format!("[keys.a]\npattern = \"a\"\ntype = \"list\"\nmax_len = {bound}\n");
        let lengths = vec![(1, 8, 100), (96, 103, 7), (104, 111, 3)];
        let definition = MeasuredDefinition { keys: 110, lengths, ..MeasuredDefinition::default() };
        let definitions = [("a".to_owned(), definition)].into();
        let measured = Measured { definitions, sampled: None, complete: true };
        let say = |bound| {
            broken_with(&RULE, &with(500), &with(bound), &measured).remove(0).notes.remove(0)
        };
        assert_eq!(say(103), "touches 3 keys");
        assert_eq!(say(100), "touches at most 10 keys");
        assert_eq!(say(200), "the report has no key that it touches");
    }
}
