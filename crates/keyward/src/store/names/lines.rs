//! A model of programs that push jobs to one queue and work on it, under its old and its new name.
//!
//! A push goes to the name that counts, and workers take from all names, old ones first. No plan copies a queue: its jobs
//! leave the old name only by being done, and `cleanup` is refused until nothing of the old queue is left.

use super::Names;
use super::model::{ADJACENT, Knows, plan_of};
use stateright::{Checker, Model, Property};

pub(super) type Job = u8;

/// The jobs that wait under one name: what `push.lua` and `take.lua` do to them, which a property test compares with the
/// scripts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Waiting(pub(super) Vec<Job>);

impl Waiting {
    pub(super) fn push(&mut self, job: Job) {
        self.0.push(job);
    }

    /// The next job, if there is one.
    pub(super) fn take(&mut self) -> Option<Job> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    /// A job whose lease has ended is the next one.
    pub(super) fn bring_back(&mut self, job: Job) {
        self.0.insert(0, job);
    }
}

#[derive(Debug, Clone)]
struct Member {
    knows: Knows,
    names: Names,
    /// How many jobs it pushes; whoever pushes none works
    pushes: u8,
}

#[derive(Debug, Clone)]
struct Queue {
    split: bool,
    members: Vec<Member>,
    /// How many jobs are under the old name and the new one at the beginning
    first: [u8; 2],
    /// How many workers may die, how many answers may be lost, and how many leases may end too early
    faults: u8,
    plan: Option<Knows>,
    /// Whether a plan copies the queue, as it does with other keys: it must not
    copies: bool,
    /// Whether `cleanup` is refused while something of the old queue is left
    gated: bool,
}

/// What a worker has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Lease {
    job: Job,
    /// The name that it was taken from
    at: usize,
    worker: usize,
    handled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    waiting: [Waiting; 2],
    leases: Vec<Lease>,
    pushed: Vec<u8>,
    dead: Vec<bool>,
    acknowledged: Vec<bool>,
    handled: Vec<u8>,
    /// Jobs of which a worker died or an answer was lost: they may be handled again
    excused: Vec<bool>,
    faults: u8,
    is_planned: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Event {
    Push(usize),
    /// The job is pushed, the answer is lost, and the program pushes it once more
    PushLost(usize),
    Take(usize),
    Handle(usize),
    Finish(usize),
    /// The worker hears nothing of whether its job has ended: it has not
    FinishLost(usize),
    Dies(usize),
    /// The lease of a worker ends that is dead or slow
    Ends(usize),
    Plan,
}

impl Queue {
    fn jobs(&self) -> u8 {
        self.first.iter().sum::<u8>() + self.members.iter().map(|it| it.pushes).sum::<u8>()
    }

    /// The number of a program's next job.
    fn job(&self, state: &State, member: usize) -> Job {
        let before: u8 = self.members[..member].iter().map(|it| it.pushes).sum();
        self.first.iter().sum::<u8>() + before + state.pushed[member]
    }

    fn place(&self, name: &str) -> usize {
        usize::from(Knows::Cleanup.names(self.split).name == name)
    }

    /// Where a worker takes its next job from.
    fn next(&self, state: &State, member: usize) -> Option<usize> {
        let worked = self.members[member].names.worked();
        worked.into_iter().map(|name| self.place(name)).find(|at| !state.waiting[*at].0.is_empty())
    }

    fn works(&self, state: &State, member: usize) -> bool {
        self.members[member].pushes == 0 && !state.dead[member]
    }

    fn is_over(&self, state: &State) -> bool {
        let over = |(at, it): (usize, &Member)| {
            state.dead[at]
                || (state.pushed[at] == it.pushes
                    && (it.pushes > 0 || self.next(state, at).is_none()))
        };
        state.leases.is_empty() && self.members.iter().enumerate().all(over)
    }

    fn push(&self, state: &mut State, member: usize) -> Job {
        let job = self.job(state, member);
        state.waiting[self.place(self.members[member].names.pushed())].push(job);
        job
    }

    fn plan(&self, state: &mut State, phase: Knows) {
        let is_used = !state.waiting[0].0.is_empty() || state.leases.iter().any(|it| it.at == 0);
        match phase {
            // Refused, and made again later.
            Knows::Cleanup if self.gated && is_used => {}
            Knows::Cleanup => {
                state.waiting[0].0.clear();
                state.leases.retain(|it| it.at != 0);
                state.is_planned = true;
            }
            _ if self.copies => {
                state.waiting[1] = state.waiting[0].clone();
                state.is_planned = true;
            }
            _ => state.is_planned = true,
        }
    }
}

