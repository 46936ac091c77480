use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::words;
use keyward_fact::KeyType;
use keyward_schema::model::Definition;

/// Words that speak of an order wherever they stand.
const ORDER: &[&str] = &[
    "chronological",
    "leaderboard",
    "ordered",
    "ordering",
    "ranked",
    "ranking",
    "sequence",
    "sequential",
    "sorted",
    "timeline", // English
    "chronologisch",
    "geordnet",
    "rangliste",
    "reihenfolge",
    "sequenz",
    "sortiert", // German
    "antrean",
    "berurutan",
    "peringkat",
    "terurut",
    "urutan", // Indonesian
    "classement",
    "ordonné",
    "trié",
    "clasificación",
    "ordenado",
    "secuencia", // French, Spanish
];

/// Words that speak of an order in the name of a key, but in a sentence may mean anything.
const ORDER_IN_NAME: &[&str] = &[
    "first",
    "history",
    "last",
    "latest",
    "newest",
    "next",
    "oldest",
    "prev",
    "previous",
    "queue",
    "rank",
    "recent",
    "top", // English
    "letzte",
    "nächste",
    "naechste",
    "verlauf",
    "vorherige",
    "warteschlange", // German
    "berikutnya",
    "riwayat",
    "sebelumnya",
    "terbaru", // Indonesian
];

/// Pieces of sentences: phrases, and languages that do not put spaces between words.
const ORDER_PHRASES: &[&str] = &[
    "in order of",
    "order of",
    "ordered by",
    "reading order",
    "sort order", // English
    "顺序",
    "順序",
    "排序",
    "排行",
    "排名",
    "序列",
    "队列",
    "最新",
    "历史记录",
    "下一个",
    "上一个",
];

/// What a sentence says to deny an order.
const NO_ORDER: &[&str] = &[
    "any order",
    "no order",
    "no particular order",
    "not ordered",
    "not sorted",
    "ungeordnet",
    "unordered",
    "unsorted",
    "无序",
];

rule! {
    /// ## What it does
    /// Reports a set whose name, pattern or `doc` implies an order: a sequence, a ranking, the next
    /// or the latest. Words in English, German, Indonesian, Chinese and a few more languages are
    /// recognised.
    ///
    /// ## Why is this bad
    /// A set has no order. Its members come back in the order of a hash table, which looks right
    /// with three members in a test and is wrong with three hundred.
    ///
    /// ## Example
    /// ```toml
    /// [keys.reading_sequence]
    /// doc = "The chunks of a document in the order of reading."
    /// pattern = "doc:{doc_id}:sequence"
    /// type = "set"
    /// ttl = "none"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.reading_sequence]
    /// doc = "The chunks of a document in the order of reading."
    /// pattern = "doc:{doc_id}:sequence"
    /// member = "text"
    /// score = "uint"
    /// ttl = "none"
    /// ```
    Shape, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let Some(key_type) = definition.key_type.as_ref().filter(|it| it.value == KeyType::Set)
        else {
            continue;
        };
        let Some((word, place)) = speaks_of_order(definition) else { continue };
        let finding = Finding::new(format!(
            "`{}` is a set, which has no order, but its {place} says `{word}`",
            definition.name.value
        ))
        .about(definition)
        .at(&key_type.span, "its members come back in any order");
        let said = match place {
            "doc" => definition.doc.as_ref().map(|doc| &doc.span),
            "pattern" => Some(&definition.pattern.span),
            _ => Some(&definition.name.span),
        };
        let finding = said.into_iter().fold(finding, |it, span| it.at(span, "implies an order"));
        out.add(finding.help("use a `zset` with a `score`, or a `list`"));
    }
}

/// The word that speaks of an order, and where it stands.
fn speaks_of_order(definition: &Definition) -> Option<(String, &'static str)> {
    let known =
        |word: &String| ORDER.contains(&word.as_str()) || ORDER_IN_NAME.contains(&word.as_str());
    if let Some(word) = words(&definition.name).into_iter().find(known) {
        return Some((word, "name"));
    }
    let pattern = &definition.pattern;
    let mut in_pattern = pattern.literals().flat_map(|range| words(&pattern.as_str()[range]));
    if let Some(word) = in_pattern.find(known) {
        return Some((word, "pattern"));
    }
    let doc = definition.doc.as_ref()?.to_lowercase();
    if NO_ORDER.iter().any(|denial| doc.contains(denial)) {
        return None;
    }
    let word = words(&doc).into_iter().find(|word| ORDER.contains(&word.as_str()));
    let phrase = || ORDER_PHRASES.iter().find(|phrase| doc.contains(*phrase));
    let said = word.or_else(|| phrase().map(|phrase| (*phrase).to_owned()))?;
    Some((said, "doc"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[ordered-in-set]: `reading_sequence` is a set, which has no order, but its name says `sequence`
          ╭▸ keyward.toml:5:8
          │
        2 │ [keys.reading_sequence]
          │       ──────────────── implies an order
          ┆
        5 │ type = "set"
          │        ━━━━━ its members come back in any order
          │
          ├ help: use a `zset` with a `score`, or a `list`
          ╰ note: `keyward explain ordered-in-set`
        "#);
    }

    #[test]
    fn german_indonesian_and_chinese_are_understood() {
        let schema = r#"
[keys.a]
pattern = "a:{id}"
type = "set"
doc = "Lese-Reihenfolge der Kapitel"
[keys.b]
pattern = "b:{id}"
type = "set"
doc = "Urutan bab"
[keys.c]
pattern = "c:{id}"
type = "set"
doc = "章节的阅读顺序"
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`a` is a set, which has no order, but its doc says `reihenfolge`",
                "`b` is a set, which has no order, but its doc says `urutan`",
                "`c` is a set, which has no order, but its doc says `顺序`",
            ]
        );
    }

    #[test]
    fn an_order_that_is_bought_is_no_order() {
        let schema = r#"
[keys.open_orders]
pattern = "orders:{user_id}:open"
type = "set"
doc = "The orders a customer has open, in order to show a count; unordered."
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_sorted_set_has_an_order() {
        let schema = r#"
[keys.top]
pattern = "top:{region}"
type = "zset"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
