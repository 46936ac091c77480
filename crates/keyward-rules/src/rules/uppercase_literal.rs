use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::segment::within;
use keyward_pattern::Template;
use keyward_schema::model::Case;
use keyward_schema::span::{Span, Spanned};

rule! {
    /// ## What it does
    /// Reports a capital letter in the text of a pattern or of the prefix, unless `[keyspace]` sets
    /// `case = "any"`. Parameters, their enum words and the old names of migrations are not
    /// checked.
    ///
    /// ## Why is this bad
    /// Keys are compared byte by byte: `User:42` and `user:42` are two keys. Someone will write the
    /// wrong one.
    ///
    /// ## Example
    /// ```toml
    /// [keys.mapping]
    /// pattern = "User:Mapping:{username}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.mapping]
    /// pattern = "user:mapping:{username}"
    /// ttl = "1h"
    /// ```
    Shape, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let keyspace = &cx.schema.keyspace;
    if *keyspace.case == Case::Any {
        return;
    }
    let help = "write it in lower case, or set `case = \"any\"` in `[keyspace]`";
    if let Some((span, text)) = keyspace.prefix.as_ref().and_then(first_capital) {
        let finding = Finding::new(format!("the prefix has capital letters: `{text}`"));
        out.add(finding.at(&span, "keys are case-sensitive").help(help));
    }
    for definition in &cx.schema.keys {
        if let Some((span, text)) = first_capital(&definition.pattern) {
            let name = &definition.name.value;
            let finding =
                Finding::new(format!("the pattern of `{name}` has capital letters: `{text}`"));
            out.add(finding.about(definition).at(&span, "keys are case-sensitive").help(help));
        }
    }
}

/// The first piece of a pattern's text that has a capital.
fn first_capital(pattern: &Spanned<Template>) -> Option<(Span, &str)> {
    let mut literals = pattern.literals().map(|range| (range.clone(), &pattern.as_str()[range]));
    let (range, text) = literals.find(|(_, text)| text.chars().any(char::is_uppercase))?;
    let end = text.trim_end_matches(|char: char| !char.is_alphanumeric()).len();
    Some((within(pattern, range.start..range.start + end), &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[uppercase-literal]: the pattern of `mapping` has capital letters: `User:Mapping`
          ╭▸ keyward.toml:3:12
          │
        3 │ pattern = "User:Mapping:{username}"
          │            ━━━━━━━━━━━━ keys are case-sensitive
          │
          ├ help: write it in lower case, or set `case = "any"` in `[keyspace]`
          ╰ note: `keyward explain uppercase-literal`
        "#);
    }

    #[test]
    fn any_case_may_be_declared() {
        let schema = r#"
[keyspace]
name = "shop"
case = "any"
[keys.mapping]
pattern = "User:Mapping:{username}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn parameters_and_old_names_may_have_capitals() {
        let schema = r#"
[keys.mapping]
pattern = "user:mapping:{userName}:{region}"
params = { region = ["DE", "US"] }
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
mapping = "BO:User:Mapping:{userName}:{region}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn the_prefix_counts() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "Shop:"
"#;
        assert_eq!(messages(&RULE, schema), ["the prefix has capital letters: `Shop`",]);
    }
}
