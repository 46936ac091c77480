//! What pages say about an audit and about schemas, in words: made once, and kept until there is another.

use super::frame::{At, render};
use crate::state::{Audited, Schemas};
use keyward_audit::render::{Links, Page};
use keyward_audit::report::Severity;
use keyward_docs::Options;
use minijinja::{Value, context};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// By server.
#[derive(Debug, Default)]
pub(crate) struct Known {
    audits: Mutex<BTreeMap<String, Arc<Words>>>,
    documents: Mutex<BTreeMap<String, Arc<Documents>>>,
}

/// An audit in words.
#[derive(Debug)]
pub(super) struct Words {
    of: Arc<Audited>,
    /// What templates are filled with
    pub(super) page: Value,
    /// `rows` and `empty` of the page, in this order
    pub(super) rows: Vec<Row>,
}

/// What rows are found by.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) schema: Option<String>,
    pub(super) name: String,
    pub(super) group: String,
    pub(super) owner: String,
    pub(super) lifecycle: String,
    pub(super) keys: u64,
    pub(super) bytes: u64,
    pub(super) errors: u64,
    pub(super) warnings: u64,
    /// Everything that a search looks at, in small letters
    pub(super) text: String,
}

/// Schemas in words.
#[derive(Debug)]
pub(super) struct Documents {
    of: Arc<Schemas>,
    /// One for each schema
    pub(super) each: Vec<Document>,
    /// Right and wrong names, made when they are first asked for
    pub(super) names: OnceLock<Value>,
}

/// A schema in words.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) name: String,
    /// The whole reference, as HTML
    pub(super) content: String,
    pub(super) words: Value,
    /// What templates show of each definition
    pub(super) definitions: HashMap<String, Value>,
    /// Name, group and right keys of each definition
    pub(super) examples: Vec<(String, Option<String>, Vec<String>)>,
    /// The shape of all keys, where the schema declares one
    pub(super) shape: Option<String>,
    /// How each owner can be reached
    pub(super) contacts: HashMap<String, String>,
}

impl Known {
    /// The last audit of a server.
    pub(super) fn words(&self, at: &At<'_>) -> Option<Arc<Words>> {
        let audit = at.current.audit.as_ref()?;
        let kept = lock(&self.audits).get(&at.server.name).cloned();
        if let Some(kept) = kept.filter(|kept| Arc::ptr_eq(&kept.of, audit)) {
            return Some(kept);
        }
        let made = Arc::new(Words::new(at, audit));
        lock(&self.audits).insert(at.server.name.clone(), made.clone());
        Some(made)
    }

    /// The schemas of a server.
    pub(super) fn documents(&self, at: &At<'_>) -> Arc<Documents> {
        let schemas = &at.current.schemas;
        let kept = lock(&self.documents).get(&at.server.name).cloned();
        if let Some(kept) = kept.filter(|kept| Arc::ptr_eq(&kept.of, schemas)) {
            return kept;
        }
        let each = schemas.each.iter().zip(&schemas.paths).map(|(schema, path)| {
            let command = format!("keyward docs {path}");
            let options = Options { source: path, command: &command, ..Options::default() };
            let document = Document::new(&keyward_docs::Page::new(schema, &options));
            Document { content: at.server.reach.scanning(&document.content), ..document }
        });
        let made = Arc::new(Documents {
            of: schemas.clone(),
            each: each.collect(),
            names: OnceLock::new(),
        });
        lock(&self.documents).insert(at.server.name.clone(), made.clone());
        made
    }
}

impl Words {
    fn new(at: &At<'_>, audit: &Arc<Audited>) -> Self {
        let report = &audit.report;
        let place = |schema: Option<&str>, name: &str| match schema {
            Some(schema) => at.definition(schema, name),
            None => format!("{}/definitions", at.base),
        };
        let mut links = Links::new(report, place);
        links.unknown = format!("{}/unknown", at.base);
        links.foreign = links.unknown.clone();
        links.rest = format!("{}/definitions", at.base);
        let page = Value::from_serialize(Page::new(report, &links));
        let mut found: HashMap<(&str, &str), [u64; 2]> = HashMap::new();
        for finding in &report.findings {
            let (Some(schema), Some(definition)) = (&finding.schema, &finding.definition) else {
                continue;
            };
            let place = usize::from(finding.severity == Severity::Warning);
            found.entry((schema, definition)).or_default()[place] += 1;
        }
        let definitions: HashMap<(&str, &str), _> =
            (report.definitions.iter()).map(|it| ((&*it.schema, &*it.name), it)).collect();
        let text = |row: &Value, name: &str| {
            let value = row.get_attr(name).ok();
            value.and_then(|it| it.as_str().map(str::to_owned))
        };
        let number = |row: &Value, name: &str| {
            let value = row.get_attr(name).ok();
            value.and_then(|it| u64::try_from(it).ok()).unwrap_or(0)
        };
        let lists = ["rows", "empty"].into_iter().filter_map(|list| page.get_attr(list).ok());
        let rows = lists.filter_map(|list| list.try_iter().ok()).flatten();
        let row = |row: Value| {
            let name = text(&row, "name").unwrap_or_default();
            let schema = text(&row, "schema");
            let place = (schema.as_deref().unwrap_or_default(), name.as_str());
            let definition = definitions.get(&place);
            let [errors, warnings] = found.get(&place).copied().unwrap_or_default();
            let of = |text: Option<&String>| text.cloned().unwrap_or_default();
            let group = of(definition.and_then(|it| it.group.as_ref()));
            let owner = of(definition.and_then(|it| it.owner.as_ref()));
            let pattern = definition.map_or(name.as_str(), |it| it.pattern.as_str());
            let lifecycle = definition.map(|it| it.lifecycle.clone()).unwrap_or_default();
            let text = format!("{name}\n{pattern}\n{group}\n{owner}\n{lifecycle}").to_lowercase();
            let own = row.get_attr("own").unwrap_or_default();
            let (keys, bytes) = (number(&own, "keys_number"), number(&own, "bytes_number"));
            Row { schema, name, group, owner, lifecycle, keys, bytes, errors, warnings, text }
        };
        let rows = rows.map(row).collect();
        Words { of: audit.clone(), page, rows }
    }
}

impl Document {
    fn new(page: &keyward_docs::Page) -> Self {
        let value = Value::from_serialize(page);
        let definitions = || page.groups.iter().flat_map(|group| &group.definitions);
        let contact = |owner: &keyward_docs::page::Owner| {
            let contact = owner.contact.as_ref()?;
            Some((owner.name.clone(), contact.line.plain()))
        };
        Document {
            name: page.keyspace.name.clone(),
            content: render("content.html", value.clone()).unwrap_or_default(),
            words: value.get_attr("words").unwrap_or_default(),
            definitions: definitions()
                .map(|it| (it.target.name.clone(), Value::from_serialize(it)))
                .collect(),
            examples: definitions()
                .map(|it| (it.target.name.clone(), it.group.clone(), it.examples.clone()))
                .collect(),
            shape: page.layout.as_ref().map(|it| it.shape.clone()),
            contacts: page.owners.iter().filter_map(contact).collect(),
        }
    }

    /// What the reference says about a definition, as HTML whose links lead to the reference.
    pub(super) fn card(&self, name: &str, reference: &str) -> Option<String> {
        let it = self.definitions.get(name)?;
        let page = context! { it => it, words => self.words };
        let html = render("documented.html", page).ok()?;
        // Quotes are escaped in all that a schema says, so that this is always a link of ours.
        Some(html.replace("href=\"#", &format!("href=\"{reference}#")))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
