use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys without a TTL whose definition declares one, and hash fields without the TTL that is declared for
    /// the field.
    ///
    /// This is about keys on a server, and `keyward audit` reports it. `missing-ttl` is about the schema: a definition
    /// that declares no TTL.
    ///
    /// ## Why is this bad
    /// They stay forever. Most memory that nobody can explain belongs to keys whose TTL was lost: a
    /// `SET` after the `EXPIRE` removed it, or the program stopped between the two.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uint}"
    /// ttl = "30m"
    /// fields = { user = "uint", ip = "text?" }
    /// ```
    /// ```redis
    /// HSET session:7 user 42
    /// ```
    ///
    /// ## Use instead
    /// Set the value and the TTL in one step.
    /// ```redis
    /// HSET session:7 user 42
    /// EXPIRE session:7 600
    /// ```
    ///
    /// `keyward plan fix --rule ttl-missing` plans to set the TTL of such keys.
    live Lifetime, Error, Recommended
}

/// Whether a key with this remaining TTL breaks it.
#[inline]
pub fn breaks(must_expire: bool, remaining: Option<u64>) -> bool {
    must_expire && remaining.is_none()
}

fn word(case: &Case<'_>) -> Wording {
    let declared = case.detail.unwrap_or("as declared");
    if let Some(field) = case.subject {
        return Wording::new(format!("{field} of `{}` has no TTL", case.name()))
            .help(format!("set a TTL of {declared} with HEXPIRE when the field is written"));
    }
    Wording::new(format!("keys of `{}` have no TTL", case.name()))
        .help(format!("set the TTL ({declared}) in the same step as the value"))
}
