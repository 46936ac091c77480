//! Several programs at one key, and a plan: what each may do next, and what must hold.

use super::plan::{How, Planning, Stage};
use super::server::{Cell, Change, Server, Stamp};
use super::{Knows, REMOVED};
use crate::store::names::Names;
use crate::store::names::course::{CHANGE, Course, Step};
use stateright::{Checker, Model, Property};
use std::fmt;

/// What a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Act {
    Change(Change),
    Read,
}

/// A program: what it knows, and what it does.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) knows: Knows,
    pub(super) names: Names,
    /// Those of a delete
    pub(super) removed: Names,
    acts: Vec<Act>,
    /// Whether it starts when the plan has ended
    pub(super) late: bool,
}

impl Default for World {
    fn default() -> Self {
        World {
            split: false,
            converts: false,
            programs: Vec::new(),
            plan: None,
            plan_last: false,
            plan_keeps: false,
            first: [true, true],
            faults: 0,
            expires: false,
            course: CHANGE,
        }
    }
}

impl Program {
    pub(super) fn new(knows: Knows, split: bool, acts: Vec<Act>) -> Self {
        let names = knows.names(split);
        let removed = names.to_remove().into_owned();
        Program { knows, names, removed, acts, late: false }
    }
}

/// Several programs at one key, and a plan.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is one axis of what is explored")]
pub(super) struct World {
    /// Whether the names are in different slots
    pub(super) split: bool,
    /// Whether the plan converts values, so that stores know the new name only
    pub(super) converts: bool,
    pub(super) programs: Vec<Program>,
    /// The phase whose step a plan makes, if one does
    pub(super) plan: Option<Knows>,
    /// Whether it begins when all programs have ended that do not wait for it
    pub(super) plan_last: bool,
    /// What is there at the beginning, under the old name and the new one
    pub(super) first: [bool; 2],
    /// Whether it leaves what is under the new name only, where the old one counts
    pub(super) plan_keeps: bool,
    /// How many programs and plans may die, and how many answers may be lost
    pub(super) faults: u8,
    /// Whether leases end, and versions an hour after the last change
    pub(super) expires: bool,
    /// The steps of a change
    pub(super) course: Course,
}

/// A program that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Running {
    act: u8,
    step: u8,
    /// The newest version that other slots have shown
    floor: u64,
    stamp: Option<Stamp>,
    dead: bool,
    /// The place in the order of changes of what it read last
    read: u8,
}

/// What is known of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct History {
    /// The acts that had ended when it began, and those of them that had succeeded
    ended: u16,
    succeeded: u16,
    /// The loads that had begun when it began
    loading: u16,
    /// When it happened, among all
    place: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    server: Server,
    running: Vec<Running>,
    history: Vec<History>,
    ended: u16,
    succeeded: u16,
    loading: u16,
    places: u8,
    plan: Planning,
    faults: u8,
    /// Whether a version has ended
    expired: bool,
    /// What was promised and did not happen
    broken: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Event {
    /// A program makes its next step
    Step(usize),
    /// The same, and the answer is lost: what may be sent again is, and otherwise the program gives up
    Lost(usize),
    Dies(usize),
    Plan,
    /// Who applies the plan is killed, and begins again
    PlanDies,
    /// The lease of a name ends
    Lease(usize),
    /// The version of a name ends, and a lease that a delete has left
    Version(usize),
}

/// The steps of a change: those before the script, the script, those after it.
enum Next {
    Begin,
    Row(Step),
    Change,
    End,
}

const LOST: &str = "an acknowledged change was lost, or what was deleted came back";
const BACK: &str = "a read went back in time";
impl World {
    /// The number of an act; 0 is what was there at the beginning.
    fn number(&self, program: usize, act: u8) -> u8 {
        let before: usize = self.programs[..program].iter().map(|it| it.acts.len()).sum();
        1 + u8::try_from(before).unwrap() + act
    }

    fn change_of(&self, number: u8) -> Option<Change> {
        let acts: Vec<Act> = self.programs.iter().flat_map(|it| it.acts.clone()).collect();
        match acts.get(usize::from(number).checked_sub(1)?) {
            Some(Act::Change(change)) => Some(*change),
            _ => None,
        }
    }

