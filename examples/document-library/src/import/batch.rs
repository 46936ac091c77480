//! Commands that a script runs in one step, and that are sent before they become too many.

use super::super::server::{Library, ServerError, fenced};
use redis::{Script, ToRedisArgs};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static APPLY: LazyLock<Script> = LazyLock::new(|| fenced(include_str!("apply.lua")));

/// How many arguments a batch has at most, roughly: the server runs them within milliseconds.
const ARGUMENTS: usize = 20_000;
/// How many bytes a batch has at most, roughly; one element may have more.
const BYTES: usize = 1 << 20;
/// How many members one command adds: Lua takes 8,000 arguments at most.
pub(super) const MEMBERS: usize = 1000;

/// Who writes, under which fence.
pub(super) struct Writer<'l> {
    pub(super) library: &'l Library,
    pub(super) fence_key: String,
    pub(super) fence: u64,
    pub(super) remembered_ms: u64,
}

impl Writer<'_> {
    /// Begins a batch.
    pub(super) fn batch(&self) -> Batch<'_> {
        let (values, adds, removes) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Batch { writer: self, args: Vec::new(), size: 0, count: 0, values, adds, removes }
    }
}

/// Commands on their way.
pub(super) struct Batch<'w> {
    writer: &'w Writer<'w>,
    args: Vec<Vec<u8>>,
    count: usize,
    size: usize,
    /// Strings that are set
    values: Vec<String>,
    /// Members that are added, by set, with its bound
    adds: BTreeMap<String, (u64, Vec<String>)>,
    removes: BTreeMap<String, Vec<String>>,
}

impl Batch<'_> {
    /// A command with its key and the rest.
    pub(super) fn command(&mut self, parts: &[&str]) {
        self.bounded(0, parts);
    }

    fn bounded(&mut self, bound: u64, parts: &[&str]) {
        self.args.push(bound.to_string().into_bytes());
        self.args.push(parts.len().to_string().into_bytes());
        for part in parts {
            self.size += part.len();
            self.args.push(part.as_bytes().to_vec());
        }
        self.count += parts.len();
    }

    /// Sets a string.
    pub(super) fn set(&mut self, key: String, value: &str) {
        self.note(&key, value);
        self.values.push(key);
        self.values.push(value.to_owned());
    }

    /// Adds a member to a set that has at most so many.
    pub(super) fn add(&mut self, key: &str, bound: u64, member: &str) {
        self.note("", member);
        match self.adds.get_mut(key) {
            Some((_, members)) => members.push(member.to_owned()),
            None => _ = self.adds.insert(key.to_owned(), (bound, vec![member.to_owned()])),
        }
    }

    /// Removes a member from a set.
    pub(super) fn remove(&mut self, key: &str, member: &str) {
        self.note("", member);
        match self.removes.get_mut(key) {
            Some(members) => members.push(member.to_owned()),
            None => _ = self.removes.insert(key.to_owned(), vec![member.to_owned()]),
        }
    }

    /// A command with many members.
    pub(super) fn members(&mut self, bound: u64, command: &str, key: &str, members: &[&str]) {
        for members in members.chunks(MEMBERS) {
            let mut parts = vec![command, key];
            parts.extend(members);
            self.bounded(bound, &parts);
        }
    }

    fn note(&mut self, key: &str, value: &str) {
        self.count += 1;
        self.size += key.len() + value.len();
    }

    /// Sends what has gathered, if that is enough. What came since the last call is in one step.
    pub(super) async fn send_if_full(&mut self) -> Result<(), ServerError> {
        if self.count >= ARGUMENTS || self.size >= BYTES { self.send().await } else { Ok(()) }
    }

    /// Sends what has gathered.
    pub(super) async fn send(&mut self) -> Result<(), ServerError> {
        let values = std::mem::take(&mut self.values);
        for values in values.chunks(2 * MEMBERS) {
            let parts: Vec<&str> =
                ["MSET"].into_iter().chain(values.iter().map(String::as_str)).collect();
            self.bounded(0, &parts);
        }
        for (key, (bound, members)) in std::mem::take(&mut self.adds) {
            let members: Vec<&str> = members.iter().map(String::as_str).collect();
            self.members(bound, "SADD", &key, &members);
        }
        for (key, members) in std::mem::take(&mut self.removes) {
            let members: Vec<&str> = members.iter().map(String::as_str).collect();
            self.members(0, "SREM", &key, &members);
        }
        let args = std::mem::take(&mut self.args);
        (self.count, self.size) = (0, 0);
        if args.is_empty() {
            return Ok(());
        }
        let Writer { library, fence_key, fence, remembered_ms } = self.writer;
        let mut call = APPLY.key(fence_key);
        call.arg(fence).arg(remembered_ms).arg(Args(&args));
        library.run(&call).await.map(|_| ())
    }
}

/// Many arguments.
pub(super) struct Args<'a>(pub(super) &'a [Vec<u8>]);

impl ToRedisArgs for Args<'_> {
    fn write_redis_args<W: ?Sized + redis::RedisWrite>(&self, out: &mut W) {
        for arg in self.0 {
            out.write_arg(arg);
        }
    }
}
