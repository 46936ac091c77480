use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;

/// How many definitions a message names.
const MAX_LISTED: usize = 5;

rule! {
    /// ## What it does
    /// Reports a `max_key_len` that is new or lower than before, if there are definitions with longer keys.
    ///
    /// ## Why is this bad
    /// Longer keys that are on the server belong to no definition any more, and the program refuses to build them.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    ///
    /// [keys.search]
    /// pattern = "search:{query:encoded}"
    /// ttl = "5m"
    /// ```
    /// After:
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// max_key_len = 64
    ///
    /// [keys.search]
    /// pattern = "search:{query:encoded}"
    /// ttl = "5m"
    /// ```
    ///
    /// ## Use instead
    /// Look with `keyward audit` how long the longest key is, and leave room for it.
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    ///
    /// [keys.search]
    /// pattern = "search:{query:encoded}"
    /// ttl = "5m"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    let (old, new) = (&cx.old.keyspace.max_key_len, &cx.new.keyspace.max_key_len);
    let Some(bound) = new else { return };
    if old.as_ref().is_some_and(|old| old.value <= bound.value) {
        return;
    }
    let is_longer = |len: Option<usize>| len.is_none_or(|len| len as u64 > bound.value);
    let longer: Vec<&str> = cx
        .pairs
        .iter()
        .filter(|pair| {
            let id = cx.old.compiled.find(&pair.old.name);
            id.is_some_and(|id| is_longer(cx.old.compiled.definition(id).max_len()))
        })
        .map(|pair| pair.new.name.as_str())
        .collect();
    if longer.is_empty() {
        return;
    }
    let message = format!(
        "keys of more than {} bytes are not found any more, and {} can have them",
        bound.value,
        listed(&longer, MAX_LISTED)
    );
    let finding = Finding::new(message)
        .changes_other(cx.new.keyspace.name.value.as_str())
        .at(&bound.span, "the longest key now");
    let finding = match old {
        Some(old) => finding.at(&old.span, "the longest key before"),
        None => finding,
    };
    out.add(finding.help("look with `keyward audit` how long the longest key is"));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        let message =
            "keys of more than 64 bytes are not found any more, and `search` can have them";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn a_bound_that_no_key_reaches_is_not_reported() {
        let with = |bound: &str| {
            format!("[keyspace]\nname = \"a\"\n{bound}\n[keys.a]\npattern = \"a:{{id:uuid}}\"\n")
        };
        assert_eq!(broken(&RULE, &with(""), &with("max_key_len = 64")), [""; 0]);
        assert_eq!(broken(&RULE, &with("max_key_len = 64"), &with("max_key_len = 128")), [""; 0]);
    }
}
