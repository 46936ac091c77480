//! A model of programs that take one lock, or ask one limit, under its old and its new name: of those that may run at the
//! same time, one holds the lock, and all count in the same place.

use super::Names;
use super::model::{ADJACENT, Knows};
use stateright::{Checker, Model, Property};
use std::collections::BTreeMap;

/// Several programs that want one lock.
#[derive(Debug, Clone)]
struct Locking {
    split: bool,
    programs: Vec<Names>,
    /// How many may die while they have it, or some of it
    faults: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    /// Who has each name
    held: BTreeMap<String, usize>,
    /// How many groups of names each has taken
    taken: Vec<usize>,
    dead: Vec<bool>,
    /// Who has ever had the lock
    ever: Vec<bool>,
    faults: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Event {
    /// Takes the next group of names, or gives up what it has if somebody else has one
    Take(usize),
    /// Gives up the lock, the last group first
    Release(usize),
    Dies(usize),
}

impl Locking {
    fn groups(&self, program: usize) -> Vec<Vec<&str>> {
        self.programs[program].locked(self.split)
    }

    fn holds(&self, state: &State, program: usize) -> bool {
        !state.dead[program] && state.taken[program] == self.groups(program).len()
    }
}

impl Model for Locking {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        let count = self.programs.len();
        let (held, taken) = (BTreeMap::new(), vec![0; count]);
        let (dead, ever) = (vec![false; count], vec![false; count]);
        vec![State { held, taken, dead, ever, faults: self.faults }]
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        for program in (0..self.programs.len()).filter(|it| !state.dead[*it]) {
            events.push(if self.holds(state, program) {
                Event::Release(program)
            } else {
                Event::Take(program)
            });
            events.extend((state.faults > 0).then_some(Event::Dies(program)));
        }
    }

    fn next_state(&self, state: &State, event: Event) -> Option<State> {
        let mut state = state.clone();
        match event {
            Event::Take(program) => {
                let groups = self.groups(program);
                let group = &groups[state.taken[program]];
                if group.iter().any(|name| state.held.contains_key(*name)) {
                    state.held.retain(|_, holder| *holder != program);
                    state.taken[program] = 0;
                } else {
                    state.held.extend(group.iter().map(|name| ((*name).to_owned(), program)));
                    state.taken[program] += 1;
                }
                state.ever[program] |= self.holds(&state, program);
            }
            Event::Release(program) => {
                state.held.retain(|_, holder| *holder != program);
                state.taken[program] = 0;
            }
            Event::Dies(program) => {
                // What it has is free when its TTL ends.
                state.faults -= 1;
                state.dead[program] = true;
                state.held.retain(|_, holder| *holder != program);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one holder", |model: &Locking, state: &State| {
                (0..model.programs.len()).filter(|it| model.holds(state, *it)).count() <= 1
            }),
            Property::sometimes("everybody gets it", |_, state: &State| {
                state.ever.iter().all(|it| *it)
            }),
        ]
    }
}

#[test]
fn names_of_a_lock_have_one_holder_whatever_phase_it_is_in() {
    for ([one, other], split) in ADJACENT.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let programs = [one, other, other].map(|knows| knows.names(split)).to_vec();
        let model = Locking { split, programs, faults: 1 };
        model.checker().spawn_bfs().join().assert_properties();
    }
}

#[test]
fn a_lock_under_the_names_of_phases_that_are_not_adjacent_has_two_holders() {
    let programs = [Knows::OldOnly, Knows::Cleanup].map(|knows| knows.names(false)).to_vec();
    let model = Locking { split: false, programs, faults: 0 };
    assert!(model.checker().spawn_bfs().join().discovery("one holder").is_some());
}

/// Only the last step changes where a limit counts: it starts again then.
#[test]
fn names_of_a_limit_count_in_one_place_until_cleanup() {
    for ([one, other], split) in ADJACENT.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let [first, second] = [one, other].map(|knows| knows.names(split).counted().to_owned());
        let changes = [one, other] == [Knows::ReadFallback, Knows::Cleanup];
        assert_eq!(first == second, !changes, "{one:?} and {other:?}");
    }
}
