use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::prove;
use keyward_schema::model::Event;

rule! {
    /// ## What it does
    /// Reports an event whose parameters have other names, another number or order, or take fewer values.
    ///
    /// ## Why is this bad
    /// Code that emits it does not compile, or cannot emit it for values that it has.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [events.price_changed]
    /// params = { sku = "slug" }
    /// invalidates = ["price"]
    /// ```
    /// After:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [events.price_changed]
    /// params = { article = "slug" }
    /// invalidates = ["price(sku = article)"]
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [events.price_changed]
    /// params = { sku = "slug" }
    /// invalidates = ["price"]
    /// ```
    breaking Code, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for old in &cx.old.events {
        let Some(new) = cx.new.events.iter().find(|it| it.name.value == old.name.value) else {
            continue;
        };
        let name = &new.name.value;
        if names(old) != names(new) {
            let (is, was) = (listed(new), listed(old));
            out.add(
                Finding::new(format!("the event `{name}` takes {is} now, and took {was}"))
                    .changes_other(name.as_str())
                    .at(&new.name.span, "the event now")
                    .at(&old.name.span, "the event before")
                    .help("change the code that emits it in the same commit"),
            );
            continue;
        }
        for (old, new) in old.params.iter().zip(&new.params) {
            let separator = *cx.new.keyspace.separator;
            let Some(value) = prove::accepts_all(separator, &new.param, &old.param).ok().flatten()
            else {
                continue;
            };
            let param = &new.name.value;
            let message =
                format!("`{param}` of the event `{name}` does not take `{value}` any more");
            out.add(
                Finding::new(message)
                    .changes_other(format!("{name}.{param}"))
                    .at(&new.param.span, "takes fewer values")
                    .at(&old.param.span, "the type before")
                    .help("keep the type"),
            );
        }
    }
}

fn names(event: &Event) -> Vec<&str> {
    event.params.iter().map(|param| param.name.as_str()).collect()
}

fn listed(event: &Event) -> String {
    match names(event).as_slice() {
        [] => "nothing".to_owned(),
        names => crate::words::listed(names, 5),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(
            broken_example(&RULE),
            ["the event `price_changed` takes `article` now, and took `sku`"]
        );
    }

    #[test]
    fn a_narrower_type_is_reported_and_a_wider_one_is_not() {
        let with = |ty: &str| {
            format!(
                "[keys.a]\npattern = \"a:{{id}}\"\nttl = \"1h\"\n[events.e]\nparams = {{ id = \"{ty}\" }}\ninvalidates = [\"a\"]\n"
            )
        };
        assert_eq!(
            broken(&RULE, &with("slug"), &with("uint")),
            ["`id` of the event `e` does not take `a` any more"]
        );
        assert_eq!(broken(&RULE, &with("uint"), &with("slug")), [""; 0]);
    }
}
