//! What this process knows about numbers in keys, so that it need not ask for each of them.
//!
//! The server finds the first free number of a name. Hundreds of elements with one name would make it look at hundreds of
//! keys for each new one, so a process remembers where to begin.

use crate::keyspace::{self, ElementKey};
use crate::kind::Kind;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Names with fewer elements are not remembered: the server looks at these few keys.
const MANY: u16 = 8;

/// The last number of each name that many elements have. Cloning is cheap, and gives the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers(Arc<Mutex<[HashMap<String, u16>; Kind::ALL.len()]>>);

impl Numbers {
    /// The last number that is known to be taken, with all below it; 0 if none is.
    pub(crate) fn last(&self, kind: Kind, identifier: &str) -> u16 {
        self.lock()[kind as usize].get(identifier).copied().unwrap_or(0)
    }

    /// An element has this number, and all below it are taken.
    pub(crate) fn given(&self, kind: Kind, identifier: &str, number: u16) {
        if number < MANY {
            return;
        }
        let names = &mut self.lock()[kind as usize];
        match names.get_mut(identifier) {
            Some(last) => *last = number.max(*last),
            None => _ = names.insert(identifier.to_owned(), number),
        }
    }

    /// An element is gone, and its number is free again.
    pub(crate) fn freed(&self, key: &ElementKey) {
        let names = &mut self.lock()[keyspace::kind(key) as usize];
        if let Some(last) = names.get_mut(keyspace::identifier(key)) {
            *last = (*last).min(keyspace::number(key) - 1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, [HashMap<String, u16>; Kind::ALL.len()]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