    /// Reads are promised not to go back in time within one phase, and between adjacent ones in one slot.
    fn is_monotonic(&self) -> bool {
        let mut phases: Vec<Knows> = self.programs.iter().map(|it| it.knows).collect();
        phases.dedup();
        !self.split || phases.len() == 1
    }

    fn next(&self, names: &Names, change: Change, step: u8) -> Next {
        let Course { before, after } = self.course;
        let split = names.is_split(self.split);
        let (before, after) = if split { (before, after) } else { (&[][..], &[][..]) };
        let mut step = usize::from(step);
        if change == Change::Fill {
            if step == 0 {
                return Next::Begin;
            }
            step -= 1;
        }
        match (before.get(step), step.checked_sub(before.len())) {
            (Some(row), _) => Next::Row(*row),
            (None, Some(0)) => Next::Change,
            (None, after_it) => {
                let row = after_it.and_then(|it| after.get(it - 1));
                row.map_or(Next::End, |row| Next::Row(*row))
            }
        }
    }

    fn step(&self, state: &mut State, program: usize) {
        let Program { names, removed, acts, .. } = &self.programs[program];
        let running = state.running[program];
        let number = self.number(program, running.act);
        if running.step == 0 {
            let history = &mut state.history[usize::from(number)];
            (history.ended, history.succeeded) = (state.ended, state.succeeded);
            history.loading = state.loading;
        }
        match acts[usize::from(running.act)] {
            Act::Read => self.read(state, program, names),
            Act::Change(change @ (Change::Delete | Change::Take)) => {
                self.change(state, program, change, removed);
            }
            Act::Change(change) => self.change(state, program, change, names),
        }
    }

    fn change(&self, state: &mut State, program: usize, change: Change, names: &Names) {
        let running = state.running[program];
        let number = self.number(program, running.act);
        if change.needs_one_slot() && names.is_split(self.split) {
            return self.end(state, program, false);
        }
        match self.next(names, change, running.step) {
            Next::Begin => {
                if !state.server.lease(&names.name, number) {
                    return self.end(state, program, false);
                }
                state.loading |= 1 << number;
            }
            Next::Row(step) => {
                for name in names.by_slot(self.split).1 {
                    let there = state.server.step(step, name, running.stamp);
                    let floor = &mut state.running[program].floor;
                    *floor = there.max(*floor);
                }
            }
            Next::Change => {
                let stamp = state.server.change(change, number, names, self.split, running.floor);
                if stamp.is_none() {
                    return self.end(state, program, false);
                }
                state.places += 1;
                state.history[usize::from(number)].place = state.places;
                state.running[program].stamp = stamp;
            }
            Next::End => {}
        }
        state.running[program].step += 1;
        if let Next::End = self.next(names, change, running.step + 1) {
            self.end(state, program, true);
        }
    }

    /// Asks the name that counts, and others if it has nothing: see `Handle::ask`.
    fn read(&self, state: &mut State, program: usize, names: &Names) {
        let step = usize::from(state.running[program].step);
        let asked: Vec<&str> = std::iter::once(names.name.as_str())
            .chain(names.fallbacks().iter().map(String::as_str))
            .collect();
        let cell = *state.server.cell(asked[step]);
        let decides = step == 0 && !names.far_fallbacks(self.split).is_empty() && cell.version != 0;
        if cell.value.is_none() && !decides && step + 1 < asked.len() {
            state.running[program].step += 1;
            return;
        }
        let number = self.number(program, state.running[program].act);
        self.judge(state, number, cell);
        let place = state.history[usize::from(cell.by)].place;
        if self.is_monotonic() && !state.expired && place < state.running[program].read {
            state.broken = Some(BACK);
        }
        state.running[program].read = place;
        self.end(state, program, true);
    }

