//! A model of programs that ask one limit under its old and its new name.
//!
//! Until `cleanup`, all count under the old name alone, and no more is allowed in a window than the limit. The step to
//! `cleanup` changes where is counted: the count starts again under the new name, so that a window in which programs of
//! both phases run allows at most twice the limit.

use super::Names;
use super::model::{ADJACENT, Knows, plan_of};
use stateright::{Checker, Model, Property};
use std::collections::BTreeMap;

const LIMIT: u8 = 2;

/// `ask.lua`, while no window ends: for each limit, whether it allows a request of this cost, and how much more. If one does
/// not allow it, or the request only looks, nothing is counted.
pub(super) fn ask(
    counted: &mut [u64],
    limits: &[u64],
    costs: &[u64],
    counts: bool,
) -> Vec<(bool, u64)> {
    let allows: Vec<bool> = counted
        .iter()
        .zip(limits)
        .zip(costs)
        .map(|((count, limit), cost)| count + cost <= *limit)
        .collect();
    if counts && allows.iter().all(|it| *it) {
        counted.iter_mut().zip(costs).for_each(|(count, cost)| *count += cost);
    }
    let left = counted.iter().zip(limits).map(|(count, limit)| limit - count);
    allows.into_iter().zip(left).collect()
}

#[derive(Debug, Clone)]
struct Asking {
    programs: Vec<Names>,
    /// How often each asks
    asks: u8,
    /// How many answers may be lost, and how many windows may end
    faults: u8,
    plan: Option<Knows>,
    both: [String; 2],
    /// The most that a window may allow
    most: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    counts: BTreeMap<String, u64>,
    asked: Vec<u8>,
    /// What was counted in this window, and those of it that somebody knows of
    counted: u8,
    allowed: u8,
    faults: u8,
    is_planned: bool,
    /// Somebody was refused although less was counted than the limit
    too_early: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Event {
    Ask(usize),
    /// It is counted or not, and nobody hears which
    Lost(usize),
    /// A window ends with its keys
    Ends,
    Plan,
}

impl Asking {
    /// What `ask.lua` does; whether it allows.
    fn ask(&self, state: &mut State, program: usize) -> bool {
        let count = state.counts.entry(self.programs[program].counted().to_owned()).or_default();
        let answer = ask(std::slice::from_mut(count), &[LIMIT.into()], &[1], true);
        let allows = answer.iter().all(|(allows, _)| *allows);
        state.counted += u8::from(allows);
        state.too_early |= !allows && state.counted < LIMIT;
        state.asked[program] += 1;
        allows
    }

    fn plan(&self, state: &mut State, phase: Knows) {
        let [old, new] = &self.both;
        let count = state.counts.get(old).copied();
        match (phase, count) {
            (Knows::Cleanup, _) => _ = state.counts.remove(old),
            (Knows::DualWrite, Some(count)) => _ = state.counts.insert(new.clone(), count),
            (_, Some(count)) => _ = state.counts.entry(new.clone()).or_insert(count),
            (_, None) => {}
        }
    }
}

impl Model for Asking {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            counts: BTreeMap::new(),
            asked: vec![0; self.programs.len()],
            counted: 0,
            allowed: 0,
            faults: self.faults,
            is_planned: self.plan.is_none(),
            too_early: false,
        }]
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        for program in (0..self.programs.len()).filter(|it| state.asked[*it] < self.asks) {
            events.push(Event::Ask(program));
            events.extend((state.faults > 0).then_some(Event::Lost(program)));
        }
        events.extend((state.faults > 0).then_some(Event::Ends));
        events.extend((!state.is_planned).then_some(Event::Plan));
    }

    fn next_state(&self, before: &State, event: Event) -> Option<State> {
        let mut state = before.clone();
        match event {
            Event::Ask(program) => state.allowed += u8::from(self.ask(&mut state, program)),
            Event::Lost(program) => {
                state.faults -= 1;
                self.ask(&mut state, program);
            }
            Event::Ends => {
                state.faults -= 1;
                (state.counted, state.allowed) = (0, 0);
                state.counts.clear();
            }
            Event::Plan => {
                state.is_planned = true;
                self.plan(&mut state, self.plan?);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no more is allowed", |it: &Asking, state: &State| {
                state.allowed <= it.most
            }),
            Property::always("nobody is refused too early", |_, state: &State| !state.too_early),
            Property::sometimes("the limit is reached", |it: &Asking, state: &State| {
                state.allowed == it.most
            }),
        ]
    }
}

fn asking([one, other]: [Knows; 2], split: bool, asks: u8, faults: u8) -> Asking {
    let programs = [one, other].map(|knows| knows.names(split)).to_vec();
    let starts_again = [one, other] == [Knows::ReadFallback, Knows::Cleanup];
    let most = if starts_again { 2 * LIMIT } else { LIMIT };
    let both = Knows::DualWrite.names(split);
    let both = [both.name.clone(), both.others[0].clone()];
    Asking { programs, asks, faults, plan: plan_of(one, other), both, most }
}

fn check(asks: u8, faults: u8) -> usize {
    let all = ADJACENT.into_iter().flat_map(|it| [(it, false), (it, true)]);
    all.map(|(phases, split)| {
        let checker = asking(phases, split, asks, faults).checker().spawn_bfs().join();
        checker.assert_properties();
        checker.unique_state_count()
    })
    .sum()
}

#[test]
fn a_limit_allows_no_more_than_it_says_until_it_starts_again_in_cleanup() {
    assert!(check(4, 1) > 500);
}

/// `cargo xtask model`.
#[test]
#[ignore = "belongs to the large bounds"]
fn a_limit_allows_no_more_than_it_says_with_more_of_everything() {
    println!("a limit that is asked 8 times by each, 3 faults: {} states", check(8, 3));
}

#[test]
fn a_limit_that_starts_again_allows_more_than_one_window() {
    let asking = asking([Knows::ReadFallback, Knows::Cleanup], false, 4, 0);
    let once = Asking { most: LIMIT, ..asking };
    assert!(once.checker().spawn_bfs().join().discovery("no more is allowed").is_some());
}
