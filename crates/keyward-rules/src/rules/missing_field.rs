use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports hashes and stream entries without a field that their definition requires.
    ///
    /// ## Why is this bad
    /// Readers rely on the field. A hash is incomplete if its TTL ended between two writes, or if
    /// the writer uses another version of the schema.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uint}"
    /// ttl = "30m"
    /// fields = { user = "uint", ip = "text?" }
    /// ```
    /// ```redis
    /// HSET session:7 ip 10.0.0.1
    /// EXPIRE session:7 600
    /// ```
    ///
    /// ## Use instead
    /// Write all required fields in one step, or mark the field optional: `user = "uint?"`.
    /// ```redis
    /// HSET session:7 user 42 ip 10.0.0.1
    /// EXPIRE session:7 600
    /// ```
    live Shape, Error, Recommended
}

/// Whether a hash or an entry breaks it by one declared field.
#[inline]
pub fn breaks(required: bool, has_it: bool) -> bool {
    required && !has_it
}

fn word(case: &Case<'_>) -> Wording {
    let (name, field) = (case.name(), case.subject.unwrap_or("a field"));
    let holders = case.detail.unwrap_or("hashes");
    Wording::new(format!("{holders} of `{name}` have no field `{field}`"))
        .help(format!("write `{field}` together with the other fields, or declare it optional"))
}
