//! `ask.lua` does to a real server what the model of a limit says, whatever was counted before and whatever it finds.
//!
//! Windows last for months here, so that none ends meanwhile: then all algorithms allow as much as the limit says.

use super::limits::ask;
use super::tests::on_clusters;
use crate::store::core::Core;
use crate::store::lua::{Lua, lua};
use redis::{Cmd, Value, from_redis_value};

static ASK: Lua = lua!("../limit/ask.lua");

const ALGORITHMS: [&str; 3] = ["fixed-window", "sliding-window", "gcra"];
/// In milliseconds: 116 days, so that a share of it is more than a test takes.
const WINDOW: u64 = 10_000_000_000;

/// A limit on the server.
struct Limit {
    key: String,
    algorithm: &'static str,
    most: u64,
}

async fn send(core: &Core, cmd: &mut Cmd) -> Value {
    core.link.query(cmd, true).await.unwrap()
}

async fn answer(core: &Core, limits: &[Limit], costs: &[u64], counts: bool) -> Value {
    let keys: Vec<&str> = limits.iter().map(|it| it.key.as_str()).collect();
    let call = ASK.call(&keys, |cmd| {
        cmd.arg(u8::from(counts));
        for (it, cost) in limits.iter().zip(costs) {
            cmd.arg(it.algorithm).arg(it.most).arg(WINDOW).arg(cost);
        }
    });
    core.send(&call).await.unwrap()
}

/// For each limit, whether it allows, and how much more.
fn read(answer: Value) -> Vec<(bool, u64)> {
    let rows: Vec<[i64; 4]> = from_redis_value(answer).unwrap();
    rows.into_iter().map(|[allows, left, ..]| (allows == 1, left.unsigned_abs())).collect()
}

#[tokio::test]
async fn the_script_of_a_limit_does_what_the_model_says() {
    on_clusters(async |core, _| {
        let mut random = fastrand::Rng::with_seed(19);
        for round in 0..30 {
            let limit = |at: usize, random: &mut fastrand::Rng| Limit {
                key: format!("{{k}}limit{round}:{at}"),
                algorithm: ALGORITHMS[random.usize(..3)],
                most: random.u64(1..6),
            };
            let limits: Vec<Limit> = (0..3).map(|at| limit(at, &mut random)).collect();
            let most: Vec<u64> = limits.iter().map(|it| it.most).collect();
            let mut counted = vec![0; limits.len()];
            for _ in 0..15 {
                // One of them, or several in one step.
                let first = random.usize(..limits.len());
                let last = random.usize(first..limits.len());
                let costs: Vec<u64> = (first..=last).map(|_| random.u64(1..3)).collect();
                let counts = random.u8(..4) > 0;
                let before = counted.clone();
                let expected = ask(&mut counted[first..=last], &most[first..=last], &costs, counts);
                let found = answer(core, &limits[first..=last], &costs, counts).await;
                let shown =
                    format!("round {round}: {costs:?} from {first} at {before:?} of {most:?}");
                assert_eq!(read(found), expected, "{shown}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_limit_whose_key_holds_something_else_counts_nowhere() {
    on_clusters(async |core, _| {
        let limit = |key: &str, algorithm| Limit { key: key.to_owned(), algorithm, most: 5 };
        for algorithm in ALGORITHMS {
            let limits = [limit("{k}good", algorithm), limit("{k}bad", algorithm)];
            send(core, redis::cmd("DEL").arg("{k}good").arg("{k}bad")).await;
            send(core, redis::cmd("SET").arg("{k}bad").arg("no number")).await;
            assert_eq!(answer(core, &limits, &[1, 1], true).await, Value::Int(2), "{algorithm}");
            send(core, redis::cmd("DEL").arg("{k}bad")).await;
            send(core, redis::cmd("LPUSH").arg("{k}bad").arg("x")).await;
            assert_eq!(answer(core, &limits, &[1, 1], true).await, Value::Int(-2), "{algorithm}");
            let found = read(answer(core, &limits[..1], &[1], false).await);
            assert_eq!(found, [(true, 5)], "{algorithm}: nothing was counted");
        }
        // A count that never ends is somebody else's, and starts again.
        send(core, redis::cmd("SET").arg("{k}good").arg(5)).await;
        let limits = [limit("{k}good", "fixed-window")];
        assert_eq!(read(answer(core, &limits, &[2], true).await), [(true, 3)]);
    })
    .await;
}
