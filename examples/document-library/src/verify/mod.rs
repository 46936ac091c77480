//! Checks a library: that all relations agree in both directions, and that nothing is left over.

mod document;
mod documents;
mod leftovers;

use crate::convention::check_cross_type_conflicts;
use crate::import::Labels;
use crate::kind::Kind;
use crate::query::{QueryError, placed};
use crate::server::Library;
use std::collections::{BTreeMap, HashMap};

/// How many findings are kept. Of more, only their number is known.
const KEPT: usize = 1000;

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many documents there are
    pub documents: usize,
    /// How many elements there are, with the documents
    pub elements: usize,
    /// What is wrong: a key, and what is wrong with it
    pub findings: Vec<(String, String)>,
    /// How many findings there are beyond those
    pub more: usize,
    /// Identifiers that several kinds have. That is allowed.
    pub notes: BTreeMap<String, Vec<Kind>>,
}

impl Report {
    fn find(&mut self, key: &str, what: impl Into<String>) {
        if self.findings.len() < KEPT {
            self.findings.push((key.to_owned(), what.into()));
        } else {
            self.more += 1;
        }
    }

    fn append(&mut self, other: Report) {
        for (key, what) in other.findings {
            self.find(&key, what);
        }
        self.more += other.more;
    }

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// The elements of all documents, each with its document's sets.
#[derive(Default)]
struct Known {
    /// Where the labels of its document are, by the name of the element
    elements: HashMap<String, usize>,
    labels: Vec<Labels>,
}

impl Known {
    fn labels_of(&self, name: &str) -> Option<&Labels> {
        self.elements.get(name).and_then(|at| self.labels.get(*at))
    }
}

/// Checks everything. A document that is being written is looked at again.
///
/// # Errors
/// If the server cannot be asked.
pub async fn verify(library: &Library) -> Result<Report, QueryError> {
    let mut report = Report::default();
    let mut known = Known::default();
    let mut order = documents::Order::default();
    loop {
        let some = placed(library, report.documents).await?;
        if some.is_empty() {
            break;
        }
        for (path, key) in some {
            document::check(library, &path, &key, &mut report, &mut known).await?;
            order.add(library, path, key, &mut report).await?;
            report.documents += 1;
        }
    }
    order.finish(library, &mut report).await?;
    report.elements = known.elements.len();
    leftovers::check(library, &known, &mut report).await?;
    let conflicts = check_cross_type_conflicts(known.elements.keys().map(String::as_str));
    report.notes = conflicts.into_iter().map(|(name, kinds)| (name.to_owned(), kinds)).collect();
    Ok(report)
}
