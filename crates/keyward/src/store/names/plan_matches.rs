//! The scripts of a plan do to a real server what the model says, whatever they find there.

use super::matches::{Case, state};
use super::model::plan::{place, relocate, remove, unlease};
use super::model::{Cell, Knows, PLANS};
use super::tests::{names, on_clusters};
use crate::store::lua::Lua;
use redis::Value;

macro_rules! plans {
    ($($file:literal),+) => {
        Lua::new(concat!($(include_str!(concat!("../../../../keyward-plan/src/lua/", $file))),+))
    };
}

static RELOCATE: Lua = plans!("same.lua", "relocate.lua");
static PLACE: Lua = plans!("place.lua");
static UNMAKE: Lua = plans!("unmake.lua");
static REMOVE: Lua = plans!("remove.lua");
static UNLEASE: Lua = plans!("unlease.lua");

#[tokio::test]
async fn the_scripts_of_a_plan_do_what_the_model_says() {
    on_clusters(async |core, _| {
        let mut random = fastrand::Rng::with_seed(15);
        for round in 0..300 {
            let names = names(random.bool(), ["{k}old", "{k}new"]);
            let mut model = state(&mut random);
            let before = model;
            let case = Case { core, names: &names, both: ["{k}old", "{k}new"] };
            case.put(before).await;
            let [_, new] = case.both;
            // What a plan has seen before, or something else.
            let saved = [None, Some(1), Some(2)][random.usize(..3)];
            let what = random.u8(..5);
            match what {
                0 => {
                    let phase = [Knows::DualWrite, Knows::ReadFallback][random.usize(..2)];
                    relocate(&mut model, phase);
                    case.relocate(phase).await;
                }
                1 => {
                    let source = Cell { value: Some(4), ..Cell::default() };
                    let placed = place(&mut model.0[1], &source, saved);
                    let answer = case.place(4, saved, random.bool()).await;
                    assert_eq!(answer != Value::Nil, placed, "{before:?}");
                }
                2 | 3 => {
                    let removed = remove(&mut model.0[1], saved);
                    let guard = case.digest(saved).await;
                    let script = if what == 2 { &UNMAKE } else { &REMOVE };
                    let call = script.call(&[new], |cmd| {
                        if what == 3 {
                            cmd.arg(1);
                        }
                        cmd.arg(guard).arg(0);
                    });
                    let answer = core.send(&call).await.unwrap();
                    assert_eq!(answer == Value::Int(1), removed, "{before:?}: {answer:?}");
                }
                _ => {
                    unlease(&mut model.0[1]);
                    let lease = names.derived_of(new, "lease").unwrap();
                    core.send(&UNLEASE.call(&[&lease], |cmd| _ = cmd.arg(PLANS))).await.unwrap();
                }
            }
            let found = case.get().await;
            assert_eq!(found, model.seen(), "round {round}: {what} with {saved:?} at {before:?}");
        }
    })
    .await;
}

impl Case<'_> {
    async fn relocate(&self, phase: Knows) {
        let how = if phase == Knows::DualWrite { "over" } else { "absent" };
        let guard = self.digest(self.get().await.0[1].value).await;
        let call = RELOCATE.call(&self.both, |cmd| {
            cmd.arg(1).arg(how).arg("string").arg(guard);
        });
        self.core.send(&call).await.unwrap();
    }

    /// Puts a value there: as it was read, or by the commands that a conversion gives.
    async fn place(&self, value: u16, saved: Option<u16>, converted: bool) -> Value {
        let [_, new] = self.both;
        let lease = self.names.derived_of(new, "lease").unwrap();
        let guard = self.digest(saved).await;
        self.ask(redis::cmd("SET").arg("{k}made").arg(value)).await;
        let Value::BulkString(dump) = self.ask(redis::cmd("DUMP").arg("{k}made")).await else {
            panic!("there is no value");
        };
        let call = PLACE.call(&[new, &lease], |cmd| {
            cmd.arg(PLANS).arg(guard).arg(-1);
            if converted {
                cmd.arg("").arg(2).arg("SET").arg(value);
            } else {
                cmd.arg(dump);
            }
        });
        self.core.send(&call).await.unwrap()
    }

    /// What a plan knows a value by; nothing if there is none.
    pub(super) async fn digest(&self, value: Option<u16>) -> String {
        let Some(value) = value else { return String::new() };
        self.ask(redis::cmd("SET").arg("{k}seen").arg(value)).await;
        let script = "return redis.sha1hex(redis.call('DUMP', KEYS[1]) .. redis.call('PEXPIRETIME', KEYS[1]))";
        let digest = self.ask(redis::cmd("EVAL").arg(script).arg(1).arg("{k}seen")).await;
        redis::from_redis_value(digest).unwrap()
    }
}