    /// Whether a read may see this.
    fn judge(&self, state: &mut State, read: u8, seen: Cell) {
        let before = state.history[usize::from(read)].succeeded;
        for change in (1..16u8).filter(|it| before & 1 << it != 0) {
            let Some(kind) = self.change_of(change) else { continue };
            let history = state.history[usize::from(change)];
            let is_older = seen.by != change && history.ended & 1 << seen.by != 0;
            let is_loaded = history.loading & 1 << seen.by != 0
                && self.change_of(seen.by) == Some(Change::Fill)
                && kind != Change::Fill;
            // What is added to must be no older than what replaced it, and what was added is there until that happens.
            let is_rooted = seen.base == change || history.ended & 1 << seen.base == 0;
            let has_it = kind.adds() && seen.value.unwrap_or_default() & 1 << change != 0;
            let is_missing = !has_it && !is_rooted;
            if is_older || is_loaded || is_missing {
                state.broken = Some(LOST);
            }
        }
    }

    fn end(&self, state: &mut State, program: usize, succeeded: bool) {
        let running = state.running[program];
        let number = self.number(program, running.act);
        state.ended |= 1 << number;
        if succeeded {
            state.succeeded |= 1 << number;
        }
        let read = running.read;
        state.running[program] = Running { act: running.act + 1, read, ..Running::default() };
    }

    fn has_ended(&self, state: &State, program: usize) -> bool {
        let running = state.running[program];
        running.dead || usize::from(running.act) == self.programs[program].acts.len()
    }

    /// Whether nobody is between two steps of a change.
    fn is_quiet(&self, state: &State) -> bool {
        (0..self.programs.len()).all(|at| self.has_ended(state, at) || state.running[at].step == 0)
    }

    /// What ends by itself: a lease at any time, and a version when no change that it is for can be under way.
    fn endings(&self, state: &State, events: &mut Vec<Event>) {
        let is_quiet = self.is_quiet(state);
        for (at, cell) in state.server.0.iter().enumerate() {
            let is_plain = cell.lease != 0 && cell.lease != REMOVED;
            events.extend(is_plain.then_some(Event::Lease(at)));
            let is_left = cell.version != 0 || cell.lease == REMOVED;
            events.extend((is_left && is_quiet && self.expires).then_some(Event::Version(at)));
        }
    }
}

