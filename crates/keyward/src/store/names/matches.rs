//! The scripts do to a real server what the model says, whatever they find there.

use super::Names;
use super::course::{Course, Step, forget};
use super::model::{Change, PLANS, REMOVED, Server, Stamp};
use super::tests::{LEASE, names, on_clusters, write};
use crate::store::core::Core;
use crate::store::counter::counting;
use crate::store::emit::BESIDE;
use crate::store::lua::{Lua, lua};
use crate::store::request::{Answers, Calls};
use crate::store::write::{Command, Mode, Write};
use redis::{Cmd, Value};

static TAKE: Lua = lua!("take.lua");

/// Who makes the change, and what it writes.
pub(super) const BY: u8 = 9;
/// A version that a clock will not reach for years.
const FUTURE: u64 = 8_000_000_000_000_000;

#[tokio::test]
async fn the_scripts_do_what_the_model_says() {
    on_clusters(async |core, _| {
        let mut random = fastrand::Rng::with_seed(14);
        for round in 0..400 {
            let cluster = random.bool();
            let both = if cluster { ["old", "new"] } else { ["{k}old", "{k}new"] };
            let names = names(random.bool(), both);
            assert_eq!(names.is_split(true), cluster);
            let before = state(&mut random);
            let case = Case { core, names: &names, both };
            case.put(before).await;
            let (what, expected) = case.act(&mut random, before).await;
            let found = case.get().await;
            assert_eq!(found, expected.seen(), "round {round}: {what} of {names:?} at {before:?}");
        }
    })
    .await;
}

pub(super) fn state(random: &mut fastrand::Rng) -> Server {
    let mut server = Server::default();
    for cell in &mut server.0 {
        cell.value = [None, Some(1), Some(2)][random.usize(..3)];
        cell.version = [0, 10, 21, FUTURE][random.usize(..4)];
        cell.lease = [0, BY, 13, REMOVED, PLANS][random.usize(..5)];
    }
    server
}

pub(super) struct Case<'c> {
    pub(super) core: &'c Core,
    pub(super) names: &'c Names,
    /// The old name and the new one
    pub(super) both: [&'c str; 2],
}

