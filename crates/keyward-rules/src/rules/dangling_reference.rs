use crate::live::{Case, Wording};
use crate::rule::rule;
use keyward_fact::thousands;
#[cfg(feature = "exchange")]
use serde::{Deserialize, Serialize};

rule! {
    /// ## What it does
    /// Reports references that do not resolve: a value, member or field that is declared as `ref` or `key` of
    /// another definition, or a `key` parameter of a definition without a role. Three cases are counted:
    ///
    /// - values that are not a key of that definition, or not a value of its parameter;
    /// - values that name a key of another definition, or a key of another type than declared;
    /// - values that name a key that does not exist.
    ///
    /// Members of an `index` of keys that expire are not looked up: it lists them until somebody changes it. Those of the
    /// `reverse` of an index are compared by `index-reverse-mismatch`. Each reference is
    /// counted in each key that has it. It must resolve within the same values of the prefix: a
    /// member under `acme:` cannot name a key under `globex:`. Of more than about a thousand distinct values, a
    /// sample is compared.
    ///
    /// ## Why is this bad
    /// Code that follows the reference finds nothing, or something else. An index whose members are not
    /// removed when they expire grows forever.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uint}"
    /// value = "json"
    /// ttl = "30m"
    /// [keys.sessions_of]
    /// pattern = "user:{user_id:uint}:sessions"
    /// type = "set"
    /// member = { ref = "session.session_id" }
    /// ttl = "30m"
    /// ```
    /// ```redis
    /// SADD user:42:sessions 7
    /// EXPIRE user:42:sessions 600
    /// ```
    ///
    /// ## Use instead
    /// Write a key before the references to it, and remove references when the key is deleted or expires. If
    /// values are not keys, or name keys of another definition, correct the writer or the declaration.
    /// ```redis
    /// SET session:7 "{}" EX 600
    /// SADD user:42:sessions 7
    /// EXPIRE user:42:sessions 600
    /// ```
    ///
    /// `keyward plan fix --rule dangling-reference` plans to remove members that name a key which does not exist.
    live Change, Warn, Recommended
}

/// What a reference is declared to name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "exchange", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Target {
    /// The definitions, one of which has the key
    pub definitions: Vec<String>,
    /// The parameter whose value it is; `None` where it is a whole key
    #[cfg_attr(feature = "exchange", serde(default, skip_serializing_if = "Option::is_none"))]
    pub param: Option<String>,
}

impl Target {
    /// A whole key of one of these definitions.
    pub fn key(definitions: Vec<String>) -> Self {
        Target { definitions, param: None }
    }

    /// The value of a definition's parameter.
    pub fn param(definition: String, param: String) -> Self {
        Target { definitions: vec![definition], param: Some(param) }
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.definitions.iter().map(|name| format!("`{name}`")).collect();
        names.join(" or ")
    }

    fn named(&self, one: bool) -> String {
        let names = self.names();
        match (&self.param, one) {
            (None, true) => format!("a key of {names}"),
            (None, false) => format!("keys of {names}"),
            (Some(param), true) => format!("a `{param}` of {names}"),
            (Some(param), false) => format!("`{param}` values of {names}"),
        }
    }
}

/// Why a reference does not resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unresolved {
    /// The value is not a key of the definition that it is declared to name
    NotAKey,
    /// There is a key of that name, of another definition or of another type
    Elsewhere,
    /// There is no such key
    Missing,
}

impl Unresolved {
    /// What is wrong with one value.
    pub fn describe(self, value: &str, target: &Target) -> String {
        match self {
            Unresolved::NotAKey => format!("`{value}` is not {}", target.named(true)),
            Unresolved::Elsewhere if target.param.is_some() => {
                format!("the key of `{value}` has another type")
            }
            Unresolved::Elsewhere => format!("`{value}` is a key of another definition or type"),
            Unresolved::Missing if target.param.is_some() => {
                format!("`{value}` is in no key of {}", target.names())
            }
            Unresolved::Missing => format!("`{value}` does not exist"),
        }
    }
}

/// Whether a value resolves. `fits`: it can be a key of the definition that it is declared to name; `found`: whether
/// the key of that name has the declared type, where there is one.
pub fn judge(fits: bool, found: Option<bool>) -> Result<(), Unresolved> {
    match (fits, found) {
        (true, Some(true)) => Ok(()),
        (_, Some(_)) => Err(Unresolved::Elsewhere),
        (true, None) => Err(Unresolved::Missing),
        (false, None) => Err(Unresolved::NotAKey),
    }
}

/// How many references do not resolve, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "exchange", derive(Serialize, Deserialize))]
pub struct UnresolvedCounts {
    /// Values that are not a key of the definition that they are declared to name
    pub not_a_key: u64,
    /// Values that name a key of another definition or type
    pub elsewhere: u64,
    /// Values that name a key that does not exist
    pub missing: u64,
}

impl UnresolvedCounts {
    /// Counts so many more.
    pub fn add(&mut self, why: Unresolved, count: u64) {
        let counted = match why {
            Unresolved::NotAKey => &mut self.not_a_key,
            Unresolved::Elsewhere => &mut self.elsewhere,
            Unresolved::Missing => &mut self.missing,
        };
        *counted = counted.saturating_add(count);
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.not_a_key.saturating_add(self.elsewhere).saturating_add(self.missing)
    }

    /// A sentence for each count that is not zero.
    pub fn describe(&self, target: &Target) -> Vec<String> {
        let said = |count: u64, one: String, many: String| match count {
            0 => None,
            1 => Some(format!("1 value {one}")),
            count => Some(format!("{} values {many}", thousands(count))),
        };
        let other = if target.param.is_some() { "type" } else { "definition or type" };
        let not = |verb: &str, one| format!("{verb} not {}", target.named(one));
        [
            said(self.not_a_key, not("is", true), not("are", false)),
            said(
                self.elsewhere,
                format!("names a key of another {other}"),
                format!("name keys of another {other}"),
            ),
            said(
                self.missing,
                "names a key that does not exist".to_owned(),
                "name keys that do not exist".to_owned(),
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn word(case: &Case<'_>) -> Wording {
    let (name, what) = (case.name(), case.subject.unwrap_or("a value"));
    Wording::new(format!("{what} of `{name}` does not resolve"))
        .help("a value that is not a key, or names another definition: correct the writer or the declaration")
        .help("a key that does not exist: remove its references when it is deleted or expires")
}
