use crate::allowing::accepted;
use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::rules::Rule;
use crate::words::listed;
use keyward_pattern::Template;
use keyward_pattern::prove::{Claim, Overlap, OverlapKind};
use keyward_schema::model::Definition;

/// How many values a message names.
const MAX_LISTED: usize = 10;

rule! {
    /// ## What it does
    /// Reports a word that one pattern takes from the values of another pattern's parameter, unless
    /// `[layout] reserved` lists it.
    ///
    /// ## Why is this bad
    /// No key has two meanings: it belongs to the more specific pattern, and the other refuses to build it.
    /// But a symbol that is really called `active` cannot be stored. That should be a decision, not a
    /// surprise.
    ///
    /// ## Example
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
    /// [layout]
    /// shape = "<entity>:<identifier>"
    /// reserved = ["active"]
    ///
    /// [keys.symbol]
    /// pattern = "symbol:{symbol}"
    /// ttl = "1h"
    ///
    /// [keys.active_symbols]
    /// pattern = "symbol:active"
    /// ttl = "1h"
    /// ```
    Soundness, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let mut by_param: Vec<Vec<Taken<'a>>> = Vec::new();
    for taken in cx.overlaps().overlaps.iter().filter_map(|overlap| taken(cx, overlap)) {
        // What an `allow` accepts is a finding of its own.
        let same = |it: &Vec<Taken<'a>>| it[0].is_of_the_same(&taken);
        match by_param.iter_mut().find(|it| !taken.accepted() && same(it)) {
            Some(together) => together.push(taken),
            None => by_param.push(vec![taken]),
        }
    }
    out.extend(by_param.iter().map(|together| finding(together)));
}

/// A value that one pattern takes from another's parameter.
struct Taken<'a> {
    loser: &'a Definition,
    param: String,
    taker: &'a Definition,
    /// A key of the taker that the loser matches
    key: String,
    /// What the parameter can never be
    value: Value,
}

enum Value {
    Word(String),
    /// The parameter takes the rest of the key, and cannot start with this word
    Start(String, char),
    Several,
}

impl Taken<'_> {
    fn accepted(&self) -> bool {
        accepted(Rule::ReservedWord, &self.taker.allow)
    }

    fn is_of_the_same(&self, other: &Taken<'_>) -> bool {
        std::ptr::eq(self.loser, other.loser) && self.param == other.param && !self.accepted()
    }

    fn word(&self) -> Option<&str> {
        match &self.value {
            Value::Word(word) | Value::Start(word, _) => Some(word),
            Value::Several => None,
        }
    }

    /// What the parameter can never do.
    fn never(&self) -> String {
        match &self.value {
            Value::Word(word) => format!("be `{word}`"),
            Value::Start(word, separator) => format!("start with `{word}{separator}`"),
            Value::Several => format!("be a value that `{}` takes", self.taker.name.value),
        }
    }
}

/// The value that is taken, unless the layout lists it.
fn taken<'a>(cx: &Context<'a>, overlap: &Overlap) -> Option<Taken<'a>> {
    let OverlapKind::Reserved { hole, word } = &overlap.kind else { return None };
    let (Claim::Definition(taker), Claim::Definition(loser)) = (&overlap.first, &overlap.second)
    else {
        return None;
    };
    let listed = cx.schema.layout.as_ref().map_or(&[][..], |layout| &layout.reserved);
    if word.as_ref().is_some_and(|word| listed.iter().any(|listed| listed.value == *word)) {
        return None;
    }
    let (taker, loser) = (&cx.schema.keys[taker.index()], &cx.schema.keys[loser.index()]);
    let value = match word.clone() {
        Some(word) if goes_on(cx, &loser.pattern, hole, &overlap.witness) => {
            Value::Start(word, *cx.schema.keyspace.separator)
        }
        Some(word) => Value::Word(word),
        None => Value::Several,
    };
    Some(Taken { loser, param: hole.clone(), taker, key: overlap.witness.clone(), value })
}

