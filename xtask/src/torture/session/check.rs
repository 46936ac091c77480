//! What must never be in a history of sessions and tokens.

use super::super::client::number;
use super::super::history::{History, Kind, Micros, Verdict};
use super::super::spans::Spans;
use std::collections::{BTreeMap, HashMap};

/// A use that succeeded.
struct Use<'h> {
    lineage: u64,
    id: &'h str,
    begin: Micros,
    end: Micros,
}

/// What is known of all sessions and tokens.
#[derive(Default)]
struct Seen<'h> {
    uses: Vec<Use<'h>>,
    /// The user of each lineage
    users: HashMap<u64, u64>,
    /// When each lineage is known to have been there, and when it was made at the earliest
    there: HashMap<u64, (Micros, Micros)>,
    /// When the revocation of an id, and of a lineage that was live then, had returned
    ids: HashMap<&'h str, Micros>,
    lineages: HashMap<u64, Micros>,
    /// The calls that revoked all sessions of a user
    everywhere: BTreeMap<u64, Vec<(Micros, Micros)>>,
    /// When families were issued, and when they had ended
    issued: HashMap<u64, Micros>,
    ended: HashMap<u64, Micros>,
    /// The family, begin and end of uses of a token
    valid: Vec<(u64, Micros, Micros)>,
    successors: HashMap<&'h str, (u64, &'h str, Micros)>,
    taken: HashMap<u64, Micros>,
}

pub(super) fn check(history: &History) -> Verdict {
    let mut judge = Judge {
        losses: Spans::new(history.losses()),
        forgotten: Spans::new(forgotten(history)),
        verdict: Verdict::default(),
        excused: 0,
    };
    let mut seen = Seen::default();
    for line in history.clients.iter().flatten() {
        judge.verdict.operations += 1;
        let words: Vec<&str> = line.split(' ').collect();
        seen.read(&words, &mut judge);
    }
    for (user, calls) in std::mem::take(&mut seen.everywhere) {
        judge.revoked_everywhere(user, &Spans::new(calls), &seen);
    }
    for it in &seen.uses {
        let Use { lineage, id, begin, .. } = *it;
        let since = seen.there.get(&lineage).map_or(begin, |(_, made)| *made);
        if seen.ids.get(id).is_some_and(|revoked| *revoked < begin) {
            judge.found(
                (since, it.end),
                false,
                format!("`{id}` was used at {begin}, after it was revoked"),
            );
        } else if seen.lineages.get(&lineage).is_some_and(|revoked| *revoked < begin) {
            judge.found(
                (since, it.end),
                false,
                format!("{lineage} was used as `{id}` at {begin}, after it was revoked"),
            );
        }
    }
    for (family, begin, end) in &seen.valid {
        let since = seen.issued.get(family).copied().unwrap_or(*begin);
        if seen.ended.get(family).is_some_and(|ended| ended < begin) {
            judge.found(
                (since, *end),
                true,
                format!("a token of {family} was used at {begin}, after it had ended"),
            );
        }
    }
    for line in history.last.iter().filter(|line| line.starts_with("stays ")) {
        judge.verdict.violation(format_args!("after all sessions were revoked: {line}"));
    }
    judge.verdict.remarks.push(format!("{} excused by what a server has lost", judge.excused));
    judge.verdict
}

/// What an eviction has removed, and the sessions that it has left are not known without.
fn forgotten(history: &History) -> Vec<(Micros, Micros)> {
    let evicted = history.faults.iter().filter(|fault| fault.kind == Kind::Evict);
    evicted.map(|fault| (fault.from, fault.to)).collect()
}

struct Judge {
    losses: Spans,
    forgotten: Spans,
    verdict: Verdict,
    excused: usize,
}

impl Judge {
    /// Something that must not be. It is excused if a server has lost writes in that span; or, where it `needs` keys that
    /// stand beside others, if some were evicted.
    fn found(&mut self, (from, to): (Micros, Micros), needs: bool, what: String) {
        let touches = |spans: &Spans| spans.latest_end(to) >= from;
        if touches(&self.losses) || needs && touches(&self.forgotten) {
            self.excused += 1;
        } else {
            self.verdict.violation(what);
        }
    }

    fn revoked_everywhere(&mut self, user: u64, calls: &Spans, seen: &Seen<'_>) {
        for it in seen.uses.iter().filter(|it| seen.users.get(&it.lineage) == Some(&user)) {
            let Some((there, made)) = seen.there.get(&it.lineage) else { continue };
            if calls.lies_between(*there, it.begin) {
                let (id, begin) = (it.id, it.begin);
                let what = format!(
                    "`{id}` was used at {begin}, after all sessions of {user} were revoked"
                );
                self.found((*made, it.end), true, what);
            }
        }
    }
}

