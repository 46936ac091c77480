//! The scripts of an undo do to a real server what the model says, whatever they find there.

use super::matches::{Case, state};
use super::model::PLANS;
use super::tests::{names, on_clusters};
use super::undo::{back, bring, restore};
use crate::store::lua::Lua;
use redis::Value;

macro_rules! plans {
    ($($file:literal),+) => {
        Lua::new(concat!($(include_str!(concat!("../../../../keyward-plan/src/lua/", $file))),+))
    };
}

static BACK: Lua = plans!("same.lua", "back.lua");
static BRING: Lua = plans!("bring.lua");
static RESTORE: Lua = plans!("same.lua", "restore.lua");

#[tokio::test]
async fn the_scripts_of_an_undo_do_what_the_model_says() {
    on_clusters(async |core, _| {
        let mut random = fastrand::Rng::with_seed(17);
        for round in 0..300 {
            let both = ["{k}old", "{k}new"];
            let names = names(random.bool(), both);
            let mut model = state(&mut random);
            let before = model;
            let case = Case { core, names: &names, both };
            case.put(before).await;
            let [old, new] = &mut model.0;
            let (values, value) = ([&mut old.value, &mut new.value], random.u16(1..4));
            let what = random.u8(..3);
            let (expected, call) = match what {
                0 => {
                    let counts = random.bool();
                    let call = BACK.call(&both, |cmd| _ = cmd.arg(u8::from(counts)));
                    (back(values, counts), call)
                }
                1 => {
                    let read = [None, Some(1), Some(2)][random.usize(..3)];
                    let (guard, dump) = (case.digest(read).await, case.dump(value).await);
                    let lease = names.derived_of(both[0], "lease").unwrap();
                    let call = BRING.call(&[both[0], &lease], |cmd| {
                        cmd.arg(guard).arg(-1).arg(dump).arg(PLANS);
                    });
                    let [old, _] = &mut model.0;
                    let mut is_held = old.lease == PLANS;
                    let is_given_back = is_held;
                    let is_brought = bring(&mut old.value, &mut is_held, read, value);
                    if is_given_back {
                        old.lease = 0;
                    }
                    (if is_brought { 1 } else { 3 }, call)
                }
                _ => {
                    let dump = case.dump(value).await;
                    let keys = [both[0], "{k}aside"];
                    let call = RESTORE.call(&keys, |cmd| _ = cmd.arg(dump).arg(-1));
                    let [old, _] = values;
                    (restore(old, value), call)
                }
            };
            let answer = core.send(&call).await.unwrap();
            let shown = format!("round {round}: {what} with {value} at {before:?}");
            assert_eq!(answer, Value::Int(expected), "{shown}");
            assert_eq!(case.get().await, model.seen(), "{shown}");
        }
    })
    .await;
}

impl Case<'_> {
    /// A value as DUMP gives it.
    async fn dump(&self, value: u16) -> Vec<u8> {
        self.ask(redis::cmd("SET").arg("{k}made").arg(value)).await;
        let Value::BulkString(dump) = self.ask(redis::cmd("DUMP").arg("{k}made")).await else {
            panic!("there is no value");
        };
        dump
    }
}