impl Model for Queue {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        let [old, new] = self.first;
        let jobs = usize::from(self.jobs());
        let acknowledged = (0..jobs).map(|job| job < usize::from(old + new)).collect();
        vec![State {
            waiting: [Waiting((0..old).collect()), Waiting((old..old + new).collect())],
            leases: Vec::new(),
            pushed: vec![0; self.members.len()],
            dead: vec![false; self.members.len()],
            acknowledged,
            handled: vec![0; jobs],
            excused: vec![false; jobs],
            faults: self.faults,
            is_planned: self.plan.is_none(),
        }]
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        let is_faulty = state.faults > 0;
        for (at, member) in self.members.iter().enumerate() {
            let lease = state.leases.iter().find(|it| it.worker == at);
            if lease.is_some() && (state.dead[at] || is_faulty) {
                events.push(Event::Ends(at));
            }
            if state.dead[at] {
                continue;
            }
            if state.pushed[at] < member.pushes {
                events.push(Event::Push(at));
                events.extend(is_faulty.then_some(Event::PushLost(at)));
            }
            if member.pushes > 0 {
                continue;
            }
            match lease {
                None => events.extend(self.next(state, at).map(|_| Event::Take(at))),
                Some(lease) if !lease.handled => events.push(Event::Handle(at)),
                Some(_) => {
                    events.push(Event::Finish(at));
                    events.extend(is_faulty.then_some(Event::FinishLost(at)));
                }
            }
            events.extend(is_faulty.then_some(Event::Dies(at)));
        }
        events.extend((!state.is_planned).then_some(Event::Plan));
    }

    fn next_state(&self, before: &State, event: Event) -> Option<State> {
        let mut state = before.clone();
        let lease =
            |state: &State, worker: usize| state.leases.iter().position(|it| it.worker == worker);
        match event {
            Event::Push(member) => {
                let job = self.push(&mut state, member);
                state.acknowledged[usize::from(job)] = true;
                state.pushed[member] += 1;
            }
            Event::PushLost(member) => {
                state.faults -= 1;
                let job = self.push(&mut state, member);
                state.excused[usize::from(job)] = true;
            }
            Event::Take(worker) => {
                let at = self.next(&state, worker)?;
                let job = state.waiting[at].take()?;
                state.leases.push(Lease { job, at, worker, handled: false });
            }
            Event::Handle(worker) => {
                let lease = lease(&state, worker)?;
                let lease = &mut state.leases[lease];
                lease.handled = true;
                state.handled[usize::from(lease.job)] += 1;
            }
            Event::Finish(worker) => _ = state.leases.remove(lease(&state, worker)?),
            // A lease that ends brings its job back under the name that it came from.
            Event::FinishLost(worker) | Event::Ends(worker) => {
                let is_due = state.dead[worker] && matches!(event, Event::Ends(_));
                state.faults -= u8::from(!is_due);
                let Lease { job, at, .. } = state.leases.remove(lease(&state, worker)?);
                state.waiting[at].bring_back(job);
                state.excused[usize::from(job)] = true;
            }
            Event::Dies(worker) => {
                state.faults -= 1;
                state.dead[worker] = true;
            }
            Event::Plan => self.plan(&mut state, self.plan?),
        }
        (state != *before).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(LOST, |_: &Queue, state: &State| {
                let there = |job: Job| {
                    state.waiting.iter().any(|it| it.0.contains(&job))
                        || state.leases.iter().any(|it| it.job == job)
                };
                let jobs = state.acknowledged.iter().zip(&state.handled).zip(0..);
                jobs.into_iter().all(|((said, handled), job)| !said || *handled > 0 || there(job))
            }),
            Property::always(TWICE, |_, state: &State| {
                state
                    .handled
                    .iter()
                    .zip(&state.excused)
                    .all(|(count, excused)| *count <= 1 || *excused)
            }),
            Property::always("what is pushed is worked on", |it: &Queue, state: &State| {
                let first = it.first.iter().sum::<u8>();
                let works = (0..it.members.len()).any(|at| it.works(state, at));
                let mut left = state.waiting.iter().flat_map(|it| &it.0);
                !it.is_over(state) || !works || left.all(|job| *job < first)
            }),
            Property::sometimes("all is done", |it: &Queue, state: &State| {
                it.is_over(state) && state.waiting.iter().all(|it| it.0.is_empty())
            }),
        ]
    }
}

const LOST: &str = "no acknowledged job is lost";
const TWICE: &str = "no job is handled twice without a reason";

/// Who pushes, and who works, in each of two phases.
fn queue([one, other]: [Knows; 2], split: bool, pushes: u8, faults: u8) -> Queue {
    let member = |knows: Knows, pushes| Member { knows, names: knows.names(split), pushes };
    let members =
        vec![member(one, pushes), member(one, 0), member(other, pushes), member(other, 0)];
    let knows_old = members.iter().any(|it| it.knows != Knows::Cleanup);
    let first = [u8::from(knows_old), u8::from(other != Knows::DualWrite)];
    let plan = plan_of(one, other);
    Queue { split, members, first, faults, plan, copies: false, gated: true }
}

fn check(pushes: u8, faults: u8) -> usize {
    let all = ADJACENT.into_iter().flat_map(|it| [(it, false), (it, true)]);
    all.map(|(phases, split)| {
        let checker = queue(phases, split, pushes, faults).checker().spawn_bfs().join();
        checker.assert_properties();
        checker.unique_state_count()
    })
    .sum()
}

#[test]
fn no_job_is_lost_while_its_queue_is_renamed() {
    assert!(check(1, 1) > 5_000);
}

/// `cargo xtask model`.
#[test]
#[ignore = "takes minutes"]
fn no_job_is_lost_with_more_of_everything() {
    for (pushes, faults) in [(1, 2), (2, 0), (2, 1)] {
        println!("{pushes} jobs pushed by each, {faults} faults: {} states", check(pushes, faults));
    }
}

#[test]
fn a_queue_that_a_plan_copied_would_be_worked_on_twice() {
    let queue = queue([Knows::DualWrite, Knows::DualWrite], false, 1, 0);
    let copied = Queue { copies: true, ..queue };
    assert!(copied.checker().spawn_bfs().join().discovery(TWICE).is_some());
}

#[test]
fn without_its_gate_cleanup_would_lose_what_is_left_under_the_old_name() {
    let queue = queue([Knows::ReadFallback, Knows::Cleanup], false, 1, 0);
    let plan = Some(Knows::Cleanup);
    let gated = Queue { plan, ..queue };
    gated.clone().checker().spawn_bfs().join().assert_properties();
    let open = Queue { gated: false, ..gated };
    assert!(open.checker().spawn_bfs().join().discovery(LOST).is_some());
}