impl<'h> Seen<'h> {
    fn read(&mut self, words: &[&'h str], judge: &mut Judge) {
        match *words {
            ["made", lineage, user, begin, end] => {
                self.users.insert(number(lineage), number(user));
                self.is_there(number(lineage), number(begin), number(end));
            }
            ["used", lineage, id, begin, end] => {
                let (lineage, begin, end) = (number(lineage), number(begin), number(end));
                self.uses.push(Use { lineage, id, begin, end });
            }
            ["revoked", lineage, id, live, _, end] => {
                earliest(&mut self.ids, id, number(end));
                if live == "1" {
                    earliest(&mut self.lineages, number(lineage), number(end));
                }
            }
            ["revoked_all", user, begin, end] => {
                self.everywhere.entry(number(user)).or_default().push((number(begin), number(end)));
            }
            ["issued", family, begin] => _ = self.issued.insert(number(family), number(begin)),
            ["ended", family, _, end] => earliest(&mut self.ended, number(family), number(end)),
            ["valid", family, begin, end] => {
                self.valid.push((number(family), number(begin), number(end)));
            }
            ["refreshed", family, old, new, begin, end] => {
                let (family, begin, end) = (number(family), number(begin), number(end));
                self.valid.push((family, begin, end));
                let (_, first, since) = *self.successors.entry(old).or_insert((family, new, begin));
                if first != new {
                    let what =
                        format!("`{old}` was exchanged for `{first}` and for `{new}` at {begin}");
                    judge.found((since.min(begin), end.max(since)), false, what);
                }
            }
            ["taken", state, begin, end] => {
                let (state, begin, end) = (number(state), number(begin), number(end));
                if let Some(before) = self.taken.insert(state, begin) {
                    let what = format!("{state} was taken at {before} and at {begin}");
                    judge.found((before.min(begin), end.max(before)), false, what);
                }
            }
            _ => {}
        }
    }

    fn is_there(&mut self, lineage: u64, begin: Micros, end: Micros) {
        self.there.insert(lineage, (end, begin));
    }
}

fn earliest<K: std::hash::Hash + Eq>(all: &mut HashMap<K, Micros>, key: K, end: Micros) {
    all.entry(key).and_modify(|known| *known = end.min(*known)).or_insert(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::history::Fault;

    fn judged(lines: &[&str], fault: Option<Kind>) -> usize {
        let faults = fault.map(|kind| Fault { kind, client: None, from: 30, to: 31 });
        let history = History {
            clients: vec![lines.iter().map(|line| (*line).to_owned()).collect()],
            faults: faults.into_iter().collect(),
            is_durable: true,
            ..History::default()
        };
        check(&history).violations.len()
    }

    fn found(lines: &[&str]) -> usize {
        judged(lines, None)
    }

    #[test]
    fn a_session_that_is_used_after_its_revocation_is_found() {
        let made = "made 7 1 10 12";
        assert_eq!(found(&[made, "used 7 a 20 21", "revoked 7 a 1 22 25"]), 0);
        assert_eq!(found(&[made, "revoked 7 a 1 22 25", "used 7 a 24 29"]), 0, "it began before");
        assert_eq!(found(&[made, "revoked 7 a 1 22 25", "used 7 a 26 29"]), 1);
        assert_eq!(found(&[made, "revoked 7 a 1 22 25", "used 7 b 26 29"]), 1, "under another id");
        // It had another id by then.
        assert_eq!(found(&[made, "revoked 7 a 0 22 25", "used 7 b 26 29"]), 0);
        assert_eq!(found(&[made, "revoked 7 a 0 22 25", "used 7 a 26 29"]), 1);
        assert_eq!(
            judged(&[made, "revoked 7 a 1 22 25", "used 7 a 26 40"], Some(Kind::FailOver)),
            0
        );
        assert_eq!(judged(&[made, "revoked 7 a 1 22 25", "used 7 a 26 40"], Some(Kind::Evict)), 1);
    }

    #[test]
    fn a_session_that_outlives_the_revocation_of_all_is_found() {
        let lines = ["made 7 1 10 12", "revoked_all 1 15 20", "used 7 b 21 40"];
        assert_eq!(found(&lines), 1);
        assert_eq!(judged(&lines, Some(Kind::Evict)), 0, "its index may be gone");
        assert_eq!(judged(&lines, Some(Kind::Flush)), 1);
        assert_eq!(found(&["made 7 1 10 12", "revoked_all 2 15 20", "used 7 b 21 22"]), 0);
        assert_eq!(found(&["made 7 1 10 16", "revoked_all 1 15 20", "used 7 b 21 22"]), 0);
        assert_eq!(found(&["made 7 1 10 12", "revoked_all 1 15 20", "used 7 b 19 22"]), 0);
    }

    #[test]
    fn tokens_of_a_family_that_has_ended_are_found() {
        assert_eq!(found(&["issued 3 5", "ended 3 10 15", "valid 3 16 17"]), 1);
        assert_eq!(found(&["issued 3 5", "ended 3 10 15", "refreshed 3 a b 16 17"]), 1);
        assert_eq!(found(&["issued 3 5", "ended 3 10 15", "valid 3 14 17", "valid 4 16 17"]), 0);
    }

    #[test]
    fn a_token_with_two_successors_or_two_takers_is_found() {
        assert_eq!(found(&["refreshed 3 a b 1 2", "refreshed 3 a b 3 4"]), 0);
        assert_eq!(found(&["refreshed 3 a b 1 2", "refreshed 3 a c 3 4"]), 1);
        assert_eq!(found(&["taken 1 1 2", "taken 2 1 2"]), 0);
        assert_eq!(found(&["taken 1 1 2", "taken 1 3 4"]), 1);
    }

    #[test]
    fn who_stays_after_all_is_found() {
        let last = vec!["out 1".to_owned(), "stays 2 (Ok(1), Ok(1))".to_owned()];
        assert_eq!(check(&History { last, ..History::default() }).violations.len(), 1);
    }
}
