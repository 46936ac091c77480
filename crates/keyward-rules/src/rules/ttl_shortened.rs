use crate::breaking::{Change, lifetimes};
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a TTL that is shorter than before, or new for keys that never expired.
    ///
    /// ## Why is this bad
    /// Keys are gone earlier than programs expect: sessions end, caches miss more often and load the database, and what
    /// was kept for ever is lost. Keys that are on the server keep the TTL that they have.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{id:uuid}"
    /// type = "hash"
    /// ttl = "30d"
    /// lifecycle = "session"
    /// ```
    /// After:
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{id:uuid}"
    /// type = "hash"
    /// ttl = "1d"
    /// lifecycle = "session"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{id:uuid}"
    /// type = "hash"
    /// ttl = "30d"
    /// lifecycle = "session"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let Some((was, is)) = lifetimes(pair).shorter else { continue };
        let name = &pair.new.name.value;
        let message = match (was, is) {
            (Some(was), Some(is)) => format!("keys of `{name}` expire after {is}, not after {was}"),
            (None, Some(is)) => format!("keys of `{name}` expire after {is}, and never did before"),
            (_, None) => continue,
        };
        let span = |ttl: &'a Option<keyward_schema::Spanned<_>>| ttl.as_ref().map(|ttl| &ttl.span);
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(
                    pair,
                    (span(&pair.new.ttl), "the TTL now".to_owned()),
                    (span(&pair.old.ttl), "the TTL before".to_owned()),
                )
                .help("make sure that nobody needs the keys for longer, and that more misses can be loaded")
                .touching(cx.touches_some(pair, "ttl-too-long", None)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    fn with(ttl: &str) -> String {
        format!("[keys.a]\npattern = \"a:{{id:uint}}\"\nvalue = \"uint\"\nttl = {ttl}\n")
    }

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["keys of `session` expire after 1d, not after 30d"]);
    }

    #[test]
    fn either_end_of_a_range_counts() {
        let short = "keys of `a` expire after 1m, not after 2m";
        assert_eq!(broken(&RULE, &with("\"2m..5m\""), &with("\"1m..5m\"")), [short]);
        let new = "keys of `a` expire after 5m, and never did before";
        assert_eq!(broken(&RULE, &with("\"none\""), &with("\"5m\"")), [new]);
        assert_eq!(broken(&RULE, &with("\"5m\""), &with("\"1h\"")), [""; 0]);
    }

    #[test]
    fn each_word_has_its_own() {
        let by = |hour: &str| {
            format!(
                "[params]\nwindow = [\"hour\", \"day\"]\n[keys.a]\npattern = \"a:{{window}}\"\nvalue = \"uint\"\n\
                 ttl = {{ by = \"window\", values = {{ hour = \"{hour}\", day = \"1d\" }} }}\n"
            )
        };
        assert_eq!(
            broken(&RULE, &by("1h"), &by("30m")),
            ["keys of `a` expire after 30m, not after 1h"]
        );
        assert_eq!(broken(&RULE, &by("1h"), &by("2h")), [""; 0]);
    }
}
