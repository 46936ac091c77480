use crate::breaking::{Change, MeasuredDefinition, Pair, Said, lifetimes};
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::{Duration, Size, thousands};
use keyward_schema::diagnostic::{Told, Touched};

rule! {
    /// ## What it does
    /// Reports a TTL that is longer than before, or gone. With `--data`, it estimates the memory that this adds.
    ///
    /// ## Why is this bad
    /// As many keys are written as before and stay longer, so that there are more of them at any time. Values that are
    /// out of date are served longer, too.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "5m"
    /// ```
    /// After:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// Look at how much memory it takes with `--data`, make room, and accept the change.
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "5m"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        out.extend(undeclared(cx, pair));
        let Some((was, is)) = lifetimes(pair).longer else { continue };
        let name = &pair.new.name.value;
        let message = match (was, is) {
            (Some(was), Some(is)) => format!("keys of `{name}` live for {is}, not for {was}"),
            (Some(was), None) => format!("keys of `{name}` never expire, and did after {was}"),
            (None, _) => continue,
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
                .help("make sure that the server has the memory")
                .touching(added(cx, pair, was, is)),
        );
    }
}

/// Without a TTL in the schema the store sets none.
fn undeclared<'a>(cx: &Change<'a>, pair: &Pair<'a>) -> Option<Finding<'a>> {
    let was = pair.old.ttl.as_ref().filter(|ttl| ttl.expires() && pair.new.ttl.is_none())?;
    let name = &pair.new.name.value;
    let longest = was.longest();
    let before = longest.map_or(String::new(), |longest| format!(", and they lived for {longest}"));
    let finding =
        Finding::new(format!("`{name}` does not say any more how long keys live{before}"))
            .changes(cx, pair, None)
            .was(
                pair,
                (None, "has no `ttl` any more".to_owned()),
                (Some(&was.span), "the TTL before".to_owned()),
            )
            .help("keep the TTL, or write `ttl = \"none\"` if its keys are meant to stay");
    Some(finding.touching(added(cx, pair, longest, None)))
}

/// What longer lives add, if keys are written as often as they were. The audit saw what the old TTL lets live.
fn added(cx: &Change<'_>, pair: &Pair<'_>, was: Option<Duration>, is: Option<Duration>) -> Said {
    let was = was?;
    cx.of(pair.old, Some(pair.new), |measured| {
        if let Some(is) = is {
            return growth(cx, measured, was, is);
        }
        let keys = cx.scaled(measured.expiring);
        let note = format!(
            "about {} keys are written every {was} and would stay (estimated)",
            thousands(keys)
        );
        (Touched { keys: Some(keys), bytes: None, how: Told::Estimated }, note)
    })
}

fn growth(
    cx: &Change<'_>,
    measured: &MeasuredDefinition,
    was: Duration,
    is: Duration,
) -> (Touched, String) {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an estimate, and the cast saturates"
    )]
    let more = |number: u64| {
        let ratio = is.as_millis() as f64 / was.as_millis().max(1) as f64;
        (number as f64 * (ratio - 1.0)).round() as u64
    };
    let keys = more(cx.scaled(measured.expiring));
    // Keys without a TTL are of no interest here, and their bytes are not told apart.
    let share = |bytes: u64| {
        let part =
            u128::from(bytes) * u128::from(measured.expiring) / u128::from(measured.keys.max(1));
        u64::try_from(part).unwrap_or(u64::MAX)
    };
    let bytes = measured.bytes.map(|bytes| more(cx.scaled(share(bytes))));
    let touched = Touched { keys: Some(keys), bytes, how: Told::Estimated };
    let size =
        bytes.map_or(String::new(), |bytes| format!(", about {}", Size::from_bytes(bytes).human()));
    if keys == 0 {
        return (
            touched,
            "the report has no key with a TTL, so that it adds nothing now".to_owned(),
        );
    }
    let note = format!(
        "{was} → {is} adds about {} keys{size}, if new keys are written as often as now (estimated)",
        thousands(keys)
    );
    (touched, note)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::breaking::{Measured, MeasuredDefinition};
    use crate::harness::{broken, broken_example, broken_with};

    fn with(ttl: &str) -> String {
        format!("[keys.a]\npattern = \"a:{{id:uint}}\"\nvalue = \"uint\"\nttl = {ttl}\n")
    }

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["keys of `price` live for 1h, not for 5m"]);
    }

    #[test]
    fn no_ttl_is_the_longest_and_a_callers_cannot_be_told() {
        let never = "keys of `a` never expire, and did after 5m";
        assert_eq!(broken(&RULE, &with("\"5m\""), &with("\"none\"")), [never]);
        assert_eq!(broken(&RULE, &with("\"none\""), &with("\"5m\"")), [""; 0]);
        assert_eq!(broken(&RULE, &with("\"5m\""), &with("{ caller = true }")), [""; 0]);
        let range = "keys of `a` live for 10m, not for 5m";
        assert_eq!(broken(&RULE, &with("\"1m..5m\""), &with("\"1m..10m\"")), [range]);
        let bounded = with("{ caller = true, max = \"1h\" }");
        assert_eq!(
            broken(&RULE, &with("\"5m\""), &bounded),
            ["keys of `a` live for 1h, not for 5m"]
        );
    }

    #[test]
    fn a_ttl_that_is_not_declared_any_more_is_reported() {
        let without = with("\"5m\"").replace("ttl = \"5m\"\n", "");
        let message = "`a` does not say any more how long keys live, and they lived for 5m";
        assert_eq!(broken(&RULE, &with("\"5m\""), &without), [message]);
        assert_eq!(broken(&RULE, &with("\"none\""), &without), [""; 0]);
        assert_eq!(broken(&RULE, &without, &with("\"5m\"")), [""; 0]);
        let callers = "`a` does not say any more how long keys live";
        assert_eq!(broken(&RULE, &with("{ caller = true }"), &without), [callers]);
    }

    #[test]
    fn what_it_adds_is_estimated() {
        let say = |definition: MeasuredDefinition, ttl: &str| {
            let definitions = [("a".to_owned(), definition)].into();
            let measured = Measured { definitions, sampled: None, complete: true };
            broken_with(&RULE, &with("\"5m\""), &with(ttl), &measured).remove(0).notes.remove(0)
        };
        let keys = MeasuredDefinition {
            keys: 1_000,
            expiring: 1_000,
            bytes: Some(390_451_572),
            ..MeasuredDefinition::default()
        };
        assert_eq!(
            say(keys.clone(), "\"1h\""),
            "5m → 1h adds about 11,000 keys, about 4.0 GiB, if new keys are written as often as now (estimated)"
        );
        assert_eq!(
            say(keys, "\"none\""),
            "about 1,000 keys are written every 5m and would stay (estimated)"
        );
        let none = MeasuredDefinition { keys: 10, ..MeasuredDefinition::default() };
        assert_eq!(
            say(none, "\"1h\""),
            "the report has no key with a TTL, so that it adds nothing now"
        );
    }
}
