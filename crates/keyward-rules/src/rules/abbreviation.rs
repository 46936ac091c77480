use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::rules::Rule;
use crate::segment::within;
use keyward_schema::model::{Layout, Words};
use std::collections::{HashMap, HashSet};

/// Abbreviations that people have to ask about, and what they stand for. Acronyms that nobody
/// writes out (`id`, `api`, `csrf`) are not among them.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("acct", "account"),
    ("addr", "address"),
    ("amt", "amount"),
    ("assoc", "association"),
    ("attr", "attribute"),
    ("avail", "availability"),
    ("cat", "category"),
    ("cfg", "config"),
    ("ch", "chapter"),
    ("cnt", "count"),
    ("conf", "config"),
    ("ctx", "context"),
    ("curr", "current"),
    ("dept", "department"),
    ("desc", "description"),
    ("dlq", "dead_letter"),
    ("evt", "event"),
    ("grp", "group"),
    ("idx", "index"),
    ("img", "image"),
    ("lim", "limit"),
    ("loc", "location"),
    ("mgr", "manager"),
    ("msg", "message"),
    ("notif", "notification"),
    ("num", "number"),
    ("obj", "object"),
    ("ord", "order"),
    ("para", "paragraph"),
    ("perm", "permission"),
    ("perms", "permissions"),
    ("pref", "preference"),
    ("prefs", "preferences"),
    ("prod", "product"),
    ("prog", "progress"),
    ("pwd", "password"),
    ("qty", "quantity"),
    ("rec", "recommendation"),
    ("recs", "recommendations"),
    ("req", "request"),
    ("resp", "response"),
    ("rl", "rate_limit"),
    ("seq", "sequence"),
    ("sess", "session"),
    ("subpara", "subparagraph"),
    ("svc", "service"),
    ("sym", "symbol"),
    ("tmp", "temporary"),
    ("tok", "token"),
    ("trx", "transaction"),
    ("txn", "transaction"),
    ("usr", "user"),
    ("val", "value"),
];

rule! {
    /// ## What it does
    /// Reports an abbreviation in the text of a pattern. The prefix is not checked, and neither is
    /// any word that `[layout]` lists.
    ///
    /// The built-in list is short. `words` adds to it, `accept` removes from it.
    ///
    /// ```toml
    /// [rules.abbreviation]
    /// words = ["sku=stock_keeping_unit", "stmt"]
    /// accept = ["msg"]
    /// ```
    ///
    /// ## Why is this bad
    /// Readers guess differently: `perm` means permission to one and permanent to another. The few
    /// bytes saved do not matter next to the value.
    ///
    /// ## Example
    /// ```toml
    /// [keys.preferences]
    /// pattern = "usr:prefs:{user_id}"
    /// ttl = "1d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.preferences]
    /// pattern = "user:preferences:{user_id}"
    /// ttl = "1d"
    /// ```
    Shape, Warn, Strict, options = [Words, Accept]
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let list = abbreviations(cx);
    for definition in &cx.schema.keys {
        let pattern = &definition.pattern;
        for range in pattern.literals() {
            for (offset, word) in words_with_offsets(&pattern.as_str()[range.clone()]) {
                let Some(meaning) = list.get(word.to_lowercase().as_str()) else { continue };
                let start = range.start + offset;
                let finding = Finding::new(format!(
                    "`{word}` in the pattern of `{}` is an abbreviation",
                    definition.name.value
                ))
                .about(definition)
                .at(&within(pattern, start..start + word.len()), "");
                out.add(match meaning {
                    Some(meaning) => finding.help(format!("write `{meaning}`")),
                    None => finding.help("write the full word"),
                });
            }
        }
    }
}

/// The abbreviations to look for, with what they stand for where that is known.
fn abbreviations<'a>(cx: &Context<'a>) -> HashMap<&'a str, Option<&'a str>> {
    let mut list: HashMap<_, _> =
        ABBREVIATIONS.iter().map(|(word, meaning)| (*word, Some(*meaning))).collect();
    for word in cx.schema.layout.iter().flat_map(vocabulary) {
        list.remove(word);
    }
    if let Some(setting) = cx.setting(Rule::Abbreviation) {
        list.extend(setting.words.iter().map(|entry| match entry.split_once('=') {
            Some((word, meaning)) => (word.trim(), Some(meaning.trim())),
            None => (entry.trim(), None),
        }));
        for word in &setting.accept {
            list.remove(word.as_str());
        }
    }
    list
}

fn vocabulary(layout: &Layout) -> HashSet<&str> {
    let mut words: HashSet<&str> = layout.reserved.iter().map(|word| word.as_str()).collect();
    for slot in &layout.slots {
        words.extend(slot.literal.as_deref());
        match &slot.words {
            Some(Words::Fixed(known)) => words.extend(known.iter().map(|word| word.as_str())),
            Some(Words::By { words: by, .. }) => {
                words.extend(by.iter().flat_map(|(_, known)| known).map(|word| word.as_str()));
            }
            None => {}
        }
    }
    words
}

fn words_with_offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[abbreviation]: `usr` in the pattern of `preferences` is an abbreviation
          ╭▸ keyward.toml:3:12
          │
        3 │ pattern = "usr:prefs:{user_id}"
          │            ━━━
          │
          ├ help: write `user`
          ╰ note: `keyward explain abbreviation`

        warning[abbreviation]: `prefs` in the pattern of `preferences` is an abbreviation
          ╭▸ keyward.toml:3:16
          │
        3 │ pattern = "usr:prefs:{user_id}"
          │                ━━━━━
          │
          ├ help: write `preferences`
          ╰ note: `keyward explain abbreviation`
        "#);
    }

    #[test]
    fn the_list_can_be_changed() {
        let schema = r#"
[rules.abbreviation]
words = ["sku=stock_keeping_unit", "stmt"]
accept = ["msg"]
[keys.a]
pattern = "sku:{a}"
[keys.b]
pattern = "stmt:{a}"
[keys.c]
pattern = "msg:{a}"
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`sku` in the pattern of `a` is an abbreviation",
                "`stmt` in the pattern of `b` is an abbreviation",
            ]
        );
    }

    #[test]
    fn what_the_layout_lists_is_a_word() {
        let schema = r#"
[layout]
shape = "<module>:<id>"
module = ["cfg"]
[keys.a]
pattern = "cfg:{a}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
