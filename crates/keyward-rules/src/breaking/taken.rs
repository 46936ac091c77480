//! Keys that belonged to one definition and belong to another one now.

use super::change::Change;
use keyward_pattern::prove::{self, Claim};
use keyward_schema::model::Definition;

/// A key that has changed hands.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    pub(crate) from: &'a Definition,
    pub(crate) by: &'a Definition,
    pub(crate) key: String,
}

/// All of them, one for each pair of definitions, and whether all were found. Only a definition that is new, or that
/// has other keys than before, can take a key.
pub(super) fn find<'a>(change: &Change<'a>) -> (Vec<Taken<'a>>, bool) {
    let (old, new) = (change.old, change.new);
    let mut changed = vec![true; new.keys.len()];
    let mut before: Vec<Option<usize>> = vec![None; new.keys.len()];
    for pair in &change.pairs {
        let (Some(from), Some(to)) =
            (old.compiled.find(&pair.old.name), new.compiled.find(&pair.new.name))
        else {
            continue;
        };
        changed[to.index()] = !pair.keys.same;
        before[to.index()] = Some(from.index());
    }
    if !changed.iter().any(|changed| *changed) {
        return (Vec::new(), true);
    }
    let found = prove::taken(&old.compiled, &new.compiled, |from, by| {
        changed[by.index()] && before[by.index()] != Some(from.index())
    });
    let mut taken = Vec::new();
    for overlap in found.overlaps {
        let (Claim::Definition(from), Claim::Definition(by)) = (overlap.first, overlap.second)
        else {
            continue;
        };
        let key = overlap.witness.as_bytes();
        let is_so =
            old.compiled.classify(key) == Some(from) && new.compiled.classify(key) == Some(by);
        let (from, by) = (&old.keys[from.index()], &new.keys[by.index()]);
        // What is gone is reported as that.
        if is_so && change.pair(&from.name).is_some() {
            taken.push(Taken { from, by, key: overlap.witness });
        }
    }
    (taken, found.complete)
}
