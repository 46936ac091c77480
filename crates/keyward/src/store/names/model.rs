//! A model of programs that change one key under its old and its new name, in the steps of `course.rs`, while others do
//! the same, die between two steps, lose answers, or are in another phase; and while a plan moves the key.
//!
//! What the steps do to a server is `Server`, which a property test compares with the scripts on real servers.

use super::Names;
use super::course::{CHANGE, Course, Step};
use super::tests::names;
use stateright::{Checker, Model, Property};
use std::fmt;

/// What a name holds: the changes that made it.
type Changes = u16;

/// One name with what stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Cell {
    pub(super) value: Option<Changes>,
    /// The change that has last written or removed it; not on any server
    by: u8,
    /// 0 if there is none
    pub(super) version: u64,
    /// Whose it is; 0 if there is none
    pub(super) lease: u8,
}

/// What the slot that decides hands to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Stamp {
    pub(super) version: u64,
    pub(super) value: Option<Changes>,
    by: u8,
}

impl Stamp {
    pub(super) fn new(version: u64, value: Option<Changes>) -> Self {
        Stamp { version, value, by: 0 }
    }
}

/// The old name and the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Server(pub(super) [Cell; 2]);

/// What the script of a change does to the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Change {
    /// `write.lua` in its mode `whole`
    Set,
    /// The same with the lease of whoever loads, taken while there was no value
    Fill,
    /// `count.lua`, and `write.lua` in its mode `part`
    Add,
    /// `forget.lua`
    Delete,
}

impl Server {
    /// What a client sees of it.
    pub(super) fn seen(mut self) -> Self {
        self.0.iter_mut().for_each(|cell| cell.by = 0);
        self
    }

    fn cell(&mut self, name: &str) -> &mut Cell {
        &mut self.0[usize::from(name != OLD && name != OLD_SPLIT)]
    }

    /// The script that changes all names in the slot of the one that counts; `None` if it changes nothing.
    pub(super) fn change(
        &mut self,
        change: Change,
        by: u8,
        names: &Names,
        cluster: bool,
        floor: u64,
    ) -> Option<Stamp> {
        let deciding = *self.cell(&names.name);
        let value = match change {
            Change::Fill if deciding.lease != by => return None,
            Change::Fill if deciding.value.is_some() => {
                self.cell(&names.name).lease = 0;
                return None;
            }
            Change::Set | Change::Fill => Some(1 << by),
            Change::Add => {
                let fallbacks = names.fallbacks().iter().map(|name| self.cell(name).value);
                let found = deciding.value.or_else(|| fallbacks.flatten().next());
                Some(found.unwrap_or_default() | 1 << by)
            }
            Change::Delete => None,
        };
        // Clocks are not relied on: versions only count.
        let is_old = u64::from(names.clock() == "1");
        let version = (deciding.version.max(floor) / 2 + 1) * 2 + is_old;
        for name in names.together(cluster) {
            let cell = self.cell(name);
            (cell.value, cell.by, cell.lease) = (value, by, 0);
        }
        if names.is_split(cluster) {
            let cell = self.cell(&names.name);
            cell.version = version;
            if change == Change::Delete {
                cell.lease = REMOVED;
            }
        }
        Some(Stamp { version, value, by })
    }

    /// A step of a course, to one name; the version there.
    pub(super) fn step(&mut self, step: Step, name: &str, stamp: Option<Stamp>) -> u64 {
        let cell = self.cell(name);
        cell.lease = 0;
        if let (Step::Copy, Some(stamp)) = (step, stamp)
            && cell.version <= stamp.version
        {
            (cell.value, cell.by, cell.version) = (stamp.value, stamp.by, stamp.version);
        }
        cell.version
    }
}

const OLD: &str = "{k}old";
const NEW: &str = "{k}new";
const OLD_SPLIT: &str = "old";
const NEW_SPLIT: &str = "new";

/// How far a program's schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Knows {
    /// The program knows the old name only
    OldOnly,
    DualWrite,
    ReadFallback,
    Cleanup,
}

