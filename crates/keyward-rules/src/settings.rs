//! Which rules apply, and how: `[rules]`.

use crate::checklist;
use crate::rule::RuleOption;
use crate::rules::Rule;
use keyward_schema::diagnostic::Diagnostic;
use keyward_schema::model::{RuleSet, RuleSetting, Schema, Severity};
use keyward_schema::span::{Span, Spanned};
use std::collections::HashMap;

/// `[rules]`, with every name known.
#[derive(Debug)]
pub(crate) struct Settings<'a> {
    set: RuleSet,
    rules: HashMap<Rule, &'a RuleSetting>,
}

impl<'a> Settings<'a> {
    /// Reads `[rules]`; what it names and does not exist is refused.
    pub(crate) fn read(schema: &'a Schema, refused: &mut Vec<Diagnostic>) -> Self {
        let mut rules = HashMap::new();
        for (name, setting) in &schema.rules.rules {
            let Some(rule) = Rule::parse(name) else {
                refused.push(unknown(name));
                continue;
            };
            refused.extend(options_without_effect(rule, setting));
            rules.insert(rule, setting);
        }
        refused.extend(checklist::refused(schema));
        Settings { set: *schema.rules.set, rules }
    }

    /// How serious the rule's findings are; off if it does not apply.
    pub(crate) fn severity(&self, rule: Rule) -> Severity {
        match self.rules.get(&rule) {
            Some(setting) => setting.severity.unwrap_or(rule.severity()),
            None if rule.set().is_some_and(|set| set <= self.set) => rule.severity(),
            None => Severity::Off,
        }
    }

    /// What `[rules]` says about the rule.
    pub(crate) fn of(&self, rule: Rule) -> Option<&'a RuleSetting> {
        self.rules.get(&rule).copied()
    }
}

/// Refuses a rule's name that does not exist.
pub(crate) fn unknown(name: &Spanned<String>) -> Diagnostic {
    let refused = Diagnostic::schema(
        format!("there is no rule `{}`", name.value),
        name.span.clone(),
        "no such rule",
    );
    match Rule::nearest(name) {
        Some(nearest) => refused.help(format!("did you mean `{nearest}`?")),
        None => refused.help("`keyward rules` lists them"),
    }
}

fn options_without_effect(rule: Rule, setting: &RuleSetting) -> Vec<Diagnostic> {
    let given: [(RuleOption, Option<&Span>); 3] = [
        (RuleOption::Words, setting.words.first().map(|word| &word.span)),
        (RuleOption::Accept, setting.accept.first().map(|word| &word.span)),
        (RuleOption::Max, setting.max.as_ref().map(|max| &max.span)),
    ];
    let without_effect = given.into_iter().filter(|(option, _)| !rule.options().contains(option));
    without_effect
        .filter_map(|(option, span)| {
            let message = format!("the rule `{rule}` has no option `{}`", option.name());
            let refused = Diagnostic::schema(message, span?.clone(), "has no effect");
            Some(match rule.options() {
                [] => refused.help("only its severity can be set"),
                options => refused.help(format!("it has {}", list(options))),
            })
        })
        .collect()
}

fn list(options: &[RuleOption]) -> String {
    options.iter().map(|option| format!("`{}`", option.name())).collect::<Vec<_>>().join(" and ")
}