impl Model for World {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        let cell = |there: bool| Cell { value: there.then_some(1), ..Cell::default() };
        let acts: usize = self.programs.iter().map(|it| it.acts.len()).sum();
        vec![State {
            server: Server(self.first.map(cell)),
            running: vec![Running::default(); self.programs.len()],
            history: vec![History::default(); acts + 1],
            ended: 1,
            succeeded: 0,
            loading: 0,
            places: 0,
            plan: if self.plan.is_some() { Planning::default() } else { Planning::DONE },
            faults: self.faults,
            expired: false,
            broken: None,
        }]
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        for (at, program) in self.programs.iter().enumerate() {
            if self.has_ended(state, at) || (program.late && state.plan != Planning::DONE) {
                continue;
            }
            events.push(Event::Step(at));
            if state.faults > 0 {
                events.extend([Event::Lost(at), Event::Dies(at)]);
            }
        }
        let waits = |at: usize| !self.programs[at].late && !self.has_ended(state, at);
        let begun = state.plan != Planning::default();
        let begins = !self.plan_last || begun || !(0..self.programs.len()).any(waits);
        if let Some(phase) = self.plan
            && state.plan != Planning::DONE
            && begins
        {
            events.extend((!state.plan.waits(&state.server, phase)).then_some(Event::Plan));
            events.extend((begun && state.faults > 0).then_some(Event::PlanDies));
        }
        // A lease that keeps a plan waiting ends some day, whatever is checked.
        if self.expires || (state.plan.stage == Stage::Lease && self.is_quiet(state)) {
            self.endings(state, events);
        }
    }

    fn next_state(&self, before: &State, event: Event) -> Option<State> {
        let mut state = before.clone();
        match event {
            Event::Step(program) => self.step(&mut state, program),
            Event::Lost(program) => {
                let running = state.running[program];
                self.step(&mut state, program);
                state.faults -= 1;
                let Act::Change(change) = self.programs[program].acts[usize::from(running.act)]
                else {
                    return None;
                };
                let Program { names, removed, .. } = &self.programs[program];
                let is_gone = matches!(change, Change::Delete | Change::Take);
                let names = if is_gone { removed } else { names };
                if let Next::Row(_) = self.next(names, change, running.step) {
                    // It is made once more, and then goes on.
                    let history = before.history.clone();
                    let (ended, succeeded) = (before.ended, before.succeeded);
                    state.running[program] = running;
                    (state.history, state.ended, state.succeeded) = (history, ended, succeeded);
                } else {
                    // Whether it happened is not known, and nobody was told that it did.
                    let number = self.number(program, running.act);
                    state.succeeded &= !(1 << number);
                    state.ended |= 1 << number;
                    state.running[program].dead = true;
                }
            }
            Event::Dies(program) => {
                state.faults -= 1;
                let number = self.number(program, state.running[program].act);
                state.ended |= 1 << number;
                state.running[program].dead = true;
            }
            Event::Plan => {
                let mut plan = state.plan;
                let how =
                    How { split: self.split, converts: self.converts, keeps: self.plan_keeps };
                plan.step(&mut state.server, self.plan?, how);
                state.plan = plan;
            }
            Event::PlanDies => {
                state.faults -= 1;
                state.plan = Planning::default();
            }
            Event::Lease(at) => state.server.0[at].lease = 0,
            Event::Version(at) => {
                let cell = &mut state.server.0[at];
                cell.version = 0;
                if cell.lease == REMOVED {
                    cell.lease = 0;
                }
                state.expired = true;
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("what is promised", |_, state: &State| state.broken.is_none()),
            Property::always("exactly the names that the phase says", |world: &World, state| {
                let is_over = (0..world.programs.len()).all(|at| world.has_ended(state, at));
                if !is_over || state.plan != Planning::DONE {
                    return true;
                }
                let [old, new] = state.server.0.map(|cell| cell.value);
                let both =
                    |it: &Program| matches!(it.knows, Knows::DualWrite | Knows::ReadFallback);
                let old_only = |it: &Program| it.knows == Knows::OldOnly;
                let whole = state.running.iter().all(|it| !it.dead) && state.faults == world.faults;
                let changed = state.places > 0 || world.plan.is_some();
                match world.plan {
                    Some(Knows::Cleanup) => old.is_none(),
                    // Nobody but the plan writes the new name.
                    Some(Knows::DualWrite)
                        if world.plan_last && world.programs.iter().all(old_only) =>
                    {
                        old == new
                    }
                    // Nobody but the plan reads the old name.
                    Some(Knows::ReadFallback) if world.converts && world.plan_last => {
                        old.is_none() || new.is_some()
                    }
                    _ if !world.programs.iter().all(both) => true,
                    // Who died half-way has left the rest to a plan.
                    Some(Knows::DualWrite) if world.plan_last => old == new,
                    Some(Knows::ReadFallback) if world.plan_last && old.is_some() => new.is_some(),
                    _ if whole && changed => old == new,
                    _ => true,
                }
            }),
            Property::sometimes("all programs end", |world: &World, state: &State| {
                (0..world.programs.len()).all(|at| world.has_ended(state, at))
            }),
        ]
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = if self.split { "two slots" } else { "one slot" };
        let slots = if self.converts { format!("{slots}, converted") } else { slots.to_owned() };
        write!(f, "{slots}, first {:?}, plan {:?}:", self.first, self.plan)?;
        for Program { knows, acts, .. } in &self.programs {
            write!(f, " {knows:?} {acts:?}")?;
        }
        Ok(())
    }
}

/// How many states there are, or a counterexample if something that is promised does not hold.
pub(super) fn check(world: &World) -> Result<usize, String> {
    let checker = world.clone().checker().spawn_bfs().join();
    let found = checker.discoveries();
    let ends = "all programs end";
    if let Some((name, path)) = found.iter().find(|(name, _)| **name != ends) {
        return Err(format!("{world}\n{name}: {:?}", path.clone().into_actions()));
    }
    assert!(found.contains_key(ends), "nothing happens in {world}");
    Ok(checker.unique_state_count())
}

/// The same of many.
pub(super) fn check_all(worlds: &[World]) -> Result<usize, String> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let check_some = |worlds: &[World]| worlds.iter().map(check).sum::<Result<usize, String>>();
    std::thread::scope(|scope| {
        let chunks = worlds.chunks(worlds.len().div_ceil(threads));
        let checks: Vec<_> = chunks.map(|some| scope.spawn(move || check_some(some))).collect();
        checks.into_iter().map(|it| it.join().unwrap()).sum()
    })
}