impl Knows {
    pub(super) fn names(self, split: bool) -> Names {
        let both = if split { [OLD_SPLIT, NEW_SPLIT] } else { [OLD, NEW] };
        match self {
            Knows::OldOnly => Names::one(both[0].to_owned(), 0),
            Knows::DualWrite => names(true, both),
            Knows::ReadFallback => names(false, both),
            Knows::Cleanup => {
                Names { left: vec![both[0].to_owned()], ..Names::one(both[1].to_owned(), 0) }
            }
        }
    }
}

/// What a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Act {
    Change(Change),
    Read,
}

/// A program: what it knows, and what it does.
#[derive(Debug, Clone)]
struct Program {
    knows: Knows,
    names: Names,
    /// Those of a delete
    removed: Names,
    acts: Vec<Act>,
    /// Whether it starts when the plan has ended
    late: bool,
}

impl Default for World {
    fn default() -> Self {
        World {
            split: false,
            programs: Vec::new(),
            plan: None,
            plan_last: false,
            plan_keeps: false,
            first: [true, true],
            faults: 0,
            course: CHANGE,
        }
    }
}

impl Program {
    fn new(knows: Knows, split: bool, acts: Vec<Act>) -> Self {
        let names = knows.names(split);
        let removed = names.to_remove().into_owned();
        Program { knows, names, removed, acts, late: false }
    }
}

/// Several programs at one key, and a plan.
#[derive(Debug, Clone)]
struct World {
    /// Whether the names are in different slots
    split: bool,
    programs: Vec<Program>,
    /// The phase whose step a plan makes, if one does
    plan: Option<Knows>,
    /// Whether it begins when all programs have ended that do not wait for it
    plan_last: bool,
    /// What is there at the beginning, under the old name and the new one
    first: [bool; 2],
    /// Whether it leaves what is under the new name only, where the old one counts
    plan_keeps: bool,
    /// How many programs may die, and how many answers may be lost
    faults: u8,
    /// The steps of a change
    course: Course,
}

