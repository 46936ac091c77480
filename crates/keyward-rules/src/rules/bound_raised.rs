use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::thousands;

rule! {
    /// ## What it does
    /// Reports a `max_len` or `max_bytes` that is higher than before, or gone.
    ///
    /// ## Why is this bad
    /// Each key may take more memory than the server was sized for, and commands that read a whole collection take
    /// longer.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.feed]
    /// pattern = "feed:{user_id:uint}"
    /// type = "list"
    /// max_len = 100
    /// ttl = "1d"
    /// ```
    /// After:
    /// ```toml
    /// [keys.feed]
    /// pattern = "feed:{user_id:uint}"
    /// type = "list"
    /// max_len = 500
    /// ttl = "1d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.feed]
    /// pattern = "feed:{user_id:uint}"
    /// type = "list"
    /// max_len = 100
    /// ttl = "1d"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let name = &pair.new.name.value;
        if let Some(old) = &pair.old.max_len
            && pair.new.max_len.as_ref().is_none_or(|new| new.value > old.value)
        {
            let new = pair.new.max_len.as_ref();
            let is = new.map_or("any number of".to_owned(), |new| {
                format!("up to {}", thousands(new.value))
            });
            let was = format!("was {}", thousands(old.value));
            out.add(
                Finding::new(format!("`{name}` holds {is} entries now"))
                    .changes(cx, pair, Some("max_len"))
                    .was(pair, (new.map(|new| &new.span), String::new()), (Some(&old.span), was))
                    .help("make sure that the server has the memory"),
            );
        }
        if let Some(old) = &pair.old.max_bytes
            && pair.new.max_bytes.as_ref().is_none_or(|new| new.bytes() > old.bytes())
        {
            let new = pair.new.max_bytes.as_ref();
            let is = new.map_or("any size".to_owned(), |new| format!("up to {}", new.human()));
            out.add(
                Finding::new(format!("values of `{name}` have {is} now"))
                    .changes(cx, pair, Some("max_bytes"))
                    .was(
                        pair,
                        (new.map(|new| &new.span), String::new()),
                        (Some(&old.span), format!("was {}", old.human())),
                    )
                    .help("make sure that the server has the memory"),
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
        assert_eq!(broken_example(&RULE), ["`feed` holds up to 500 entries now"]);
    }

    #[test]
    fn a_bound_may_be_gone() {
        let with = |bound: &str| format!("[keys.a]\npattern = \"a\"\nvalue = \"text\"\n{bound}\n");
        assert_eq!(
            broken(&RULE, &with("max_bytes = \"1kb\""), &with("")),
            ["values of `a` have any size now"]
        );
    }
}