impl Case<'_> {
    /// Makes a change or a step of one, on the server and in the model; what it was, and what the model says.
    async fn act(&self, random: &mut fastrand::Rng, before: Server) -> (String, Server) {
        let split = self.names.is_split(true);
        let mut model = before;
        if split && random.bool() {
            let step = [Step::EndLease, Step::Copy][random.usize(..2)];
            let version = [9, 10, 21, 30][random.usize(..4)];
            let stamp = Stamp::new(version, [None, Some(4)][random.usize(..2)]);
            for name in self.names.by_slot(true).1 {
                model.step(step, name, Some(stamp));
            }
            self.step(step, stamp).await;
            return (format!("{step:?} with {stamp:?}"), model);
        }
        if random.u8(..8) == 0 {
            let takes = model.lease(&self.names.name, BY);
            let answer = self.lease().await;
            assert_eq!(answer == Value::Int(1), takes, "{before:?}");
            return ("a lease".to_owned(), model);
        }
        let all =
            [Change::Set, Change::Fill, Change::Delete, Change::Part, Change::Count, Change::Take];
        // Across slots, what depends on the value is refused.
        let kinds: Vec<Change> =
            all.into_iter().filter(|it| !split || !it.needs_one_slot()).collect();
        let change = kinds[random.usize(..kinds.len())];
        let floor = [0, 10, FUTURE][random.usize(..3)];
        let stamp = model.change(change, BY, self.names, true, floor);
        let answer = self.change(change, floor).await;
        if let (true, Some(stamp)) = (split, stamp) {
            self.check_stamp(&answer, stamp, &before, floor);
        }
        // What the clock made is newer than all that was there.
        let deciding = usize::from(self.names.name == self.both[1]);
        if model.0[deciding].version != before.0[deciding].version {
            model.0[deciding].version = self.get().await.0[deciding].version;
        }
        (format!("{change:?} above {floor}"), model)
    }

    async fn change(&self, change: Change, floor: u64) -> Value {
        let value = (1u16 << BY).to_string();
        let token = BY.to_string();
        let mut calls: Calls = match change {
            Change::Set => write(self.names, Command::new("SET").arg(&value)).calls(self.core),
            Change::Fill => {
                let write = write(self.names, Command::new("SET").arg(&value));
                Write { token: Some(&token), ..write }.calls(self.core)
            }
            Change::Part => {
                let write = write(self.names, Command::new("INCRBY").arg(&value));
                Write { mode: Mode::Part, ..write }.calls(self.core)
            }
            Change::Count => {
                let by = i64::from(1u16 << BY);
                Calls::one(counting(self.names, &[], by, [None, None], Some(3_600_000), false))
            }
            Change::Take => Calls::one(TAKE.call(&self.taken(), |cmd| {
                let asked = 1 + self.names.fallbacks().len();
                cmd.arg(asked).arg(0).arg(self.names.own()).arg("GET");
            })),
            Change::Delete => forget(self.names, &[], &[], true),
        };
        let floors = vec![Value::BulkString(floor.to_string().into_bytes()); calls.floors];
        calls.main.exceed(&floors);
        self.core.send(&calls.main.first).await.unwrap()
    }

    /// The keys that go when a value is taken out: see `Handle::taking`.
    fn taken(&self) -> Vec<&str> {
        let names = self.names.all();
        let beside = self.names.all().flat_map(|name| {
            BESIDE.iter().filter_map(move |word| self.names.derived_of(name, word))
        });
        let beside = beside.map(|key| &*key.leak());
        names.chain(beside).collect()
    }

    async fn lease(&self) -> Value {
        let lease = self.names.derived("lease").unwrap();
        let name = &self.names.name;
        let call = LEASE.call(&[name, &lease], |cmd| {
            cmd.arg(BY).arg(10_000).arg(0).arg(name).arg(0);
        });
        self.core.send(&call).await.unwrap()
    }

    async fn step(&self, step: Step, stamp: Stamp) {
        let course = Course {
            before: &[],
            after: if step == Step::Copy { &[Step::Copy] } else { &[Step::EndLease] },
        };
        let change = forget(self.names, &[], &[], true).main.first;
        let calls = course.calls(self.names, &[], true, change);
        let payload = match stamp.value {
            None => Value::Nil,
            Some(value) => {
                self.ask(redis::cmd("SET").arg("made").arg(value)).await;
                self.ask(redis::cmd("DUMP").arg("made")).await
            }
        };
        let version = Value::BulkString(stamp.version.to_string().into_bytes());
        let stamp = Value::Array(vec![version, Value::Int(-1), payload]);
        let answers = Answers { first: Value::Array(vec![Value::Int(1), stamp]), rest: Vec::new() };
        for follow in calls.after.into_iter().flatten() {
            self.core.send(&follow.after(&answers).unwrap()).await.unwrap();
        }
    }

    /// What a script hands to other slots is what it has done.
    fn check_stamp(&self, answer: &Value, stamp: Stamp, before: &Server, floor: u64) {
        let Value::Array(parts) = answer else { panic!("{answer:?}") };
        let Some(Value::Array(found)) = parts.last() else { panic!("{answer:?}") };
        let [Value::BulkString(version), Value::Int(_), value] = found.as_slice() else {
            panic!("{answer:?}")
        };
        let version: u64 = std::str::from_utf8(version).unwrap().parse().unwrap();
        let deciding = usize::from(self.names.name == self.both[1]);
        assert!(version > before.0[deciding].version && version > floor, "{version}");
        assert_eq!((version % 2).to_string(), self.names.clock());
        assert_eq!(matches!(value, Value::BulkString(_)), stamp.value.is_some());
    }

    pub(super) async fn ask(&self, cmd: &mut Cmd) -> Value {
        self.core.link.query(cmd, true).await.unwrap()
    }

    pub(super) async fn put(&self, server: Server) {
        for (name, cell) in self.both.iter().zip(server.0) {
            let lease =
                if cell.lease == REMOVED { "removed".to_owned() } else { cell.lease.to_string() };
            let beside = |word| self.names.derived_of(name, word).unwrap();
            self.set(name, cell.value.map(|value| value.to_string())).await;
            self.set(&beside("version"), (cell.version != 0).then(|| cell.version.to_string()))
                .await;
            self.set(&beside("lease"), (cell.lease != 0).then_some(lease)).await;
        }
    }

    async fn set(&self, name: &str, value: Option<String>) {
        match value {
            Some(value) => self.ask(redis::cmd("SET").arg(name).arg(value)).await,
            None => self.ask(redis::cmd("DEL").arg(name)).await,
        };
    }

    pub(super) async fn get(&self) -> Server {
        let mut server = Server::default();
        for (name, cell) in self.both.iter().zip(&mut server.0) {
            let beside = |word| self.names.derived_of(name, word).unwrap();
            cell.value = self.text(name).await.map(|text| text.parse().unwrap());
            cell.version =
                self.text(&beside("version")).await.map_or(0, |text| text.parse().unwrap());
            cell.lease = match self.text(&beside("lease")).await.as_deref() {
                None => 0,
                Some("removed") => REMOVED,
                Some(text) => text.parse().unwrap(),
            };
        }
        server
    }

    async fn text(&self, name: &str) -> Option<String> {
        redis::from_redis_value(self.ask(redis::cmd("GET").arg(name)).await).unwrap()
    }
}