/// What is taken from one parameter of one definition.
fn finding<'a>(together: &[Taken<'a>]) -> Finding<'a> {
    let Taken { loser, param, taker, key, .. } = &together[0];
    let words: Vec<&str> = together.iter().filter_map(Taken::word).collect();
    let help = if words.is_empty() {
        "give each pattern its own word".to_owned()
    } else {
        let words = listed(&words, MAX_LISTED);
        format!("list {words} in `[layout] reserved`, or give the patterns different words")
    };
    if let [only] = together {
        let (taker_name, never) = (&taker.name.value, only.never());
        let message = format!("`{key}` belongs to `{taker_name}`, so `{param}` can never {never}");
        return Finding::new(message)
            .about(loser)
            .about(taker)
            .at(&loser.pattern.span, format!("`{param}` can never {never}"))
            .at(&taker.pattern.span, format!("matches `{key}`"))
            .help(help);
    }
    let shown = together.iter().take(MAX_LISTED);
    let owners = shown.map(|it| {
        let Taken { key, taker, .. } = it;
        format!("`{key}` belongs to `{}`: `{param}` can never {}", taker.name.value, it.never())
    });
    let message = format!(
        "other patterns take {} values from `{param}` of `{}`",
        together.len(),
        loser.name.value
    );
    let finding = Finding::new(message)
        .about(loser)
        .at(&loser.pattern.span, format!("`{param}` can never have them"))
        .help(help);
    let finding = owners.fold(finding, Finding::note);
    match together.len().checked_sub(MAX_LISTED) {
        None | Some(0) => finding,
        Some(more) => finding.note(format!("and {more} more")),
    }
}

/// Whether the parameter takes the rest of the key, and more than one segment of this one.
fn goes_on(cx: &Context<'_>, pattern: &Template, hole: &str, key: &str) -> bool {
    let separator = *cx.schema.keyspace.separator;
    let templates = cx.schema.keyspace.prefix.as_deref().into_iter().chain([pattern]);
    let separators: usize = templates.map(|template| template.segments(separator).len() - 1).sum();
    let takes_rest = pattern.holes().any(|it| it.name == hole && it.rest);
    takes_rest && key.matches(separator).count() > separators
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[reserved-word]: `symbol:active` belongs to `active_symbols`, so `symbol` can never be `active`
          ╭▸ keyward.toml:3:11
          │
        3 │ pattern = "symbol:{symbol}"
          │           ━━━━━━━━━━━━━━━━━ `symbol` can never be `active`
          ┆
        7 │ pattern = "symbol:active"
          │           ─────────────── matches `symbol:active`
          │
          ├ help: list `active` in `[layout] reserved`, or give the patterns different words
          ╰ note: `keyward explain reserved-word`
        "#);
    }

    #[test]
    fn patterns_that_cannot_meet_reserve_nothing() {
        let schema = r#"
[keys.symbol]
pattern = "symbol:{id:uint}"
[keys.active_symbols]
pattern = "symbol:active"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_parameter_that_takes_the_rest_cannot_begin_as_another_pattern_does() {
        let schema = r#"
[keys.lock]
pattern = "lock:{rest...}"
[keys.cart_lock]
pattern = "lock:cart:{id}"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        warning[reserved-word]: `lock:cart:a` belongs to `cart_lock`, so `rest` can never start with `cart:`
          ╭▸ keyward.toml:4:11
          │
        4 │ pattern = "lock:{rest...}"
          │           ━━━━━━━━━━━━━━━━ `rest` can never start with `cart:`
        5 │ [keys.cart_lock]
        6 │ pattern = "lock:cart:{id}"
          │           ──────────────── matches `lock:cart:a`
          │
          ├ help: list `cart` in `[layout] reserved`, or give the patterns different words
          ╰ note: `keyward explain reserved-word`
        "#);
    }

    #[test]
    fn a_parameter_that_takes_the_rest_cannot_be_a_word() {
        let schema = r#"
[keys.lock]
pattern = "lock:{rest...}"
[keys.all]
pattern = "lock:all"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`lock:all` belongs to `all`, so `rest` can never be `all`"]
        );
    }

    #[test]
    fn what_is_taken_from_one_parameter_is_one_finding() {
        let schema = r#"
[keys.product]
pattern = "product:{sku}"
[keys.product_top]
pattern = "product:top"
[keys.product_new]
pattern = "product:new"
[keys.product_sale]
pattern = "product:sale"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        warning[reserved-word]: other patterns take 3 values from `sku` of `product`
          ╭▸ keyward.toml:4:11
          │
        4 │ pattern = "product:{sku}"
          │           ━━━━━━━━━━━━━━━ `sku` can never have them
          │
          ├ help: list `top`, `new` and `sale` in `[layout] reserved`, or give the patterns different words
          ├ note: `product:top` belongs to `product_top`: `sku` can never be `top`
          ├ note: `product:new` belongs to `product_new`: `sku` can never be `new`
          ├ note: `product:sale` belongs to `product_sale`: `sku` can never be `sale`
          ╰ note: `keyward explain reserved-word`
        "#);
    }

    #[test]
    fn an_allow_accepts_only_the_word_of_its_own_pattern() {
        let schema = r#"
[keys.product]
pattern = "product:{sku}"
[keys.product_top]
pattern = "product:top"
allow = [{ rule = "reserved-word", reason = "no product is called so" }]
[keys.product_new]
pattern = "product:new"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`product:new` belongs to `product_new`, so `sku` can never be `new`"]
        );
    }
}
