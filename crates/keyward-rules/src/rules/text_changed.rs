use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_schema::model::TextPipeline;

/// How many definitions a message names.
const MAX_LISTED: usize = 5;

rule! {
    /// ## What it does
    /// Reports a text pipeline that parameters are made by and whose steps are others: words, numbers, symbols, lengths.
    ///
    /// ## Why is this bad
    /// The same text may become another identifier, and with it another key: what is stored under the old identifier
    /// is not found by that text any more.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [text.title]
    /// max_len = 30
    ///
    /// [params]
    /// title = { type = "text", from = "title" }
    ///
    /// [keys.article]
    /// pattern = "article:{title}"
    /// ttl = "1h"
    /// ```
    /// After:
    /// ```toml
    /// [text.title]
    /// max_len = 20
    ///
    /// [params]
    /// title = { type = "text", from = "title" }
    ///
    /// [keys.article]
    /// pattern = "article:{title}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [text.title]
    /// max_len = 30
    ///
    /// [params]
    /// title = { type = "text", from = "title" }
    ///
    /// [keys.article]
    /// pattern = "article:{title}"
    /// ttl = "1h"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for old in &cx.old.texts {
        let Some(new) = cx.new.texts.iter().find(|new| new.name.value == old.name.value) else {
            continue;
        };
        let changed: Vec<&str> = steps(old)
            .into_iter()
            .zip(steps(new))
            .filter(|(old, new)| old != new)
            .map(|((name, _), _)| name)
            .collect();
        let made = cx.pairs.iter().filter(|pair| {
            pair.new
                .params
                .iter()
                .any(|param| param.from.as_ref().is_some_and(|from| from.value == new.name.value))
        });
        let made: Vec<&str> = made.map(|pair| pair.new.name.as_str()).collect();
        if changed.is_empty() || made.is_empty() {
            continue;
        }
        let name = &new.name.value;
        let message = format!(
            "the text pipeline `{name}` has another {}: the same text may lead to another key",
            listed(&changed, MAX_LISTED)
        );
        out.add(
            Finding::new(message)
                .changes_other(name.as_str())
                .at(&new.name.span, "the pipeline now")
                .at(&old.name.span, "the pipeline before")
                .note(format!("it makes keys of {}", listed(&made, MAX_LISTED)))
                .help("declare a pipeline of its own for new keys"),
        );
    }
}

/// What decides the result, by name.
fn steps(text: &TextPipeline) -> [(&'static str, String); 8] {
    let pairs = text.abbreviations.iter().map(|(a, b)| (a.value.clone(), b.value.clone()));
    let symbols = text.symbols.iter().map(|(a, b)| (a.value, b.value.clone()));
    let stop_words = text.stop_words.iter().map(|word| word.value.clone());
    let value =
        |it: &Option<keyward_schema::Spanned<u64>>| format!("{:?}", it.as_ref().map(|it| it.value));
    [
        ("abbreviations", format!("{:?}", pairs.collect::<Vec<_>>())),
        ("numbers", format!("{:?}", text.numbers.as_ref().map(|it| it.value))),
        ("symbols", format!("{:?}", symbols.collect::<Vec<_>>())),
        ("stop_words", format!("{:?}", stop_words.collect::<Vec<_>>())),
        ("words", value(&text.words)),
        ("max_len", value(&text.max_len)),
        ("shorten", format!("{:?}", text.shorten.as_ref().map(|it| it.value))),
        ("idempotent", text.idempotent.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        let message = "the text pipeline `title` has another `max_len`: the same text may lead to another key";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn what_makes_no_keys_may_change() {
        let with = |len: u8| format!("[text.title]\nmax_len = {len}\n[keys.a]\npattern = \"a\"\n");
        assert_eq!(broken(&RULE, &with(20), &with(40)), [""; 0]);
    }
}
