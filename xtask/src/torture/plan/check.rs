//! What must hold of every key in each phase.
//!
//! Nothing that was acknowledged is lost, and names that must agree do. Where a failover or a killed server may lose the
//! last writes, less can be claimed: names are compared with each other all the same, what is there must have been asked
//! for at some time, and what a replica had confirmed must be there or something later.

use super::super::client::number;
use super::super::history::{History, Kind, Verdict};
use std::collections::{HashMap, HashSet};

/// What may be there of a key.
struct Expected {
    /// The last value that was acknowledged, and those that were asked for since
    values: Vec<String>,
    /// The same from the last one that a replica has confirmed
    kept: Option<Vec<String>>,
    /// All that were ever asked for
    all: HashSet<String>,
    /// For a counter: how often it was asked to count, and how often it said that it did
    counted: Option<[u64; 2]>,
}

impl Default for Expected {
    fn default() -> Self {
        let gone = "gone".to_owned();
        Expected { values: vec![gone.clone()], kept: None, all: [gone].into(), counted: None }
    }
}

impl Expected {
    fn note(&mut self, said: &str, value: &str) {
        if value == "+" {
            let [asked, done] = self.counted.get_or_insert_default();
            *(if said == "ask" { asked } else { done }) += 1;
            return;
        }
        match said {
            "ask" => {
                self.values.push(value.to_owned());
                self.kept.iter_mut().for_each(|it| it.push(value.to_owned()));
                self.all.insert(value.to_owned());
            }
            "kept" => self.kept = Some(vec![value.to_owned()]),
            _ => self.values = vec![value.to_owned()],
        }
    }

    /// Whether a key may hold this.
    fn allows(&self, value: &str, may_lose: bool) -> bool {
        if let Some([asked, done]) = self.counted {
            let count = if value == "gone" { 0 } else { number(value) };
            return count <= asked && (may_lose || count >= done);
        }
        match &self.kept {
            _ if !may_lose => self.values.iter().any(|it| it == value),
            Some(kept) => kept.iter().any(|it| it == value),
            None => self.all.contains(value),
        }
    }
}

/// A value and when it ends.
type Found<'h> = HashMap<(&'h str, String), (&'h str, u64)>;

pub(super) fn check(history: &History) -> Verdict {
    let mut verdict = Verdict { interrupted: interrupted(history), ..Verdict::default() };
    let mut expected: HashMap<String, Expected> = HashMap::new();
    for line in history.clients.iter().flatten() {
        let words: Vec<&str> = line.split(' ').collect();
        let [said, what, own, id, value] = words.as_slice() else { continue };
        verdict.operations += usize::from(*said == "ask");
        expected.entry(format!("{what}:{own}:{id}")).or_default().note(said, value);
    }
    let mut found: Found<'_> = HashMap::new();
    let mut phases: Vec<&str> = Vec::new();
    for line in &history.last {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["key", phase, name, value, ends] => {
                let ends = if *ends == "-1" { u64::MAX } else { number(ends) };
                // A hash tag is a part of the name, and not of what clients say of it.
                let name = name.replace(['{', '}'], "");
                found.insert((phase, name), (value, ends));
            }
            ["end", phase] => phases.push(phase),
            _ => {}
        }
    }
    if phases.last() != Some(&"cleanup") {
        verdict.violation("the last phase was not reached");
    }
    // A replica that takes over may not have the last writes of its primary.
    let may_lose = history.faults.iter().any(|fault| fault.kind == Kind::FailOver)
        || !history.is_durable && history.faults.iter().any(|it| it.kind == Kind::RestartServer);
    for (old, it) in &expected {
        for phase in &phases {
            // Writers were in the first of the phases. Their counters have both names in one slot everywhere, and stores
            // do not know the old name of cards.
            let is_card = old.starts_with("Card:");
            let is_apart = is_foreign(old) || is_card || history.is_cluster && it.counted.is_none();
            let lags = *phase == "read-fallback" && phases[0] == *phase && is_apart;
            let said = judge(phase, old, &found, it, lags, may_lose);
            for what in said {
                verdict.violation(what);
            }
        }
    }
    verdict.remarks.push(format!("{} keys", expected.len()));
    verdict
}

/// What is wrong with one key in one phase. In `read-fallback` the new name counts: a program of the next phase writes it
/// alone, and on a cluster it is written first, so that a writer that was killed between two slots leaves the old name
/// behind it. The old name then lags, but is never alone.
fn judge(
    phase: &str,
    old: &str,
    found: &Found<'_>,
    expected: &Expected,
    lags: bool,
    may_lose: bool,
) -> Vec<String> {
    let new = format!("arena:{}", old.to_lowercase());
    let at = |name: &str| found.get(&(phase, name.to_owned()));
    let (one, other) = (at(old), at(&new));
    let mut said = Vec::new();
    match phase {
        "cleanup" if one.is_some() => said.push(format!("{old} is still there in {phase}")),
        "cleanup" => {}
        _ if lags && one.is_some() && other.is_none() => {
            said.push(format!("{phase}: {old} is {one:?}, and {new} is not there"));
        }
        _ if !lags && one != other => {
            said.push(format!("{phase}: {old} is {one:?}, {new} is {other:?}"));
        }
        _ => {}
    }
    let value = other.map_or("gone", |(value, _)| value);
    if !expected.allows(value, may_lose) {
        let Expected { values, kept, counted, .. } = expected;
        said.push(format!(
            "{phase}: {new} is {value}, and could be {values:?} {kept:?} {counted:?}"
        ));
    }
    said
}

