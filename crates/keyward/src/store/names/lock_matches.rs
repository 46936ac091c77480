//! The scripts of a lock do to a real server what the model says, and the one that renews a key what is promised.

use super::Names;
use super::exclusion::{Group, Locks};
use super::tests::{names, on_clusters};
use crate::store::core::Core;
use crate::store::lua::{Lua, lua};
use redis::{Cmd, Value, from_redis_value};

static TAKE: Lua = lua!("../lock/take.lua");
static LET_GO: Lua = lua!("../lock/release.lua");
static PROLONG: Lua = lua!("../lock/renew.lua");
static RENEW: Lua = lua!("renew.lua");

const BOTH: [&str; 2] = ["{k}old", "{k}new"];

#[tokio::test]
async fn the_scripts_of_a_lock_do_what_the_model_says() {
    on_clusters(async |core, _| {
        let mut random = fastrand::Rng::with_seed(16);
        let names = names(true, BOTH);
        for round in 0..300 {
            let mut model = Locks::default();
            for name in BOTH {
                // 0 is nobody.
                let (holder, owner) = (random.usize(..3), random.usize(..3));
                if holder > 0 {
                    model.held.insert(name.to_owned(), holder);
                }
                if owner > 0 {
                    model.fences.insert(name.to_owned(), (random.u64(1..9) * FAR, owner));
                }
            }
            let before = model.clone();
            put(core, &names, &model).await;
            // One of the names, or both.
            let group = [&BOTH[..1], &BOTH[1..], &BOTH[..]][random.usize(..3)];
            let lowest = random.u64(1..9) * FAR;
            let slot = Group { names: group.to_vec(), fences: group.to_vec() };
            let what = random.u8(..3);
            let expected = match what {
                0 => model.take(&slot, 1, lowest).is_some(),
                1 => model.renew(&slot, 1),
                _ => model.release(&slot, 1),
            };
            let answer = call(core, &names, what, group, lowest).await;
            let found = get(core, &names).await;
            let shown = format!("round {round}: {what} of {group:?} from {lowest} at {before:?}");
            assert_eq!(answer, expected, "{shown}");
            assert_eq!(found, seen(&model), "{shown}");
        }
    })
    .await;
}

/// Fences above all clocks, so that only the last ones count.
const FAR: u64 = 900_000_000_000_000;

/// What a server says: the names that are held, and the fences.
type Seen = (Vec<String>, Vec<(String, u64, usize)>);

fn seen(model: &Locks) -> Seen {
    let fences = model.fences.iter().map(|(name, (fence, owner))| (name.clone(), *fence, *owner));
    let fences: Vec<_> = fences.map(|(name, fence, owner)| (name, fence.max(FAR), owner)).collect();
    (model.held.keys().cloned().collect(), fences)
}

async fn ask(core: &Core, cmd: &mut Cmd) -> Value {
    core.link.query(cmd, true).await.unwrap()
}

async fn put(core: &Core, names: &Names, model: &Locks) {
    for name in BOTH {
        let fence = names.derived_of(name, "fence").unwrap();
        ask(core, redis::cmd("DEL").arg(name).arg(&fence)).await;
        if model.held.contains_key(name) {
            ask(core, redis::cmd("SET").arg(name).arg("holder")).await;
        }
        if let Some((last, owner)) = model.fences.get(name) {
            ask(core, redis::cmd("SET").arg(&fence).arg(format!("{last} {owner}"))).await;
        }
    }
}

async fn get(core: &Core, names: &Names) -> Seen {
    let (mut held, mut fences) = (Vec::new(), Vec::new());
    // In the order of a map.
    for name in [BOTH[1], BOTH[0]] {
        if ask(core, redis::cmd("EXISTS").arg(name)).await == Value::Int(1) {
            held.push(name.to_owned());
        }
        let fence = names.derived_of(name, "fence").unwrap();
        let text = ask(core, redis::cmd("GET").arg(fence)).await;
        if let Some(text) = from_redis_value::<Option<String>>(text).unwrap() {
            let (last, owner) = text.split_once(' ').unwrap();
            fences.push((name.to_owned(), last.parse().unwrap(), owner.parse().unwrap()));
        }
    }
    (held, fences)
}

async fn call(core: &Core, names: &Names, what: u8, group: &[&str], lowest: u64) -> bool {
    let fences: Vec<String> =
        group.iter().map(|name| names.derived_of(name, "fence").unwrap()).collect();
    let keys: Vec<&str> = fences.iter().map(String::as_str).chain(group.iter().copied()).collect();
    let count = group.len();
    let call = match what {
        0 => TAKE.call(&keys, |cmd| {
            cmd.arg("holder").arg(1).arg(60_000).arg(lowest).arg(1).arg(0).arg(0).arg(count);
        }),
        1 => PROLONG.call(&keys, |cmd| {
            cmd.arg("holder").arg(1).arg(60_000).arg(1).arg(count);
        }),
        _ => LET_GO.call(&keys, |cmd| {
            cmd.arg("holder").arg(1).arg(1).arg(0).arg(count);
        }),
    };
    match core.send(&call).await.unwrap() {
        Value::Array(items) => items[0] != Value::BulkString(b"0".to_vec()),
        answer => answer == Value::Int(1),
    }
}

#[tokio::test]
async fn a_renewal_lets_all_names_end_together_and_makes_none() {
    on_clusters(async |core, _| {
        let mut random = fastrand::Rng::with_seed(17);
        for _ in 0..40 {
            let there = BOTH.map(|_| random.bool());
            for (name, there) in BOTH.into_iter().zip(there) {
                ask(core, redis::cmd("DEL").arg(name)).await;
                if there {
                    ask(core, redis::cmd("SET").arg(name).arg(1).arg("EX").arg(100)).await;
                }
            }
            // The name that was read comes first.
            let at = random.usize(..2);
            let keys = [BOTH[at], BOTH[1 - at]];
            let call = RENEW.call(&keys, |cmd| {
                cmd.arg(2).arg(500_000).arg(BOTH[1]).arg(0);
            });
            let ends: i64 = from_redis_value(core.send(&call).await.unwrap()).unwrap();
            assert_eq!(ends > 0, there[at]);
            for (name, there) in BOTH.into_iter().zip(there) {
                let found = ask(core, redis::cmd("PEXPIRETIME").arg(name)).await;
                let found: i64 = from_redis_value(found).unwrap();
                match (there, ends) {
                    (false, _) => assert_eq!(found, -2),
                    (true, 0) => assert!(found > 0),
                    (true, ends) => assert_eq!(found, ends),
                }
            }
        }
    })
    .await;
}
