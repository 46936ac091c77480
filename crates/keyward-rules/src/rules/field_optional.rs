use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a field that every hash had and that may be missing now.
    ///
    /// ## Why is this bad
    /// Generated code has an optional value there. Programs that were built from the old version fail to read a hash
    /// that a new one wrote without the field.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.user]
    /// pattern = "user:{id:uint}"
    /// fields = { name = "text", mail = "text" }
    /// ttl = "1h"
    /// ```
    /// After:
    /// ```toml
    /// [keys.user]
    /// pattern = "user:{id:uint}"
    /// fields = { name = "text", mail = "text?" }
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// Release the programs that read hashes without the field before those that write them, and accept the change.
    /// ```toml
    /// [keys.user]
    /// pattern = "user:{id:uint}"
    /// fields = { name = "text", mail = "text" }
    /// ttl = "1h"
    /// ```
    breaking Code, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        for new in pair.new.fields.iter().filter(|field| field.optional) {
            let required = |old: &&keyward_schema::model::Field| {
                old.name.value == new.name.value && !old.optional
            };
            let Some(old) = pair.old.fields.iter().find(required) else { continue };
            let (name, of) = (&new.name.value, &pair.new.name.value);
            out.add(
                Finding::new(format!("`{name}` of `{of}` may be missing now"))
                    .changes(cx, pair, Some(name))
                    .at(&new.value.span, "is optional")
                    .at(&old.value.span, "was required")
                    .help("release what reads keys without it before what writes them"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::broken_example;

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["`mail` of `user` may be missing now"]);
    }
}