/// Whether a program without a store writes the key.
fn is_foreign(name: &str) -> bool {
    name.rsplit(':').next().is_some_and(|id| number(id) >= 90)
}

/// How many clients were killed while they applied a plan.
fn interrupted(history: &History) -> usize {
    let killed = history.faults.iter().filter(|it| it.kind == Kind::KillClient);
    let lines = killed.filter_map(|it| history.clients.get(it.client?));
    lines
        .filter(|lines| {
            let last = lines.iter().rev().find(|line| line.starts_with("plan "));
            last.is_some_and(|line| line == "plan begins")
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::super::super::history::Fault;
    use super::*;

    fn history(clients: &[&str], last: &[&str]) -> History {
        let lines = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let (clients, last) = (vec![lines(clients)], lines(last));
        History { clients, last, is_durable: true, ..History::default() }
    }

    fn violations(clients: &[&str], last: &[&str]) -> usize {
        check(&history(clients, last)).violations.len()
    }

    fn after_a_failover(clients: &[&str], last: &[&str]) -> usize {
        let fault = Fault { kind: Kind::FailOver, client: None, from: 0, to: 1 };
        let faults = vec![fault];
        check(&History { faults, is_cluster: true, ..history(clients, last) }).violations.len()
    }

    const WROTE: [&str; 3] = ["ask Account 1 2 3", "done Account 1 2 3", "ask Account 1 2 4"];
    const FINE: [&str; 5] = [
        "key dual-write Account:1:2 4 9",
        "key dual-write arena:account:1:2 4 9",
        "end dual-write",
        "key cleanup arena:account:1:2 4 9",
        "end cleanup",
    ];

    fn replaced(from: &str, to: &str) -> Vec<String> {
        FINE.iter().map(|line| line.replacen(from, to, 1)).collect()
    }

    fn lines(lines: &[String]) -> Vec<&str> {
        lines.iter().map(String::as_str).collect()
    }

    #[test]
    fn a_key_is_under_the_names_of_its_phase_with_its_last_value() {
        assert_eq!(violations(&WROTE, &FINE), 0);
        let of = |last: Vec<String>| violations(&WROTE, &lines(&last));
        assert!(of(replaced("Account:1:2 4", "Account:1:2 2")) > 0, "the names differ");
        assert!(
            of(replaced("arena:account:1:2 4 9", "arena:account:1:2 4 8")) > 0,
            "their ends differ"
        );
        assert!(of(replaced("key cleanup arena:a", "key cleanup A")) > 0, "an old name is left");
        assert!(of(FINE.iter().map(|line| line.replace(" 4 9", " 2 9")).collect()) > 0, "lost");
        assert!(violations(&WROTE, &FINE[..3]) > 0, "the end was not reached");
        let gone = ["end dual-write", "end cleanup"];
        assert!(violations(&WROTE, &gone) > 0, "an acknowledged value is gone");
    }

    #[test]
    fn after_a_failover_names_agree_and_hold_what_was_asked_for_at_some_time() {
        let gone = ["end dual-write", "end cleanup"];
        assert_eq!(after_a_failover(&WROTE, &gone), 0, "the last write may be lost");
        assert_eq!(after_a_failover(&WROTE, &FINE), 0);
        let differ = replaced("Account:1:2 4", "Account:1:2 3");
        assert!(after_a_failover(&WROTE, &lines(&differ)) > 0, "the names differ");
        let unknown: Vec<String> = FINE.iter().map(|line| line.replace(" 4 9", " 7 9")).collect();
        assert!(after_a_failover(&WROTE, &lines(&unknown)) > 0, "nobody wrote it");
        let alone = ["key read-fallback Account:1:2 4 9", "end read-fallback", "end cleanup"];
        assert!(after_a_failover(&WROTE, &alone) > 0, "the old name is alone");
    }

    #[test]
    fn what_a_replica_has_confirmed_outlives_a_failover() {
        let kept = ["ask Account 1 2 3", "kept Account 1 2 3", "ask Account 1 2 4"];
        assert_eq!(after_a_failover(&kept, &FINE), 0);
        assert!(after_a_failover(&kept, &["end dual-write", "end cleanup"]) > 0);
    }

    #[test]
    fn a_counter_has_counted_what_it_acknowledged_and_no_more_than_it_was_asked_for() {
        let wrote = ["ask Visits 1 2 +", "done Visits 1 2 +", "ask Visits 1 2 +"];
        let holds = |count: u64| format!("key cleanup arena:visits:{{1}}:2 {count} 9");
        for (count, is_fine) in [(0, false), (1, true), (2, true), (3, false)] {
            let found = violations(&wrote, &[&holds(count), "end cleanup"]);
            assert_eq!(found == 0, is_fine, "{count}");
        }
        assert!(violations(&wrote, &["end cleanup"]) > 0);
    }

    #[test]
    fn only_a_plan_that_was_killed_before_its_end_counts_as_interrupted() {
        let killed = Fault { kind: Kind::KillClient, client: Some(0), from: 0, to: 1 };
        let of = |lines: &[&str]| {
            let history = History { faults: vec![killed.clone()], ..history(lines, &[]) };
            check(&history).interrupted
        };
        assert_eq!(of(&["plan begins", "ask Account 1 2 3"]), 1);
        assert_eq!(of(&["plan begins", "plan ends", "ask Account 1 2 3"]), 0);
    }
}
