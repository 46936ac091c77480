//! Rules that judge keys: which of them apply, and their messages.
//!
//! An audit measures: it counts the keys that break a rule, definition by definition. What breaks a
//! rule, its severity and its wording are in the rule's file.

use crate::allowing::accepted;
use crate::rule::Judges;
use crate::rules::Rule;
use crate::settings::Settings;
use keyward_schema::Diagnostic;
use keyward_schema::model::{Allow, Definition, Migration, Schema, Severity};

/// What [`Case::detail`] says of a parameter that holds an IPv6 address with its colons.
pub const RAW_IPV6: &str = "raw IPv6";

/// What a live rule is asked to put into words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Case<'a> {
    /// The name of the definition that the keys belong to
    pub definition: Option<&'a str>,
    /// A field, a parameter, a former name, an unknown pattern, a setting
    pub subject: Option<&'a str>,
    /// What was declared, or what is wrong with it
    pub detail: Option<&'a str>,
    /// The definition that was perhaps meant, or what was found instead
    pub near: Option<&'a str>,
}

impl Case<'_> {
    pub(crate) fn name(&self) -> &str {
        self.definition.unwrap_or("the keyspace")
    }
}

/// What a live rule says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wording {
    /// What is wrong, without numbers
    pub what: String,
    /// What to do next
    pub help: Vec<String>,
}

impl Wording {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Wording { what: what.into(), help: Vec::new() }
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

/// Which live rules apply to one schema.
///
/// ```
/// use keyward_rules::{Live, Rule};
/// use keyward_schema::{model::Severity, read};
///
/// let schema = read(r#"
/// version = 1
/// [keyspace]
/// name = "shop"
/// [rules]
/// ttl-missing = "warn"
/// [keys.cart]
/// pattern = "cart:{user_id:uint}"
/// ttl = "7d"
/// allow = [{ rule = "wrong-type", reason = "both are read" }]
/// "#).schema.expect("a schema without errors");
///
/// let live = Live::new(&schema);
/// let cart = &schema.keys[0];
/// assert_eq!(live.severity(Rule::TtlMissing, Some(cart)), Severity::Warn);
/// assert_eq!(live.severity(Rule::WrongType, Some(cart)), Severity::Off);
/// ```
#[derive(Debug)]
pub struct Live<'s> {
    schema: &'s Schema,
    settings: Settings<'s>,
}

impl<'s> Live<'s> {
    /// Reads `[rules]`. Names of rules that do not exist are the matter of [`check`](crate::check).
    pub fn new(schema: &'s Schema) -> Self {
        let mut refused: Vec<Diagnostic> = Vec::new();
        Live { schema, settings: Settings::read(schema, &mut refused) }
    }

    /// How serious a rule's findings about a definition are; off if the rule does not apply, or where
    /// an `allow` accepts them.
    pub fn severity(&self, rule: Rule, definition: Option<&Definition>) -> Severity {
        self.weighed(rule, definition.map_or(&[], |definition| &definition.allow))
    }

    /// The same for a definition's former name, which its migration may accept too.
    pub fn severity_of_old(
        &self,
        rule: Rule,
        definition: Option<&Definition>,
        migration: &Migration,
    ) -> Severity {
        match self.weighed(rule, &migration.allow) {
            Severity::Off => Severity::Off,
            _ => self.severity(rule, definition),
        }
    }

    fn weighed(&self, rule: Rule, list: &[Allow]) -> Severity {
        let allowed = accepted(rule, list) || accepted(rule, &self.schema.allow);
        if allowed || !rule.is_live() { Severity::Off } else { self.settings.severity(rule) }
    }
}

/// What a live rule says about a case.
///
/// # Panics
/// If the rule judges schemas, not keys.
pub fn word(rule: Rule, case: &Case<'_>) -> Wording {
    match rule.declaration().judges {
        Judges::Keys(word) => word(case),
        Judges::Schema(_) | Judges::Schemas(..) | Judges::Change(_) => {
            panic!("`{rule}` is not a live rule")
        }
    }
}
