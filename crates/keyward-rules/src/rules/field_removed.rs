use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a field of a hash or of a stream's entries that is no longer declared.
    ///
    /// ## Why is this bad
    /// What is on the server still has the field. The program neither reads nor updates it, an audit reports it as
    /// unknown, and code that used it does not compile. A renamed field is a removed one, too: its values stay under
    /// the old name.
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
    /// fields = { name = "text" }
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.user]
    /// pattern = "user:{id:uint}"
    /// fields = { name = "text", mail = "text?" }
    /// ttl = "1h"
    /// ```
    /// Remove the field when no key on the server has it.
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in cx.pairs.iter().filter(|pair| !pair.new.fields.is_empty() || pair.new.open) {
        let declares = |name: &str| pair.new.fields.iter().any(|field| field.name.value == name);
        for field in pair.old.fields.iter().filter(|field| !declares(&field.name)) {
            let (name, of) = (&field.name.value, &pair.new.name.value);
            let added = pair.new.fields.iter().find(|new| {
                let is_new = !pair.old.fields.iter().any(|old| old.name.value == new.name.value);
                is_new && new.value.value == field.value.value
            });
            let finding = Finding::new(format!("the field `{name}` of `{of}` is gone"))
                .changes(cx, pair, Some(name))
                .at(&pair.new.name.span, format!("has no field `{name}` any more"))
                .at(&field.name.span, "was declared here")
                .help("keep it as an optional field until no key on the server has it");
            let finding = match added {
                Some(added) => finding.note(format!(
                    "if `{}` is its new name, the values are still under the old one",
                    added.name.value
                )),
                None => finding,
            };
            out.add(finding.touching(cx.touches_at_most(pair.old, pair.new)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example, changed};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["the field `mail` of `user` is gone"]);
    }

    #[test]
    fn a_field_of_the_same_type_may_be_its_new_name() {
        let with =
            |field: &str| format!("[keys.a]\npattern = \"a\"\nfields = {{ {field} = \"uint\" }}\n");
        let (_, found) = changed(&with("total"), &with("sum"), None);
        let removed = found.iter().find(|it| it.rule == RULE.name).unwrap();
        assert_eq!(removed.subject.as_deref(), Some("a.total"));
        assert_eq!(
            removed.notes,
            ["if `sum` is its new name, the values are still under the old one"]
        );
    }

    #[test]
    fn another_type_has_no_fields_to_lose() {
        let old = "[keys.a]\npattern = \"a\"\nfields = { n = \"uint\" }\n";
        assert_eq!(broken(&RULE, old, "[keys.a]\npattern = \"a\"\nvalue = \"json\"\n"), [""; 0]);
    }
}
