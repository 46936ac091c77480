use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Binding, BindingSource, Invalidation};

rule! {
    /// ## What it does
    /// Reports an event that no longer invalidates a definition, or fewer of its keys, or lets old values be served
    /// where it removed them.
    ///
    /// ## Why is this bad
    /// Values that are out of date are read until their TTL ends.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [keys.offer]
    /// pattern = "offer:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [events.price_changed]
    /// params = { sku = "slug" }
    /// invalidates = ["price", "offer"]
    /// ```
    /// After:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [keys.offer]
    /// pattern = "offer:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [events.price_changed]
    /// params = { sku = "slug" }
    /// invalidates = ["price"]
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [keys.offer]
    /// pattern = "offer:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [events.price_changed]
    /// params = { sku = "slug" }
    /// invalidates = ["price", "offer"]
    /// ```
    breaking Code, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for old in &cx.old.events {
        let Some(new) = cx.new.events.iter().find(|it| it.name.value == old.name.value) else {
            continue;
        };
        for before in &old.invalidates {
            // What is gone needs no invalidation.
            let Some(pair) = cx.pair(&before.definition) else { continue };
            let (event, name) = (&new.name.value, &pair.new.name.value);
            let after: Vec<_> =
                new.invalidates.iter().filter(|it| it.definition == *name).collect();
            if after.iter().any(|it| reaches(it, before)) {
                continue;
            }
            let message = match after.first() {
                None => format!("the event `{event}` does not invalidate `{name}` any more"),
                Some(first) if first.refresh && !before.refresh => format!(
                    "the event `{event}` on `{name}` lets old values be served until they are loaded again"
                ),
                Some(_) => {
                    format!("the event `{event}` on `{name}` invalidates fewer keys than before")
                }
            };
            let place = after.first().map_or(&new.name.span, |it| &it.span);
            out.add(
                Finding::new(message)
                    .changes(cx, pair, Some(event))
                    .at(place, "the event now")
                    .at(&before.span, "the event before")
                    .help("keep it, unless nothing that the event changes is in these keys"),
            );
        }
    }
}

/// Whether one invalidates at least what the other did.
fn reaches(new: &Invalidation, old: &Invalidation) -> bool {
    let bound = |of: &Invalidation, param: &str| -> Option<BindingSource> {
        let binding: Option<&Binding> = of.bindings.iter().find(|it| it.param == param);
        binding.map(|it| it.source.clone())
    };
    let params = old.bindings.iter().chain(&new.bindings).map(|it| it.param.as_str());
    let narrows = |param: &str| {
        !new.leaves_free(param)
            && (old.leaves_free(param) || bound(old, param) != bound(new, param))
    };
    let is_narrower = (old.rest_free && !new.rest_free) || params.into_iter().any(narrows);
    !is_narrower && (old.refresh || !new.refresh)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    fn with(invalidates: &str) -> String {
        format!(
            "[keys.a]\npattern = \"a:{{x:slug}}:{{y:slug}}\"\nttl = \"1h\"\nvalue = \"text\"\ninvalidate = \"scan\"\n\
             [events.e]\nparams = {{ x = \"slug\" }}\n{invalidates}\n"
        )
    }

    #[test]
    fn the_example_is_reported() {
        assert_eq!(
            broken_example(&RULE),
            ["the event `price_changed` does not invalidate `offer` any more"]
        );
    }

    #[test]
    fn fewer_keys_are_reported_and_more_are_not() {
        let (all, some) =
            (with("invalidates = [\"a(*)\"]"), with("invalidates = [\"a(x = x, y = 'z')\"]"));
        assert_eq!(
            broken(&RULE, &all, &some),
            ["the event `e` on `a` invalidates fewer keys than before"]
        );
        assert_eq!(broken(&RULE, &some, &all), [""; 0]);
    }

    #[test]
    fn a_refresh_is_less_than_a_removal() {
        let (removes, refreshes) =
            (with("invalidates = [\"a(*)\"]"), with("refreshes = [\"a(*)\"]"));
        assert_eq!(
            broken(&RULE, &removes, &refreshes),
            ["the event `e` on `a` lets old values be served until they are loaded again"]
        );
        assert_eq!(broken(&RULE, &refreshes, &removes), [""; 0]);
    }
}
