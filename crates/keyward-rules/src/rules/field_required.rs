use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::KeyType;

rule! {
    /// ## What it does
    /// Reports a field that every hash must have now: a new field without `?`, or one that was optional.
    ///
    /// ## Why is this bad
    /// Hashes that were written before lack the field. Reading one of them fails.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.user]
    /// pattern = "user:{id:uint}"
    /// fields = { name = "text" }
    /// ttl = "1h"
    /// ```
    /// After:
    /// ```toml
    /// [keys.user]
    /// pattern = "user:{id:uint}"
    /// fields = { name = "text", plan = "text" }
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.user]
    /// pattern = "user:{id:uint}"
    /// fields = { name = "text", plan = "text?" }
    /// ttl = "1h"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    let holds_fields = |ty: Option<&KeyType>| matches!(ty, Some(KeyType::Hash | KeyType::Stream));
    for pair in cx.pairs.iter().filter(|pair| holds_fields(pair.old.key_type.as_deref())) {
        for field in pair.new.fields.iter().filter(|field| !field.optional) {
            let before = pair.old.fields.iter().find(|old| old.name.value == field.name.value);
            if before.is_some_and(|before| !before.optional) || cx.converts(pair) {
                continue;
            }
            let (name, of) = (&field.name.value, &pair.new.name.value);
            let what = if before.is_some() { "was optional" } else { "is new" };
            let message = format!(
                "`{name}` of `{of}` is required and {what}: keys that lack it cannot be read"
            );
            let finding = Finding::new(message)
                .changes(cx, pair, Some(name))
                .at(&field.value.span, "is required");
            let finding = match before {
                Some(before) => finding.at(&before.value.span, "was optional"),
                None => finding.at(&pair.old.name.span, format!("had no field `{name}`")),
            };
            out.add(finding.help("make it optional: `\"TYPE?\"`").touching(cx.touches_some(
                pair,
                "missing-field",
                Some(name),
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        let message = "`plan` of `user` is required and is new: keys that lack it cannot be read";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn what_was_optional_may_be_missing() {
        let with = |ty: &str| format!("[keys.a]\npattern = \"a\"\nfields = {{ n = \"{ty}\" }}\n");
        let message = "`n` of `a` is required and was optional: keys that lack it cannot be read";
        assert_eq!(broken(&RULE, &with("uint?"), &with("uint")), [message]);
        assert_eq!(broken(&RULE, &with("uint"), &with("uint?")), [""; 0]);
    }
}
