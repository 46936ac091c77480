use crate::breaking::{Change, words};
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::Value;

rule! {
    /// ## What it does
    /// Reports a hash that was `open` to fields of any name and is not any more, or whose other fields have a type now.
    ///
    /// ## Why is this bad
    /// Fields that were written under other names, or with other values, are still there. They are not read any more,
    /// or cannot be.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// type = "hash"
    /// open = true
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// fields = { total = "uint?" }
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// fields = { total = "uint?" }
    /// open = true
    /// ttl = "7d"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in cx.pairs.iter().filter(|pair| pair.old.open) {
        let name = &pair.new.name.value;
        let is_hash = pair.new.open || !pair.new.fields.is_empty();
        let typed = pair.new.others.as_ref().filter(|others| {
            pair.old.others.is_none() && !matches!(others.value, Value::Bytes | Value::Text)
        });
        let (message, span) = match typed {
            Some(others) => {
                let ty = words::value(&others.value);
                (
                    format!("fields of `{name}` that are not named are `{ty}` now"),
                    Some(&others.span),
                )
            }
            None if is_hash && !pair.new.open => {
                (format!("`{name}` takes only the fields that it names now"), None)
            }
            None => continue,
        };
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, (span, "is closed to others".to_owned()), (None, "was open".to_owned()))
                .help("keep it `open`, or declare the fields that the keys on the server have")
                .touching(cx.touches_some(pair, "unknown-field", None)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["`cart` takes only the fields that it names now"]);
    }

    #[test]
    fn fields_of_any_name_may_get_a_type_that_takes_all() {
        let with =
            |open: &str| format!("[keys.a]\npattern = \"a\"\ntype = \"hash\"\nopen = {open}\n");
        assert_eq!(broken(&RULE, &with("true"), &with("\"text\"")), [""; 0]);
        let message = "fields of `a` that are not named are `uint` now";
        assert_eq!(broken(&RULE, &with("true"), &with("\"uint\"")), [message]);
    }
}
