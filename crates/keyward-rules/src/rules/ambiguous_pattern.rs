use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_pattern::{Hole, Keyspace, Part, Type, prove};
use keyward_schema::model::Definition;

rule! {
    /// ## What it does
    /// Reports a pattern that can parse one key in two ways.
    ///
    /// ## Why is this bad
    /// `parse` cannot tell which values the key was built from. Two different sets of values also
    /// build the same key, so one overwrites the other.
    ///
    /// ## Example
    /// ```toml
    /// [keys.pair]
    /// pattern = "pair:{base}-{quote}"
    /// ttl = "5m"
    /// ```
    /// `pair:a-b-c` parses as `a` and `b-c`, or as `a-b` and `c`.
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.pair]
    /// pattern = "pair:{base}:{quote}"
    /// ttl = "5m"
    /// ```
    /// Or give a parameter a type that cannot contain the character between them. Where the pattern must stay as it
    /// is, exclude that character from its text:
    /// ```toml
    /// [keys.pair]
    /// pattern = "pair:{base}-{quote}"
    /// separators = "-"
    /// ttl = "5m"
    /// ```
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for ambiguity in prove::ambiguities(&cx.schema.compiled) {
        let definition = &cx.schema.keys[ambiguity.definition.index()];
        let name = &definition.name.value;
        let finding = if ambiguity.witness.is_empty() {
            Finding::new(format!(
                "could not prove that each key of `{name}` parses in only one way"
            ))
            .at(&definition.pattern.span, "too large to decide")
        } else {
            Finding::new(format!("`{}` in a key of `{name}` parses in two ways", ambiguity.witness))
                .at(&definition.pattern.span, "the end of one parameter is ambiguous")
                .note(format!(
                    "it parses as {}, or as {}",
                    listed(&ambiguity.left, usize::MAX),
                    listed(&ambiguity.right, usize::MAX)
                ))
        };
        out.add(finding.about(definition).help(help(cx, definition)));
    }
}

/// What to do: where texts have single characters between them, those can separate them.
fn help(cx: &Context<'_>, definition: &Definition) -> String {
    let general = "put a separator between the parameters, or give them narrower types";
    let keyspace = cx.schema.keyspace.separator.value;
    let is_text = |hole: &Hole| {
        let mut params = definition.params.iter().map(|it| (&it.name.value, &it.param.value));
        params.any(|(name, param)| *name == hole.name && *param == Type::Text.into())
    };
    let mut marks = String::new();
    for parts in definition.pattern.parts().windows(3) {
        let [Part::Hole(before), Part::Literal(text), Part::Hole(after)] = parts else { continue };
        let mut chars = text.chars();
        let (Some(mark), None) = (chars.next(), chars.next()) else { continue };
        let can_separate = Keyspace::builder(mark).is_ok() && mark != keyspace;
        if can_separate && is_text(before) && is_text(after) && !marks.contains(mark) {
            marks.push(mark);
        }
    }
    if marks.is_empty() || definition.separators.is_some() {
        return general.to_owned();
    }
    format!(
        "add `separators = \"{marks}\"` if no value contains it, or give the parameters narrower types"
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[ambiguous-pattern]: `a--a` in a key of `pair` parses in two ways
          ╭▸ keyward.toml:3:11
          │
        3 │ pattern = "pair:{base}-{quote}"
          │           ━━━━━━━━━━━━━━━━━━━━━ the end of one parameter is ambiguous
          │
          ├ help: add `separators = "-"` if no value contains it, or give the parameters narrower types
          ├ note: it parses as `a` and `-a`, or as `a-` and `a`
          ╰ note: `keyward explain ambiguous-pattern`
        "#);
    }

    #[test]
    fn separators_end_each_text() {
        let schema = r#"
[keys.asset]
pattern = "asset/{dir}/{file}.{ext}"
separators = "/."
[keys.page]
pattern = "page/{host}/{file}.{ext}"
separators = "/."
params = { host = { type = "text", without = "/" } }
[keys.pair]
pattern = "pair:{a}-{b}"
params = { a = { type = "slug", without = "-" }, b = { type = "slug", without = "-" } }
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
        let one_of_two = r#"
[keys.asset]
pattern = "asset/{dir}/{file}.{ext}"
separators = "/"
"#;
        assert_eq!(messages(&RULE, one_of_two).len(), 1);
    }

    #[test]
    fn a_type_without_the_character_between_is_enough() {
        let schema = r#"
[keys.pair]
pattern = "pair:{base:word}-{quote}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
