//! Where the definitions of a report are: on the same page, or on pages of their own.

use crate::render::subject::Subject;
use crate::report::Report;
use std::collections::{BTreeMap, BTreeSet};

/// Where the parts of a report are.
#[derive(Debug, Clone)]
pub struct Links {
    definitions: BTreeMap<(Option<String>, String), String>,
    /// Where unknown keys are listed
    pub unknown: String,
    /// Where keys of other software are listed
    pub foreign: String,
    /// Where everything is listed
    pub rest: String,
}

impl Links {
    /// All on one page, each with an id of its own.
    pub(super) fn on_one_page(report: &Report) -> Self {
        let mut taken = BTreeSet::new();
        let place = |_: Option<&str>, name: &str| {
            let plain =
                |char: char| if char.is_ascii_alphanumeric() || char == '_' { char } else { '-' };
            let slug: String = name.chars().map(plain).collect();
            let mut id = format!("#key-{slug}");
            while !taken.insert(id.clone()) {
                id.push('-');
            }
            id
        };
        let links = Links::new(report, place);
        let [unknown, foreign, rest] = ["#unknown", "#foreign", "#details"].map(str::to_owned);
        Links { unknown, foreign, rest, ..links }
    }

    /// Definitions, or groups where there is no schema, are where `place` says: it gets the name of the schema and
    /// of the definition. The other places are empty.
    pub fn new(report: &Report, mut place: impl FnMut(Option<&str>, &str) -> String) -> Self {
        let mut definitions = BTreeMap::new();
        for subject in Subject::all(report) {
            let (schema, name) = key(&subject);
            let href = place(schema.as_deref(), &name);
            definitions.insert((schema, name), href);
        }
        let [unknown, foreign, rest] = [const { String::new() }; 3];
        Links { definitions, unknown, foreign, rest }
    }

    /// Where a definition is.
    pub(super) fn of(&self, subject: &Subject<'_>) -> String {
        self.definitions.get(&key(subject)).cloned().unwrap_or_default()
    }

    /// Name and place of a definition.
    pub(super) fn find(
        &self,
        schema: Option<&str>,
        name: Option<&str>,
    ) -> Option<(String, String)> {
        let name = name?;
        let href = self.definitions.get(&(schema.map(str::to_owned), name.to_owned()))?;
        Some((name.to_owned(), href.clone()))
    }
}

fn key(subject: &Subject<'_>) -> (Option<String>, String) {
    (subject.definition.map(|it| it.schema.clone()), subject.name.to_owned())
}
