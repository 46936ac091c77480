//! What becomes of one member: in one step, or set by set.

use super::super::core::Core;
use super::super::error::Error;
use super::super::lua::{Lua, lua};
use super::super::request::Call;
use super::super::session::is_near;
use super::super::write::about;
use super::{Place, Reverse, bounds};
use crate::Definition;
use redis::{Cmd, Value};

static CHANGE: Lua = lua!("time.lua", "change.lua");
static REMOVE: Lua = lua!("../session/full.lua", "time.lua", "change.lua");
static PLAN: Lua = lua!("time.lua", "plan.lua");
static PLAN_REMOVAL: Lua = lua!("../session/full.lua", "time.lua", "plan.lua");
static PUT: Lua = lua!("time.lua", "set.lua");
static DROP: Lua = lua!("../session/full.lua", "time.lua", "set.lua");
static FINISH: Lua = lua!("../session/full.lua", "finish.lua");

/// More sets than one script should touch at once.
const AT_ONCE: usize = 1000;
/// How often a reverse is read again because it was changed meanwhile.
const ATTEMPTS: usize = 32;

/// What must be so for a change to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Only {
    /// Nothing
    Always = 0,
    /// The reverse holds nothing but the sets of the change
    These = 1,
    /// The reverse does not hold the sets that lose the member
    Unnamed = 2,
}

/// A member, the sets that gain it and the sets that lose it.
pub(super) struct Change<'c> {
    pub(super) core: &'c Core,
    pub(super) index: &'static Definition,
    pub(super) member: Vec<u8>,
    pub(super) reverse: Option<Reverse>,
    pub(super) gaining: Vec<Place>,
    pub(super) losing: Vec<Place>,
    /// What the reverse is to lose besides: it names no set
    pub(super) strays: Vec<String>,
}

