use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::segment::within;
use keyward_pattern::Hole;
use keyward_schema::model::Definition;
use std::collections::HashSet;

/// Shorter names are near to each other by chance.
const MIN_LEN: usize = 4;

rule! {
    /// ## What it does
    /// Reports a parameter without a type whose name is nearly one of `[params]`: it differs in case or
    /// underscores, or by one letter. It is not reported where it is declared: with a type in the pattern, in the
    /// definition's own `params` or in `[params]`.
    ///
    /// ## Why is this bad
    /// A parameter without a type accepts any text. `{userid}` does not have the type of `user_id`, and generated
    /// code has two parameters where the author meant one.
    ///
    /// ## Example
    /// ```toml
    /// [params]
    /// user_id = "uint"
    ///
    /// [keys.profile]
    /// pattern = "profile:{user_id}"
    /// ttl = "1h"
    ///
    /// [keys.cart]
    /// pattern = "cart:{userid}"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [params]
    /// user_id = "uint"
    ///
    /// [keys.profile]
    /// pattern = "profile:{user_id}"
    /// ttl = "1h"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id}"
    /// ttl = "7d"
    /// ```
    /// If it is another parameter, declare it: `{userid:text}`.
    Shape, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let patterns = cx.schema.keys.iter().map(|it| &it.pattern.value);
    let templates = patterns.chain(cx.schema.keyspace.prefix.as_deref());
    let used: HashSet<&str> =
        templates.flat_map(|it| it.holes()).map(|hole| hole.name.as_str()).collect();
    // `unused-declaration` asks the same question about those that no pattern uses.
    let declared: Vec<_> =
        cx.schema.params.iter().filter(|it| used.contains(it.name.as_str())).collect();
    for definition in &cx.schema.keys {
        for hole in definition.pattern.holes().filter(|hole| is_untyped(definition, hole)) {
            let beside = |name: &str| definition.pattern.holes().any(|it| it.name == name);
            let meant =
                declared.iter().find(|it| is_slip(&hole.name, &it.name) && !beside(&it.name));
            let Some(meant) = meant else { continue };
            let message = format!(
                "`{}` of `{}` has no type, but `{}` does",
                hole.name, definition.name.value, meant.name.value
            );
            out.add(
                Finding::new(message)
                    .about(definition)
                    .at(&within(&definition.pattern, hole.span.clone()), "accepts any text")
                    .at(&meant.name.span, "declared here")
                    .help(format!(
                        "did you mean `{}`? If not, declare it: `{{{}:text}}`",
                        meant.name.value, hole.name
                    )),
            );
        }
    }
}

/// Whether nothing says what the parameter is: its declaration then is its place in the pattern.
fn is_untyped(definition: &Definition, hole: &Hole) -> bool {
    let pattern = &definition.pattern.span;
    let declared = definition.params.iter().find(|it| *it.name == hole.name);
    hole.ty.is_none()
        && declared.is_some_and(|it| {
            let span = &it.param.span;
            span.file == pattern.file && (pattern.start..pattern.end).contains(&span.start)
        })
}

/// Whether one name is probably a misspelling of the other.
fn is_slip(left: &str, right: &str) -> bool {
    let letters = |name: &str| -> Vec<char> {
        name.chars().filter(|char| *char != '_').flat_map(char::to_lowercase).collect()
    };
    let (left, right) = (letters(left), letters(right));
    left == right || (left.len().min(right.len()) >= MIN_LEN && is_one_edit(&left, &right))
}

/// Whether one letter is added, missing or another, or two neighbours are exchanged. A digit is not a slip:
/// `user_id2` is a second one.
fn is_one_edit(left: &[char], right: &[char]) -> bool {
    let same_start = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let (left, right) = (&left[same_start..], &right[same_start..]);
    let same_end =
        left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count();
    let (left, right) = (&left[..left.len() - same_end], &right[..right.len() - same_end]);
    let exchanged = matches!((left, right), ([a, b], [c, d]) if a == d && b == c);
    let digits = left.iter().chain(right).any(|char| char.is_numeric());
    !digits && (exchanged || left.len().max(right.len()) == 1)
}

#[cfg(test)]
mod tests {
    use super::{RULE, is_slip};
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[misspelled-param]: `userid` of `cart` has no type, but `user_id` does
           ╭▸ keyward.toml:10:17
           │
         3 │ user_id = "uint"
           │ ─────── declared here
           ┆
        10 │ pattern = "cart:{userid}"
           │                 ━━━━━━━━ accepts any text
           │
           ├ help: did you mean `user_id`? If not, declare it: `{userid:text}`
           ╰ note: `keyward explain misspelled-param`
        "#);
    }

    #[test]
    fn case_underscores_and_one_edit_are_slips() {
        for name in ["userid", "userId", "USER_ID", "usr_id", "user_idd", "uesr_id", "user_ie"] {
            assert!(is_slip(name, "user_id"), "{name}");
        }
        for name in ["user_id2", "users_ids", "customer_id", "uid"] {
            assert!(!is_slip(name, "user_id"), "{name}");
        }
        assert!(!is_slip("day", "way"), "short names are near by chance");
    }

    #[test]
    fn a_parameter_that_is_declared_is_meant() {
        let cart = |cart: &str| {
            let schema = format!(
                "[params]\nuser_id = \"uint\"\n[keys.profile]\npattern = \"profile:{{user_id}}\"\n\
                 [keys.cart]\n{cart}\n"
            );
            messages(&RULE, &schema)
        };
        let found = ["`userid` of `cart` has no type, but `user_id` does"];
        assert_eq!(cart("pattern = \"cart:{userid}\""), found);
        assert_eq!(cart("pattern = \"cart:{userid:text}\""), [""; 0]);
        assert_eq!(cart("pattern = \"cart:{userid}\"\nparams = { userid = \"text\" }"), [""; 0]);
        assert_eq!(cart("pattern = \"cart:{user_id}:{userid}\""), [""; 0], "beside the other");
    }

    #[test]
    fn a_declaration_that_nothing_uses_is_reported_once() {
        let schema = "[params]\nuser_id = \"uint\"\n[keys.cart]\npattern = \"cart:{userid}\"\n";
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
