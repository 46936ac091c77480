//! Keys that belonged to one definition and belong to another one now.

use super::change::{Change, Compared};
use keyward_pattern::prove::{self, Claim, Uncompared};
use keyward_schema::model::Definition;

/// A key that has changed hands.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    pub(crate) from: &'a Definition,
    pub(crate) by: &'a Definition,
    pub(crate) key: String,
}

/// All of them, one for each pair of definitions, and whether all were found. A key changes hands only where the
/// definition that had it or the one that has it is new, or has other keys than before.
pub(super) fn find<'a>(change: &Change<'a>, compared: &Compared<'a>) -> (Vec<Taken<'a>>, bool) {
    let (old, new) = (change.old, change.new);
    let mut is_other = vec![false; old.keys.len()];
    let mut has_other = vec![true; new.keys.len()];
    let mut before: Vec<Option<usize>> = vec![None; new.keys.len()];
    for pair in &change.pairs {
        let (Some(from), Some(to)) =
            (old.compiled.find(&pair.old.name), new.compiled.find(&pair.new.name))
        else {
            continue;
        };
        is_other[from.index()] = !pair.keys.same;
        has_other[to.index()] = !pair.keys.same;
        before[to.index()] = Some(from.index());
    }
    if !has_other.iter().chain(&is_other).any(|it| *it) {
        return (Vec::new(), true);
    }
    let found = prove::taken(&old.compiled, &new.compiled, |from, by| {
        (is_other[from.index()] || has_other[by.index()])
            && before[by.index()] != Some(from.index())
    });
    let mut complete = found.complete && compared.is_complete();
    let mut taken = Vec::new();
    for overlap in found.overlaps {
        let (Claim::Definition(from), Claim::Definition(by)) = (overlap.first, overlap.second)
        else {
            continue;
        };
        let (from, by) = (&old.keys[from.index()], &new.keys[by.index()]);
        // What is gone is reported as that.
        let Some(pair) = change.pair(&from.name) else { continue };
        // Of a definition that stays as it is, what others lose to it is reported as lost.
        let by_id = new.compiled.find(&by.name);
        let still = by_id.is_some_and(|id| !has_other[id.index()]).then_some(pair.new);
        // It is the narrower one of the two as before, however many others there are.
        if (pair.keys.same || still.is_some()) && compared.takes_from(pair.new, by) {
            continue;
        }
        match key_of_both(compared, from, by, still) {
            Ok(Some(key)) => taken.push(Taken { from, by, key }),
            Ok(None) => {}
            Err(Uncompared) => complete = false,
        }
    }
    (taken, complete)
}

/// A key that belonged to the one definition and belongs to the other one. The key that was found first may be a
/// third one's: their patterns have it.
fn key_of_both(
    compared: &Compared<'_>,
    from: &Definition,
    by: &Definition,
    still: Option<&Definition>,
) -> Result<Option<String>, Uncompared> {
    let (Some(before), Some(after)) = (compared.before(from)?, compared.after(by)?) else {
        return Ok(None);
    };
    match still.map(|still| compared.after(still)).transpose()?.flatten() {
        Some(pattern) => before.common_within(&after, &pattern),
        None => before.common(&after),
    }
}
