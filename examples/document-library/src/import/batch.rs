//! Steps that a script runs at once, and that are sent before they become too many.

use super::args::Args;
use super::elements::Slot;
use crate::server::{Call, Library, ServerError, fenced, fenced_when_full};
use redis::{Script, Value};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};
use tokio::task::JoinHandle;

static APPLY: LazyLock<Script> = LazyLock::new(|| fenced(include_str!("apply.lua")));
static APPLY_WHEN_FULL: LazyLock<Script> =
    LazyLock::new(|| fenced_when_full(include_str!("apply.lua")));

/// Who writes, under which fence.
pub(super) struct Writer<'l> {
    pub(super) library: &'l Library,
    pub(super) fence_key: String,
    pub(super) fence: u64,
    pub(super) remembered_ms: u64,
    /// Whether a full server does it too
    pub(super) when_full: bool,
    /// The batch that was sent last. The next one is made while the server runs it, and sent when it has succeeded.
    pub(super) under_way: Mutex<Option<JoinHandle<Result<Value, ServerError>>>>,
}

impl Writer<'_> {
    /// Begins a batch about these elements, the document first.
    pub(super) fn batch<'w>(&'w self, slots: &'w [Slot]) -> Batch<'w> {
        let (adds, removes) = (BTreeMap::new(), BTreeMap::new());
        let (steps, work, covered) = (Args::default(), 0, None);
        Batch { writer: self, slots, steps, work, covered, adds, removes }
    }

    /// A script with the fence, not yet run.
    pub(super) fn call(&self, script: &'static Script, keys: &[&str]) -> Call {
        let keys: Vec<&str> =
            std::iter::once(self.fence_key.as_str()).chain(keys.iter().copied()).collect();
        let mut call = Call::new(script, &keys);
        call.arg(self.fence).arg(self.remembered_ms);
        call
    }

    /// Runs a script after all that was sent before.
    pub(super) async fn run(&self, call: &Call) -> Result<Value, ServerError> {
        self.settle().await?;
        self.library.run(call).await
    }

    /// Waits until all that was sent is done.
    pub(super) async fn settle(&self) -> Result<(), ServerError> {
        let last = self.under_way.lock().unwrap_or_else(PoisonError::into_inner).take();
        match last {
            None => Ok(()),
            Some(last) => match last.await {
                Ok(done) => done.map(|_| ()),
                Err(ended) => match ended.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // Tasks are cancelled only while the program ends, and this one with them.
                    Err(_) => std::future::pending().await,
                },
            },
        }
    }

    async fn send(&self, call: Call) -> Result<(), ServerError> {
        self.settle().await?;
        let started = self.library.start(call);
        *self.under_way.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
        Ok(())
    }
}

/// Steps on their way.
pub(super) struct Batch<'w> {
    writer: &'w Writer<'w>,
    slots: &'w [Slot],
    steps: Args,
    work: usize,
    /// The elements that steps refer to by their positions
    covered: Option<Range<usize>>,
    /// Members that are added, by set, with its bound
    adds: BTreeMap<String, (u64, Args)>,
    removes: BTreeMap<String, Args>,
}

