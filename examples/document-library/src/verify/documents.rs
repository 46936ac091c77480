//! The order of documents, which is that of their paths.

use super::Report;
use crate::import::reach;
use crate::import::stored::members;
use crate::keyspace::{self, ElementKey};
use crate::query::{QueryError, source_document};
use crate::server::Library;
use std::collections::{HashSet, VecDeque};

/// The documents around one, so that each can be compared with its neighbours in bounded memory.
#[derive(Default)]
pub(super) struct Order {
    window: VecDeque<(String, ElementKey)>,
    /// The place in the window of the next one to check
    next: usize,
}

impl Order {
    pub(super) async fn add(
        &mut self,
        library: &Library,
        path: String,
        key: ElementKey,
        report: &mut Report,
    ) -> Result<(), QueryError> {
        self.window.push_back((path, key));
        if self.window.len() > self.next + reach() {
            self.check_next(library, report).await?;
        }
        Ok(())
    }

    pub(super) async fn finish(
        &mut self,
        library: &Library,
        report: &mut Report,
    ) -> Result<(), QueryError> {
        while self.next < self.window.len() {
            self.check_next(library, report).await?;
        }
        Ok(())
    }

    async fn check_next(
        &mut self,
        library: &Library,
        report: &mut Report,
    ) -> Result<(), QueryError> {
        let at = self.next;
        let name = |at: usize| self.window.get(at).map(|(_, key)| keyspace::text(key));
        if let Some((path, key)) = self.window.get(at) {
            let mut all = redis::pipe();
            all.get(keyspace::next(key)).get(keyspace::previous(key)).get(source_document(path)?);
            let (next, previous, own): (Option<String>, Option<String>, Option<String>) =
                library.ask_all(&all).await?;
            let siblings = members(library, &keyspace::siblings(key)).await?;
            let siblings: HashSet<String> = siblings.iter().map(keyspace::text).collect();
            let text = keyspace::text(key);
            if own.as_ref() == Some(&text) {
                if next != name(at + 1) {
                    report.find(&keyspace::next(key), "it is not the next document by path");
                }
                if previous != at.checked_sub(1).and_then(name) {
                    report
                        .find(&keyspace::previous(key), "it is not the previous document by path");
                }
                let near = at.saturating_sub(reach())..self.window.len().min(at + reach() + 1);
                let near: HashSet<String> = near.filter(|it| *it != at).filter_map(name).collect();
                if siblings != near {
                    report.find(&keyspace::siblings(key), "these are not the documents around it");
                }
            }
        }
        if at > reach() {
            self.window.pop_front();
        } else {
            self.next += 1;
        }
        Ok(())
    }
}