impl Change<'_> {
    /// Makes the change.
    pub(super) async fn run(&self, only: Only) -> Result<(), Error> {
        if self.is_together() {
            return self.in_one_step(only).await.map(|_| ());
        }
        if let Some(reverse) = &self.reverse {
            return self.step_by_step(reverse, only, |_| None).await;
        }
        // Without a reverse, the set that gains comes first.
        for (gaining, losing) in [(&self.gaining[..], &[][..]), (&[], &self.losing[..])] {
            let (gaining, losing) = (gaining.to_vec(), losing.to_vec());
            let (member, strays) = (self.member.clone(), Vec::new());
            let part = Change {
                core: self.core,
                index: self.index,
                member,
                reverse: None,
                gaining,
                losing,
                strays,
            };
            if !part.gaining.is_empty() || !part.losing.is_empty() {
                part.in_one_step(Only::Always).await?;
            }
        }
        Ok(())
    }

    /// Makes the sets that gain the member its only ones; `place` finds the set that a reverse means.
    pub(super) async fn assign(
        mut self,
        place: impl Fn(&str) -> Option<Place>,
    ) -> Result<(), Error> {
        let Some(reverse) = self.reverse.clone() else { return Ok(()) };
        for _ in 0..ATTEMPTS {
            let held = self.core.ask(&about("SMEMBERS", &reverse.name)).await;
            let held = held.map_err(|error| error.about(reverse.definition.name))?;
            let held: Vec<String> =
                redis::from_redis_value(held).map_err(|_| Error::Malformed {
                    definition: reverse.definition.name,
                    field: None,
                    why: "a member is not text".to_owned(),
                })?;
            let stays = |word: &String| self.gaining.iter().any(|place| place.word == *word);
            let lost: Vec<String> = held.into_iter().filter(|word| !stays(word)).collect();
            self.losing = lost.iter().filter_map(|word| place(word)).collect();
            self.strays = lost.into_iter().filter(|word| place(word).is_none()).collect();
            if !self.is_together() {
                return self.step_by_step(&reverse, Only::These, place).await;
            }
            if self.in_one_step(Only::These).await? {
                return Ok(());
            }
        }
        Err(Error::Unavailable("the reverse of a member is changed too often".into()))
    }

    /// Whether one script can do it.
    fn is_together(&self) -> bool {
        let places = self.gaining.iter().chain(&self.losing).map(|place| &place.name);
        let mut names = places.chain(self.reverse.iter().map(|reverse| &reverse.name));
        let Some(first) = names.next() else { return true };
        self.gaining.len() + self.losing.len() < AT_ONCE
            && names.all(|name| is_near(self.core, first, name))
    }

    /// Whether it was done; otherwise what must be so is not.
    async fn in_one_step(&self, only: Only) -> Result<bool, Error> {
        let places = self.gaining.iter().chain(&self.losing);
        let mut keys: Vec<&str> = places.clone().map(|place| place.name.as_str()).collect();
        if let Some(reverse) = &self.reverse {
            keys.extend([reverse.name.as_str(), reverse.versions.as_str()]);
        }
        // Whoever only removes can do that on a full server.
        let script = if self.gaining.is_empty() { &REMOVE } else { &CHANGE };
        let call = script.call(&keys, |cmd| {
            cmd.arg(self.gaining.len()).arg(self.losing.len()).arg(&self.member);
            cmd.arg(&bounds(self.index));
            cmd.arg(&self.reverse.as_ref().map_or([0; 3], |reverse| bounds(reverse.definition)));
            cmd.arg(only as u8);
            for place in places {
                cmd.arg(&place.word);
            }
            cmd.arg(&self.strays);
        });
        match self.core.send(&call.repeatable()).await? {
            Value::Int(1) => Ok(true),
            Value::Int(-1) => Err(full(self.index)),
            Value::Int(-2) => {
                Err(full(self.reverse.as_ref().map_or(self.index, |it| it.definition)))
            }
            _ => Ok(false),
        }
    }

    /// The reverse goes first, then the sets that gain the member, then those that lose it, then the reverse again.
    async fn step_by_step(
        &self,
        reverse: &Reverse,
        only: Only,
        place: impl Fn(&str) -> Option<Place>,
    ) -> Result<(), Error> {
        let script = if self.gaining.is_empty() { &PLAN_REMOVAL } else { &PLAN };
        let plan = script.call(&[&reverse.name, &reverse.versions], |cmd| {
            cmd.arg(only as u8).arg(&bounds(reverse.definition)).arg(self.gaining.len());
            for place in self.gaining.iter().chain(&self.losing) {
                cmd.arg(&place.word);
            }
        });
        let plan = self.core.send(&plan.repeatable()).await;
        let plan = plan.map_err(|error| error.about(reverse.definition.name))?;
        let planned: Option<Vec<String>> = redis::from_redis_value(plan).map_err(|_| {
            Error::Unavailable("the answer to a change cannot be understood".into())
        })?;
        let Some(planned) = planned else { return Err(full(reverse.definition)) };
        let Some((version, lost)) = planned.split_first() else { return Ok(()) };
        let losing: Vec<Place> = if only == Only::These {
            lost.iter().filter_map(|word| place(word)).collect()
        } else {
            self.losing.clone()
        };

        let mut gone: Vec<&str> = lost.iter().map(String::as_str).collect();
        let mut refused = None;
        let puts = self.gaining.iter().map(|place| self.part(&PUT, place, true, version)).collect();
        let put = self.core.send_each(puts).await.map_err(Error::after_a_change)?;
        for (place, answer) in self.gaining.iter().zip(put) {
            match answer.map_err(Error::after_a_change)? {
                Value::Int(-1) => {
                    gone.push(&place.word);
                    refused = Some(full(self.index));
                }
                Value::Int(-2) => {
                    refused = Some(Error::Unavailable("the change came too late".into()));
                }
                _ => {}
            }
        }
        if refused.is_none() {
            let drops =
                losing.iter().map(|place| self.part(&DROP, place, false, version)).collect();
            for answer in self.core.send_each(drops).await.map_err(Error::after_a_change)? {
                if answer.map_err(Error::after_a_change)? == Value::Int(-2) {
                    return Err(Error::Unknown("the change came too late".into()));
                }
            }
        } else {
            // What was to be lost stays: only sets that had no room are let go of.
            gone.retain(|word| self.gaining.iter().any(|place| place.word == *word));
        }
        let finish =
            FINISH.call(&[&reverse.name, &reverse.versions], |cmd| _ = cmd.arg(version).arg(&gone));
        self.core.send(&finish.repeatable()).await.map_err(Error::after_a_change)?;
        refused.map_or(Ok(()), Err)
    }

    fn part(&self, script: &'static Lua, place: &Place, put: bool, version: &str) -> Call {
        let args = |cmd: &mut Cmd| {
            cmd.arg(u8::from(put)).arg(&self.member).arg(version).arg(&bounds(self.index));
        };
        script.call(&[&place.name, &place.changes], args).repeatable()
    }
}

fn full(definition: &'static Definition) -> Error {
    Error::Full { definition: definition.name, max_len: definition.behaviour.max_len.unwrap_or(0) }
}