impl Batch<'_> {
    /// A command with its key and the rest.
    pub(super) fn command(&mut self, parts: &[&str]) {
        self.step("run", parts.len());
        self.steps.texts(parts.iter().copied());
    }

    /// Adds a member to a set that has at most so many.
    pub(super) fn add(&mut self, set: &str, bound: u64, member: &str) {
        self.work += 1;
        if let Some((_, members)) = self.adds.get_mut(set) {
            members.text(member);
        } else {
            let mut members = Args::default();
            members.text(member);
            self.adds.insert(set.to_owned(), (bound, members));
        }
    }

    /// Removes a member from a set.
    pub(super) fn remove(&mut self, set: &str, member: &str) {
        self.work += 1;
        if let Some(members) = self.removes.get_mut(set) {
            members.text(member);
        } else {
            let mut members = Args::default();
            members.text(member);
            self.removes.insert(set.to_owned(), members);
        }
    }

    /// Links elements that follow each other to those before and after them.
    pub(super) async fn link(&mut self, places: Range<usize>) -> Result<(), ServerError> {
        let around = places.start.saturating_sub(1).max(1)..self.slots.len().min(places.end + 1);
        self.cover(around).await?;
        self.step("link", 2);
        self.steps.place(places.start);
        self.steps.place(places.end - 1);
        self.work += 4 * places.len();
        Ok(())
    }

    /// Writes the sets of the siblings of some children of one parent.
    pub(super) fn siblings(&mut self, children: &[usize], of: Range<usize>, reach: usize) {
        let from = of.start.saturating_sub(reach);
        let to = children.len().min(of.end + reach);
        self.step("siblings", 3 + to - from);
        self.steps.place(reach);
        self.steps.place(of.start - from + 1);
        self.steps.place(of.end - from);
        let slots = self.slots;
        self.steps.texts(children[from..to].iter().map(|at| slots[*at].name.as_str()));
        // To copy a member takes less than to be given one.
        self.work += of.len() * (4 + children.len().min(2 * reach) / 3);
    }

    /// Puts elements that follow each other below one that is above all of them. `children` are those directly below it.
    /// Its sets have at most so many members, unless that is 0.
    pub(super) async fn below(
        &mut self,
        bound: u64,
        parent: usize,
        places: Range<usize>,
        children: &[usize],
    ) -> Result<(), ServerError> {
        self.cover(places.clone()).await?;
        self.step("below", 4 + children.len());
        let slots = self.slots;
        self.steps.number(bound);
        self.steps.text(&slots[parent].name);
        self.steps.place(places.start);
        self.steps.place(places.end - 1);
        self.steps.texts(children.iter().map(|at| slots[*at].name.as_str()));
        self.work += 3 * places.len();
        Ok(())
    }

    fn step(&mut self, word: &str, arguments: usize) {
        self.steps.text(word);
        self.steps.place(arguments);
        self.work += arguments;
    }

    /// Steps may refer to these elements. What was covered before stays so, if that is not too much.
    async fn cover(&mut self, places: Range<usize>) -> Result<(), ServerError> {
        let both = match &self.covered {
            None => places.clone(),
            Some(covered) => covered.start.min(places.start)..covered.end.max(places.end),
        };
        if self.covered.is_some() && both.len() > self.writer.library.limits.names {
            self.send().await?;
            self.covered = Some(places);
        } else {
            self.covered = Some(both);
        }
        Ok(())
    }

    /// Sends what has gathered, if that is enough. What came since the last call is in one step.
    pub(super) async fn send_if_full(&mut self) -> Result<(), ServerError> {
        let limits = &self.writer.library.limits;
        let is_full = self.work >= limits.work || self.steps.size() >= limits.bytes;
        if is_full { self.send().await } else { Ok(()) }
    }

    /// Sends what has gathered, after what was sent before has succeeded.
    pub(super) async fn send(&mut self) -> Result<(), ServerError> {
        let most = self.writer.library.limits.members;
        for (set, (bound, members)) in std::mem::take(&mut self.adds) {
            for from in (0..members.count()).step_by(most) {
                let to = members.count().min(from + most);
                self.step("add", 2 + to - from);
                self.steps.number(bound);
                self.steps.text(&set);
                self.steps.append(&members, from, to);
            }
        }
        for (set, members) in std::mem::take(&mut self.removes) {
            for from in (0..members.count()).step_by(most) {
                let to = members.count().min(from + most);
                self.step("run", 2 + to - from);
                self.steps.texts(["SREM", &set]);
                self.steps.append(&members, from, to);
            }
        }
        let steps = std::mem::take(&mut self.steps);
        let covered = self.covered.take().unwrap_or(0..0);
        self.work = 0;
        if steps.count() == 0 {
            return Ok(());
        }
        let script = if self.writer.when_full { &APPLY_WHEN_FULL } else { &APPLY };
        let mut names = Args::default();
        names.texts(self.slots[covered.clone()].iter().map(|slot| slot.name.as_str()));
        let mut call = self.writer.call(script, &[]);
        call.arg(covered.start).arg(names.count()).arg(names).arg(steps);
        self.writer.send(call).await
    }
}
