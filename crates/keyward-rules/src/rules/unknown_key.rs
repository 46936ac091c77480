mod layout;
mod why;

pub use layout::{Breach, Wrong};
pub use why::{Why, describe};

use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys that no definition has: not as its own key, not as a former name, a derived key or
    /// another software's. They are grouped by what they look like, and the definition that was perhaps
    /// meant is named. Where the schema has a `[layout]`, the slot that the key breaks is named too, with the words
    /// that would fit.
    ///
    /// ## Why is this bad
    /// Nobody has said what such a key is, how long it lives or who answers for it. It may be a misspelt
    /// name, a leftover of a feature that is gone, or a service that writes into the wrong server.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uint}"
    /// ttl = "30m"
    /// fields = { user = "uint", ip = "text?" }
    /// ```
    /// ```redis
    /// HSET sesion:7 user 42
    /// EXPIRE sesion:7 600
    /// ```
    ///
    /// ## Use instead
    /// Write the key under its declared name, declare it, or name the software it belongs to under
    /// `[foreign]`.
    /// ```redis
    /// HSET session:7 user 42
    /// EXPIRE session:7 600
    /// ```
    live Soundness, Error, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let Some(pattern) = case.subject else {
        let patterns = case.detail.unwrap_or("some");
        return Wording::new(format!("no definition has {patterns} more patterns"))
            .help("`--format json` lists them under `unknown`");
    };
    let wording = Wording::new(format!("no definition has `{pattern}`"));
    match (case.near, case.detail) {
        (Some(near), Some(why)) => wording.help(format!("did you mean `{near}`? {why}")),
        _ => wording.help("declare them, or name their owner under `[foreign]`"),
    }
}
