//! Writing: value and TTL in one step, always.

use super::core::Core;
use super::lua::{Lua, lua};
use super::names::Names;
use super::names::course::{self, ENDING};
use super::request::{Call, Calls};
use crate::Definition;
use redis::{Arg, Cmd, ToRedisArgs};

static WRITE: Lua = lua!("names/stamp.lua", "lua/write.lua");
static INDEX: Lua = lua!("lua/index.lua");

/// A command about the key, without the key: its name, then its arguments.
#[derive(Debug, Clone, Default)]
pub struct Command(pub(crate) Vec<Vec<u8>>);

impl Command {
    pub(crate) fn new(name: &str) -> Self {
        Command(vec![name.as_bytes().to_vec()])
    }

    /// A command that has a key, without it.
    pub(crate) fn without_key(cmd: &Cmd) -> Self {
        let args = cmd.args_iter().enumerate().filter(|(at, _)| *at != 1);
        let bytes = args.filter_map(|(_, arg)| match arg {
            Arg::Simple(bytes) => Some(bytes.to_vec()),
            _ => None,
        });
        Command(bytes.collect())
    }

    pub(crate) fn arg(mut self, arg: impl ToRedisArgs) -> Self {
        self.0.extend(arg.to_redis_args());
        self
    }
}

/// Whether what is there is replaced, changed, or must not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Whole,
    Part,
    Present,
    Absent,
    /// There is none, and that is remembered
    None,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Whole => "whole",
            Mode::Part => "part",
            Mode::Present => "present",
            Mode::Absent => "absent",
            Mode::None => "none",
        }
    }
}

/// A write.
pub(crate) struct Write<'w> {
    pub(crate) definition: &'static Definition,
    pub(crate) names: &'w Names,
    pub(crate) indexes: &'w [String],
    pub(crate) mode: Mode,
    pub(crate) commands: Vec<Command>,
    /// In milliseconds; `None` if the key never expires
    pub(crate) ttl: Option<u64>,
    /// The token of the lease that must still hold
    pub(crate) token: Option<&'w str>,
    /// Whether a TTL that is running stays
    pub(crate) keep_ttl: bool,
    /// Whether what does not fit is refused; otherwise it is trimmed
    pub(crate) refuse: bool,
}

impl Write<'_> {
    /// What is sent. The first answer is that of the script: see `lua/write.lua`.
    pub(crate) fn calls(&self, core: &Core) -> Calls {
        let cluster = core.is_cluster();
        let (near, _) = self.names.by_slot(cluster);
        // On a cluster an index is on another node. It is written first: an index may name a key
        // that does not exist, but no key may exist that its index does not name.
        let (noted, indexes) = if cluster {
            let live = self.live().unwrap_or(0);
            (note_in_indexes(self.indexes, self.names.own(), live), &[][..])
        } else {
            (Vec::new(), self.indexes)
        };
        let behaviour = &self.definition.behaviour;
        let derived = |word: &'static str| self.names.derived(word).map(|key| (word, key));
        let role = |name: &str| if self.names.is_copy(name) { "copy" } else { "other" };
        let mut keys: Vec<(&str, String)> =
            near.iter().map(|name| (role(name), (*name).to_owned())).collect();
        let beside = near.iter().flat_map(|name| ENDING.map(|it| self.names.derived_of(name, it)));
        keys.extend(beside.flatten().map(|key| ("ended", key)));
        keys.extend(derived("lease"));
        keys.extend(behaviour.stale_ms.and_then(|_| derived("stale")));
        keys.extend(behaviour.negative_ms.and_then(|_| derived("none")));
        keys.extend(behaviour.refreshed.then(|| derived("refresh")).flatten());
        keys.extend(self.names.is_split(cluster).then(|| derived("version")).flatten());
        keys.extend(indexes.iter().map(|index| ("index", index.clone())));
        let roles: Vec<&str> = keys.iter().map(|(role, _)| *role).collect();
        let mut names = vec![self.names.name.as_str()];
        names.extend(keys.iter().map(|(_, key)| key.as_str()));
        let change = self.script(&names, &roles.join(","));
        let mut calls = course::CHANGE.calls(self.names, &[], cluster, change);
        calls.before.extend(noted);
        calls.uses = self.names.written_by(self.definition.name);
        calls
    }

    /// How long the key, or what is derived of it, may be there.
    fn live(&self) -> Option<u64> {
        let stale = self.definition.behaviour.stale_ms.unwrap_or(0);
        self.ttl.map(|ttl| ttl.saturating_add(stale))
    }

    fn script(&self, keys: &[&str], roles: &str) -> Call {
        let behaviour = &self.definition.behaviour;
        WRITE.call(keys, |cmd| {
            cmd.arg(roles)
                .arg(self.mode.name())
                .arg(self.ttl.unwrap_or(0))
                .arg(u8::from(self.keep_ttl))
                .arg(self.token.unwrap_or_default())
                .arg(behaviour.stale_ms.unwrap_or(0))
                .arg(behaviour.max_len.unwrap_or(0))
                .arg(u8::from(self.refuse))
                .arg(self.definition.key_type.unwrap_or("string"))
                .arg(self.names.own())
                .arg(u8::from(behaviour.sliding))
                .arg(self.names.clock());
            for command in &self.commands {
                cmd.arg(command.0.len());
                for arg in &command.0 {
                    cmd.arg(arg.as_slice());
                }
            }
        })
    }
}

/// Tells indexes that a key may exist for so many milliseconds; 0 is for ever.
pub(crate) fn note_in_indexes(indexes: &[String], own: &str, live: u64) -> Vec<Call> {
    let note = |index: &String| INDEX.call(&[index], |cmd| _ = cmd.arg(own).arg(live)).repeatable();
    indexes.iter().map(note).collect()
}

/// A command about one key.
pub(crate) fn about(command: &str, name: &str) -> Cmd {
    // Sized for most commands: growing twice cost more than everything else here.
    let mut cmd = Cmd::with_capacity(4, command.len() + name.len() + 16);
    cmd.arg(command).arg(name);
    cmd
}
