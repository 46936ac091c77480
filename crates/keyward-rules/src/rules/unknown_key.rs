mod layout;
mod why;

pub use layout::{Breach, Wrong};
pub use why::{Why, describe};

use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys that match no definition, old name, derived key or `[foreign]` glob. They are
    /// grouped by their form, and each group names the definition that was probably meant. Where the
    /// schema has a `[layout]`, the finding names the slot that the key breaks and the words that fit.
    ///
    /// ## Why is this bad
    /// Nobody has declared what such a key is, how long it lives or who owns it. It may be
    /// misspelt, left over from a removed feature, or written by a service that uses the wrong
    /// server.
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
    /// Write the key under its declared name, declare it, or name the software that owns it under
    /// `[foreign]`.
    /// ```redis
    /// HSET session:7 user 42
    /// EXPIRE session:7 600
    /// ```
    ///
    /// `keyward plan fix --rule unknown-key` plans to rename keys of which only words are misspelt.
    live Soundness, Error, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let Some(pattern) = case.subject else {
        let patterns = case.detail.unwrap_or("some");
        return Wording::new(format!("no definition matches {patterns} more patterns"))
            .help("`--format json` lists them under `unknown`");
    };
    let wording = Wording::new(format!("no definition matches `{pattern}`"));
    match (case.near, case.detail) {
        (Some(near), Some(why)) => wording.help(format!("did you mean `{near}`? {why}")),
        _ => wording.help("declare them, or name their owner under `[foreign]`"),
    }
}
