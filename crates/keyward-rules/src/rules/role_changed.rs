use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Definition, Role};

rule! {
    /// ## What it does
    /// Reports a definition that has another role, has lost its role, or has one now.
    ///
    /// ## Why is this bad
    /// The role decides which functions generated code has. Derived keys of the old role stay behind, and those of the
    /// new one are missing for keys that are there.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.jobs]
    /// pattern = "jobs"
    /// queue = {}
    /// value = "json"
    /// ```
    /// After:
    /// ```toml
    /// [keys.jobs]
    /// pattern = "jobs"
    /// type = "list"
    /// value = "json"
    /// ttl = "none"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.jobs]
    /// pattern = "jobs"
    /// queue = {}
    /// value = "json"
    /// ```
    breaking Code, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    let role = |it: &Definition| it.role.as_deref().map(Role::name);
    for pair in cx.pairs.iter().filter(|pair| role(pair.old) != role(pair.new)) {
        let name = &pair.new.name.value;
        let message = match (role(pair.old), role(pair.new)) {
            (Some(old), Some(new)) => format!("`{name}` has the role `{new}` now, and had `{old}`"),
            (Some(old), None) => format!("`{name}` does not have the role `{old}` any more"),
            (None, new) => format!("`{name}` has the role `{}` now", new.unwrap_or_default()),
        };
        let span = |it: &'a Definition| it.role.as_ref().map(|role| &role.span);
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(
                    pair,
                    (span(pair.new), "the role now".to_owned()),
                    (span(pair.old), "the role before".to_owned()),
                )
                .help("give the new role a definition of its own"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::broken_example;

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["`jobs` does not have the role `queue` any more"]);
    }
}
