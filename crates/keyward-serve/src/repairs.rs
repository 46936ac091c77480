//! Which findings `keyward plan fix` repairs, so that it is offered for no other.

use keyward_audit::Report;
use keyward_audit::report::Finding;
use keyward_plan::repairable;
use keyward_rules::Rule;
use keyward_schema::Schema;
use keyward_schema::model::Date;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is repaired of what an audit found.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    /// Rule, keyspace and definition
    defined: HashSet<(Rule, String, String)>,
    /// Unknown patterns whose keys are misspelt keys of a definition, with its keyspace
    misspelt: HashMap<String, String>,
}

impl Repairs {
    pub(crate) fn new(schemas: &[Schema], report: &Report, today: Date) -> Self {
        let mut repairs = Repairs::default();
        let rules: BTreeSet<&str> = report.findings.iter().map(|it| it.rule.name()).collect();
        for rule in Rule::REPAIRED.into_iter().filter(|it| rules.contains(it.name())) {
            for schema in schemas {
                let keyspace = &schema.keyspace.name.value;
                let names = repairable(schema, rule, today).into_iter();
                repairs.defined.extend(names.map(|name| (rule, keyspace.clone(), name)));
            }
        }
        for group in &report.unknown {
            if let Some(near) = &group.nearest
                && repairs.has(Rule::UnknownKey, &near.schema, &near.definition)
            {
                repairs.misspelt.insert(group.pattern.to_string(), near.schema.clone());
            }
        }
        repairs
    }

    /// The rule to name to `plan fix` and the keyspace, if it repairs the finding.
    pub(crate) fn rule<'f>(&'f self, finding: &'f Finding) -> Option<(&'static str, &'f str)> {
        let schema = match (finding.rule, &finding.schema, &finding.definition) {
            (Rule::UnknownKey, ..) => self.misspelt.get(finding.subject.as_ref()?),
            (rule, Some(schema), Some(definition)) => {
                self.has(rule, schema, definition).then_some(schema)
            }
            _ => None,
        };
        schema.map(|schema| (finding.rule.name(), schema.as_str()))
    }

    fn has(&self, rule: Rule, schema: &str, definition: &str) -> bool {
        self.defined.contains(&(rule, schema.to_owned(), definition.to_owned()))
    }
}
