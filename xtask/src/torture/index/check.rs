//! What must never be in a history of an index.

use super::super::client::number;
use super::super::history::{History, Kind, Micros, Verdict};
use super::super::spans::Spans;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How long a change may still happen whose answer was lost: longer than any fault.
const LATE: Micros = 10_000_000;
const NEVER: Micros = Micros::MAX;

type Pair = (u64, u64);

/// The changes of one article under one word.
#[derive(Debug, Default)]
struct Changes {
    /// Acknowledged, and those that may have happened
    put: Vec<(Micros, Micros)>,
    maybe_put: Vec<(Micros, Micros)>,
    removed: Vec<(Micros, Micros)>,
    maybe_removed: Vec<(Micros, Micros)>,
}

/// A change that was begun.
struct Begun<'h> {
    article: u64,
    gains: &'h str,
    loses: &'h str,
    begin: Micros,
}

pub(super) fn check(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let changes = changes(history, &mut verdict);
    let expected = Expected::new(history, changes);
    let mut searches = 0;
    for line in history.clients.iter().flatten() {
        let words: Vec<&str> = line.split(' ').collect();
        let ["found", what, asked, begin, end, found] = words.as_slice() else { continue };
        searches += 1;
        let (asked, found): (Vec<u64>, BTreeSet<u64>) =
            (numbers(asked).collect(), numbers(found).collect());
        let (begin, end) = (number(begin), number(end));
        for article in expected.articles.iter().filter(|article| !found.contains(article)) {
            let is_there = |word: &u64| expected.is_there((*article, *word), begin, end);
            let missed = match *what {
                "all" => asked.iter().all(is_there),
                _ => asked.iter().any(is_there),
            };
            if missed {
                verdict.violation(format_args!("{article} was missed by `{line}`"));
            }
        }
    }
    check_last(history, &expected, &mut verdict);
    verdict.operations += searches;
    verdict.remarks.push(format!("{searches} searches"));
    verdict
}

/// Reads all changes.
fn changes(history: &History, verdict: &mut Verdict) -> HashMap<Pair, Changes> {
    let mut changes: HashMap<Pair, Changes> = HashMap::new();
    for lines in &history.clients {
        let mut open: BTreeMap<&str, Begun<'_>> = BTreeMap::new();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["begin", call, article, gains, loses, begin] => {
                    verdict.operations += 1;
                    let (article, begin) = (number(article), number(begin));
                    open.insert(call, Begun { article, gains, loses, begin });
                }
                ["done", call, end] => {
                    if let Some(begun) = open.remove(call) {
                        begun.note(&mut changes, Some(number(end)));
                    }
                }
                ["failed", call] => {
                    if let Some(begun) = open.remove(call) {
                        begun.note(&mut changes, None);
                    }
                }
                _ => {}
            }
        }
        for begun in open.into_values() {
            begun.note(&mut changes, None);
        }
    }
    changes
}

impl Begun<'_> {
    fn note(&self, all: &mut HashMap<Pair, Changes>, end: Option<Micros>) {
        let span = (self.begin, end.unwrap_or(self.begin + LATE));
        for word in numbers(self.gains) {
            let Changes { put, maybe_put, .. } = all.entry((self.article, word)).or_default();
            (if end.is_some() { put } else { maybe_put }).push(span);
        }
        for word in numbers(self.loses) {
            let changes = all.entry((self.article, word)).or_default();
            let Changes { removed, maybe_removed, .. } = changes;
            (if end.is_some() { removed } else { maybe_removed }).push(span);
        }
    }
}

/// What the answers say about the sets.
struct Expected {
    articles: BTreeSet<u64>,
    pairs: HashMap<Pair, Known>,
}

/// What is known of one article under one word.
struct Known {
    put: Spans,
    /// When it may have been put, or a removal may have been lost
    may_put: Spans,
    removed: Spans,
    /// When it may have been removed, or a put may have been lost
    may_remove: Spans,
}

impl Expected {
    fn new(history: &History, changes: HashMap<Pair, Changes>) -> Self {
        let losses = history.losses();
        let flushes = history.faults.iter().filter(|fault| fault.kind == Kind::Flush);
        let flushes: Vec<_> = flushes.map(|fault| (fault.from, fault.to)).collect();
        let articles = changes.keys().map(|(article, _)| *article).collect();
        let known = |it: Changes| Known {
            may_put: Spans::new([&it.put[..], &it.maybe_put, &losses].concat()),
            may_remove: Spans::new(
                [&it.removed[..], &it.maybe_removed, &losses, &flushes].concat(),
            ),
            put: Spans::new(it.put),
            removed: Spans::new(it.removed),
        };
        let pairs = changes.into_iter().map(|(pair, changes)| (pair, known(changes)));
        Expected { articles, pairs: pairs.collect() }
    }

    /// Whether an article must have been under a word for all of a span.
    fn is_there(&self, pair: Pair, begin: Micros, end: Micros) -> bool {
        let known = self.pairs.get(&pair);
        known.is_some_and(|it| it.put.lies_between(it.may_remove.latest_end(end), begin))
    }

    /// Whether an article must not be under a word in the end.
    fn is_gone(&self, pair: Pair) -> bool {
        let known = self.pairs.get(&pair);
        known.is_none_or(|it| it.removed.lies_between(it.may_put.latest_end(NEVER), NEVER))
    }
}

/// Sets and reverses as the last client has read them.
#[derive(Default, PartialEq)]
struct State {
    sets: BTreeSet<Pair>,
    reverses: BTreeSet<Pair>,
}

