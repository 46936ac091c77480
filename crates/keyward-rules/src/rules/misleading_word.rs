use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::segment::within;
use keyward_schema::model::{Definition, Meaning};

rule! {
    /// ## What it does
    /// Reports a word in a pattern whose meaning in `[layout] means` contradicts the definition:
    /// its type, role or lifecycle.
    ///
    /// ## Why is this bad
    /// People trust the key. They see `user:balance:list:42`, send `LRANGE`, and get `WRONGTYPE`,
    /// because the key holds a set.
    ///
    /// ## Example
    /// ```toml
    /// [layout]
    /// shape = "<module>:<business>:<type>:<identifier...>"
    /// type = ["cache", "list", "set"]
    /// means = { cache = "cache", list = "list", set = "set" }
    ///
    /// [keys.balance]
    /// pattern = "user:balance:list:{user_id}"
    /// type = "set"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [layout]
    /// shape = "<module>:<business>:<type>:<identifier...>"
    /// type = ["cache", "list", "set"]
    /// means = { cache = "cache", list = "list", set = "set" }
    ///
    /// [keys.balance]
    /// pattern = "user:balance:set:{user_id}"
    /// type = "set"
    /// ttl = "1h"
    /// ```
    Shape, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let Some(layout) = &cx.schema.layout else { return };
    for definition in &cx.schema.keys {
        let segments = definition.pattern.segments(*cx.schema.keyspace.separator);
        for (segment, slot) in segments.into_iter().zip(&layout.slots) {
            let Some(word) = segment.literal() else { continue };
            if !slot.words().any(|known| known == word) {
                continue;
            }
            let meaning = layout.means.iter().find(|(known, _)| known.value == word);
            let Some((_, meaning)) = meaning else { continue };
            let Some((said, is)) = contradiction(definition, meaning) else { continue };
            let (name, span) =
                (&definition.name.value, within(&definition.pattern, segment.range.clone()));
            out.add(
                Finding::new(format!(
                    "`{word}` in the pattern of `{name}` means {said}, but the definition {is}"
                ))
                .about(definition)
                .at(&span, format!("means {said}"))
                .at(&meaning.span, "declared here")
                .help("use the word that fits the definition, or correct the definition"),
            );
        }
    }
}

/// What the word says and what the definition says, if they differ. What it does not say is not judged.
fn contradiction(definition: &Definition, meaning: &Meaning) -> Option<(String, String)> {
    match meaning {
        Meaning::Type(said) => {
            let is = definition.key_type.as_ref().filter(|is| is.value != *said)?;
            Some((format!("type `{said}`"), format!("has the type `{}`", is.value)))
        }
        Meaning::Role(said) => {
            let is = definition.role.as_ref().map(|role| role.name());
            let said_so = is == Some(*said);
            let is = is.map_or("has no role".to_owned(), |is| format!("has the role `{is}`"));
            (!said_so).then(|| (format!("role `{said}`"), is))
        }
        Meaning::Lifecycle(said) => {
            let is = definition.lifecycle;
            let differs = || {
                (
                    format!("lifecycle `{}`", said.name()),
                    format!("has the lifecycle `{}`", is.name()),
                )
            };
            (is != *said).then(differs)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[misleading-word]: `list` in the pattern of `balance` means type `list`, but the definition has the type `set`
          ╭▸ keyward.toml:8:25
          │
        5 │ means = { cache = "cache", list = "list", set = "set" }
          │                                   ────── declared here
          ┆
        8 │ pattern = "user:balance:list:{user_id}"
          │                         ━━━━ means type `list`
          │
          ├ help: use the word that fits the definition, or correct the definition
          ╰ note: `keyward explain misleading-word`
        "#);
    }

    #[test]
    fn a_word_may_mean_a_role_or_a_lifecycle() {
        let schema = r#"
[layout]
shape = "<type>:<identifier...>"
type = ["cache", "lock", "other"]
means = { cache = "cache", lock = "lock" }
[keys.lock]
pattern = "lock:{name}"
lock = {}
ttl = "1m"
[keys.no_lock]
pattern = "lock:other:{name}"
ttl = "1m"
[keys.kept]
pattern = "cache:{name}"
type = "hash"
ttl = "none"
[keys.other]
pattern = "other:cache:{name}"
ttl = "none"
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`lock` in the pattern of `no_lock` means role `lock`, but the definition has no role",
                "`cache` in the pattern of `kept` means lifecycle `cache`, but the definition has the lifecycle `protected`",
            ]
        );
    }
}