/// A program that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Running {
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
struct History {
    /// The acts that had ended when it began, and those of them that had succeeded
    ended: u16,
    succeeded: u16,
    /// The loads that had begun when it began
    loading: u16,
    /// When it happened, among all
    place: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    server: Server,
    running: Vec<Running>,
    history: Vec<History>,
    ended: u16,
    succeeded: u16,
    loading: u16,
    places: u8,
    plan: u8,
    moved: Option<(Option<Changes>, u8)>,
    faults: u8,
    /// What was promised and did not happen
    broken: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Event {
    /// A program makes its next step
    Step(usize),
    /// The same, and the answer is lost: what may be sent again is, and otherwise the program gives up
    Lost(usize),
    Dies(usize),
    Plan,
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
/// Whose lease a plan's is, and the one that a delete leaves until the other slot knows of it.
const PLANS: u8 = 15;
pub(super) const REMOVED: u8 = 14;
/// When a plan has ended.
const DONE: u8 = 3;

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
            Act::Change(change @ Change::Delete) => self.change(state, program, change, removed),
            Act::Change(change) => self.change(state, program, change, names),
        }
    }

    fn change(&self, state: &mut State, program: usize, change: Change, names: &Names) {
        let running = state.running[program];
        let number = self.number(program, running.act);
        match self.next(names, change, running.step) {
            Next::Begin => {
                let cell = state.server.cell(&names.name);
                if cell.value.is_some() || (cell.lease != 0 && cell.lease != REMOVED) {
                    return self.end(state, program, false);
                }
                cell.lease = number;
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
        if self.is_monotonic() && place < state.running[program].read {
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
            let is_missing =
                kind == Change::Add && seen.value.unwrap_or_default() & 1 << change == 0;
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

    /// Whether a plan puts what is under the old name under the new one. What is not under the name that counts is not
    /// under the other one either.
    fn moves(&self, phase: Knows, old: Option<Changes>, new: Option<Changes>) -> bool {
        match phase {
            Knows::DualWrite => old.is_some() || !self.plan_keeps,
            _ => old.is_some() && new.is_none(),
        }
    }

    /// What a plan does in a phase: in one slot in one step, otherwise with a lease beside the new name.
    fn plan(&self, state: &mut State, phase: Knows) {
        let [old, new] = if self.split { [OLD_SPLIT, NEW_SPLIT] } else { [OLD, NEW] };
        let source = *state.server.cell(old);
        let target = state.server.cell(new);
        match (phase, self.split, state.plan) {
            (Knows::Cleanup, ..) => {
                *state.server.cell(old) = Cell::default();
                state.plan = DONE;
            }
            (_, false, _) => {
                if self.moves(phase, source.value, target.value) {
                    (target.value, target.by, target.lease) = (source.value, source.by, 0);
                }
                state.plan = DONE;
            }
            (_, true, 0) => {
                target.lease = PLANS;
                state.plan = 1;
            }
            (_, true, 1) => {
                state.moved = Some((source.value, source.by));
                state.plan = 2;
            }
            _ => {
                if let (PLANS, Some((value, by))) = (target.lease, state.moved) {
                    target.lease = 0;
                    if self.moves(phase, value, target.value) {
                        (target.value, target.by) = (value, by);
                    }
                }
                state.moved = None;
                state.plan = DONE;
            }
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
            plan: if self.plan.is_some() { 0 } else { DONE },
            moved: None,
            faults: self.faults,
            broken: None,
        }]
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        for (at, program) in self.programs.iter().enumerate() {
            if self.has_ended(state, at) || (program.late && state.plan != DONE) {
                continue;
            }
            events.push(Event::Step(at));
            if state.faults > 0 {
                events.extend([Event::Lost(at), Event::Dies(at)]);
            }
        }
        let waits = |at: usize| !self.programs[at].late && !self.has_ended(state, at);
        let begins = !self.plan_last || state.plan > 0 || !(0..self.programs.len()).any(waits);
        let [_, new] = state.server.0;
        let is_busy =
            self.split && state.plan == 0 && new.lease != 0 && self.plan != Some(Knows::Cleanup);
        if state.plan != DONE && begins && !is_busy {
            events.push(Event::Plan);
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
                let names = if change == Change::Delete { removed } else { names };
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
            Event::Plan => self.plan(&mut state, self.plan?),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("what is promised", |_, state: &State| state.broken.is_none()),
            Property::always("exactly the names that the phase says", |world: &World, state| {
                let is_over = (0..world.programs.len()).all(|at| world.has_ended(state, at));
                if !is_over || state.plan != DONE {
                    return true;
                }
                let [old, new] = state.server.0.map(|cell| cell.value);
                let both =
                    |it: &Program| matches!(it.knows, Knows::DualWrite | Knows::ReadFallback);
                let whole = state.running.iter().all(|it| !it.dead) && state.faults == world.faults;
                let changed = state.places > 0 || world.plan.is_some();
                match world.plan {
                    Some(Knows::Cleanup) => old.is_none(),
                    _ if !world.programs.iter().all(both) => true,
                    // Who died half-way has left the rest to a plan.
                    Some(Knows::DualWrite) if world.plan_last => old == new,
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
        write!(f, "{slots}, first {:?}, plan {:?}:", self.first, self.plan)?;
        for Program { knows, acts, .. } in &self.programs {
            write!(f, " {knows:?} {acts:?}")?;
        }
        Ok(())
    }
}

/// How many states there are, or a counterexample if something that is promised does not hold.
fn check(world: &World) -> Result<usize, String> {
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
fn check_all(worlds: &[World]) -> Result<usize, String> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let check_some = |worlds: &[World]| worlds.iter().map(check).sum::<Result<usize, String>>();
    std::thread::scope(|scope| {
        let chunks = worlds.chunks(worlds.len().div_ceil(threads));
        let checks: Vec<_> = chunks.map(|some| scope.spawn(move || check_some(some))).collect();
        checks.into_iter().map(|it| it.join().unwrap()).sum()
    })
}

const SET: Act = Act::Change(Change::Set);
const FILL: Act = Act::Change(Change::Fill);
const ADD: Act = Act::Change(Change::Add);
const DELETED: Act = Act::Change(Change::Delete);

/// The phases that programs may be in at the same time.
pub(super) const ADJACENT: [[Knows; 2]; 6] = [
    [Knows::OldOnly, Knows::DualWrite],
    [Knows::DualWrite, Knows::DualWrite],
    [Knows::DualWrite, Knows::ReadFallback],
    [Knows::ReadFallback, Knows::ReadFallback],
    [Knows::ReadFallback, Knows::Cleanup],
    [Knows::Cleanup, Knows::Cleanup],
];

/// Everything that is promised: each phase with the next, each kind of change with each, one slot or two, with a plan and
/// without.
fn worlds(changes: usize, readers: usize, faults: u8) -> Vec<World> {
    let pairs =
        [[SET, SET], [SET, DELETED], [DELETED, SET], [FILL, SET], [FILL, DELETED], [SET, FILL]];
    let mut worlds = Vec::new();
    for ([one, other], split) in ADJACENT.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let program = |knows, act, count| Program::new(knows, split, vec![act; count]);
        // Across slots, what depends on the value is refused.
        let adds = if split { &[][..] } else { &[[ADD, ADD]][..] };
        for acts in pairs.iter().chain(adds) {
            for (reads, plan) in [(one, None), (other, None), (other, plan_of(one, other))] {
                let mut programs =
                    vec![program(one, acts[0], changes), program(other, acts[1], changes)];
                programs.extend(vec![program(reads, Act::Read, 2); readers]);
                for first in [[true, true], [true, false], [false, false]] {
                    // What was there at the beginning and what goes wrong matter apart from each other.
                    let faults = if changes == 1 && first != [true, true] { 0 } else { faults };
                    let programs = programs.clone();
                    let world = World { split, programs, plan, first, faults, ..World::default() };
                    worlds.push(world);
                }
            }
        }
    }
    worlds
}

/// The step that a plan makes while such programs run.
fn plan_of(one: Knows, other: Knows) -> Option<Knows> {
    match (one, other) {
        (_, Knows::DualWrite) => Some(Knows::DualWrite),
        (Knows::ReadFallback, Knows::ReadFallback) => Some(Knows::ReadFallback),
        (Knows::Cleanup, _) => Some(Knows::Cleanup),
        _ => None,
    }
}

#[test]
fn names_stay_in_step_whatever_happens_in_between() {
    let states = check_all(&worlds(1, 1, 1)).unwrap_or_else(|how| panic!("{how}"));
    assert!(states > 100_000, "{states} states say little");
}

/// `cargo xtask model`.
#[test]
#[ignore = "takes minutes"]
fn names_stay_in_step_with_more_of_everything() {
    for (changes, readers, faults) in [(1, 2, 1), (1, 1, 2), (2, 1, 0), (2, 1, 1)] {
        let worlds = worlds(changes, readers, faults);
        let states = check_all(&worlds).unwrap_or_else(|how| panic!("{how}"));
        let worlds = worlds.len();
        println!(
            "{changes} changes by each, {readers} readers, {faults} faults: {worlds} worlds, {states} states"
        );
    }
}

#[test]
fn each_step_of_a_course_is_needed() {
    let all = worlds(1, 1, 0);
    let without = |steps: &[Step], row: usize| {
        let mut steps = steps.to_vec();
        steps.remove(row);
        &*steps.leak()
    };
    let Course { before, after } = CHANGE;
    let first = (0..before.len()).map(|row| Course { before: without(before, row), after });
    let last = (0..after.len()).map(|row| Course { before, after: without(after, row) });
    for course in first.chain(last) {
        let worlds = all.iter().filter(|it| it.split).map(|it| World { course, ..it.clone() });
        let missed = worlds.map(|world| check(&world)).all(|result| result.is_ok());
        assert!(!missed, "nothing fails with {course:?}");
    }
}

/// Programs that know the old name only delete it alone, and the copy under the new name stays.
#[test]
fn before_the_new_name_counts_a_plan_removes_what_the_old_one_does_not_have() {
    for split in [false, true] {
        let deletes = Program::new(Knows::OldOnly, split, vec![DELETED]);
        let reads = Program::new(Knows::ReadFallback, split, vec![Act::Read]);
        let programs = vec![deletes, Program { late: true, ..reads }];
        let plan = Some(Knows::DualWrite);
        let world = World { split, programs, plan, plan_last: true, ..World::default() };
        check(&world).unwrap();
        let error = check(&World { plan_keeps: true, ..world }).unwrap_err();
        assert!(error.contains("what is promised"), "{error}");
    }
}