fn check_last(history: &History, expected: &Expected, verdict: &mut Verdict) {
    let (mut left, mut after) = (State::default(), State::default());
    for line in &history.last {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            [when, "set", word, articles] => {
                let state = if *when == "left" { &mut left } else { &mut after };
                state.sets.extend(numbers(articles).map(|it| (it, number(word))));
            }
            [when, "reverse", article, words] => {
                let state = if *when == "left" { &mut left } else { &mut after };
                state.reverses.extend(numbers(words).map(|it| (number(article), it)));
            }
            _ => {}
        }
    }
    for pair in expected.pairs.keys() {
        if !left.sets.contains(pair) && expected.is_there(*pair, NEVER, NEVER) {
            verdict.violation(format_args!("{} is missing under {} in the end", pair.0, pair.1));
        }
    }
    for pair in &left.sets {
        if expected.is_gone(*pair) {
            verdict.violation(format_args!("{} is still under {} in the end", pair.0, pair.1));
        }
    }
    // What a server has lost on one node is a rebuild's to find. A change that was cut short leaves a word in the reverse.
    let is_cluster = history.faults.iter().any(|fault| fault.kind == Kind::FailOver);
    if !is_cluster && left.sets != left.reverses {
        let differing = left.sets.symmetric_difference(&left.reverses).collect::<Vec<_>>();
        verdict.violation(format_args!("sets and reverses differ: {differing:?}"));
    }
    if after.sets != left.reverses || after.reverses != left.reverses {
        verdict.violation("a rebuild has made something else than it was given");
    }
    if !is_cluster && after != left {
        verdict.violation("a rebuild has changed an index that was whole");
    }
}

/// Numbers with commas between them.
fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split(',').filter(|it| *it != "-").map(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::history::Fault;

    const PUT: [&str; 2] = ["begin 0.0 1 5 - 10", "done 0.0 20"];
    /// What the last client reads where 1 is under 5.
    const THERE: [&str; 4] =
        ["left set 5 1", "left reverse 1 5", "after set 5 1", "after reverse 1 5"];

    fn judged(lines: &[&[&str]], last: &[&str], fault: Option<Kind>) -> usize {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let faults = fault.map(|kind| Fault { kind, client: None, from: 30, to: 31 });
        check(&History {
            clients: lines.iter().map(|lines| owned(lines)).collect(),
            last: owned(last),
            faults: faults.into_iter().collect(),
            is_durable: true,
            ..History::default()
        })
        .violations
        .len()
    }

    fn found(lines: &[&[&str]]) -> usize {
        judged(lines, &THERE, None)
    }

    #[test]
    fn a_search_that_misses_a_member_is_found() {
        assert_eq!(found(&[&PUT, &["found all 5 21 22 1"]]), 0);
        assert_eq!(found(&[&PUT, &["found all 5 21 22 -"]]), 1);
        assert_eq!(found(&[&PUT, &["found any 5,6 21 22 2"]]), 1);
        assert_eq!(found(&[&PUT, &["found all 5,6 21 22 -"]]), 0, "it is not under 6");
        assert_eq!(found(&[&PUT, &["found all 5 19 22 -"]]), 0, "the put was not answered yet");
        assert_eq!(judged(&[&PUT, &["found all 5 41 42 -"]], &THERE, Some(Kind::Flush)), 0);
        assert_eq!(judged(&[&PUT, &["found all 5 41 42 -"]], &THERE, Some(Kind::Cut)), 1);
    }

    #[test]
    fn who_is_moved_meanwhile_may_be_missed() {
        let missed = ["found all 5 41 42 -"];
        let moving = |line: &'static str| ["begin 0.0 1 6 5 35", line];
        let last = ["left set 6 1", "left reverse 1 6", "after set 6 1", "after reverse 1 6"];
        assert_eq!(judged(&[&PUT, &moving("done 0.0 40"), &missed], &last, None), 0);
        assert_eq!(judged(&[&PUT, &moving("failed 0.0"), &missed], &THERE, None), 0);
        assert_eq!(judged(&[&PUT, &moving(""), &missed], &THERE, None), 0);
        let later = ["begin 0.0 1 6 5 43", "done 0.0 50"];
        assert_eq!(judged(&[&PUT, &later, &missed], &last, None), 1, "it was there until then");
    }

    #[test]
    fn sets_that_are_not_what_was_acknowledged_are_found() {
        assert_eq!(judged(&[&PUT], &[], None), 1, "it is missing");
        let removed = ["begin 0.0 1 - 5 30", "done 0.0 35"];
        assert_eq!(judged(&[&PUT, &removed], &[], None), 0);
        assert_eq!(judged(&[&PUT, &removed], &THERE, None), 1, "it is still there");
        assert_eq!(judged(&[&PUT, &["begin 0.0 1 - 5 30"]], &THERE, None), 0);
        assert_eq!(judged(&[], &THERE, None), 1, "nobody has put it");
    }

    #[test]
    fn a_set_that_disagrees_with_its_reverse_is_found() {
        let last = ["left set 5 1", "after set 5 1"];
        // They differ, and the rebuild, which goes by the reverses, has left it there.
        assert_eq!(judged(&[&PUT], &last, None), 2);
        let last = ["left set 5 1", "left reverse 1 5", "after set 5 -", "after reverse 1 5"];
        assert_eq!(judged(&[&PUT], &last, None), 2, "a rebuild has removed it");
    }
}
