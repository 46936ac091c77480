//! The scripts of a queue do to a real server what the model says: jobs are taken in the order in which they were pushed,
//! and one whose lease has ended comes next.

use super::lines::{Job, Waiting};
use super::tests::on_clusters;
use crate::shared;
use crate::store::core::Core;
use crate::store::lua::Lua;
use crate::store::queue::{FINISH, TAKE};
use keyward_pattern::derived;
use redis::{Cmd, Value, from_redis_value};

static PUSH: Lua = Lua::new(shared::PUSH[0]);

/// A job that a worker has: its ticket, and which take of it that is.
struct Taken {
    job: Job,
    ticket: String,
    take: u64,
}

#[tokio::test]
async fn the_scripts_of_a_queue_do_what_the_model_says() {
    on_clusters(async |core, _| {
        let mut random = fastrand::Rng::with_seed(18);
        for round in 0..20 {
            let line = Line { core, keys: keys(&format!("{{k}}queue{round}")) };
            let (mut model, mut leased) = (Waiting::default(), Vec::new());
            for job in 0..60 {
                match random.u8(..5) {
                    0 | 1 => {
                        model.push(job);
                        line.push(job).await;
                    }
                    2 => {
                        let taken = line.take(60_000).await;
                        assert_eq!(taken.as_ref().map(|it| it.job), model.take(), "round {round}");
                        leased.extend(taken);
                    }
                    3 => {
                        // A lease of no time ends at once.
                        let taken = line.take(0).await;
                        assert_eq!(taken.as_ref().map(|it| it.job), model.take(), "round {round}");
                        if let Some(taken) = taken {
                            model.bring_back(taken.job);
                            let again = line.take(60_000).await.unwrap();
                            assert_eq!(
                                (Some(again.job), again.take),
                                (model.take(), taken.take + 1)
                            );
                            assert!(!line.finish(&taken).await, "its lease is over");
                            leased.push(again);
                        }
                    }
                    _ => {
                        if let Some(taken) = leased.pop() {
                            assert!(line.finish(&taken).await);
                            assert!(!line.finish(&taken).await, "it has ended before");
                        }
                    }
                }
            }
            while let Some(job) = model.take() {
                assert_eq!(line.take(60_000).await.unwrap().job, job, "round {round}");
            }
            assert!(line.take(60_000).await.is_none(), "round {round}");
        }
    })
    .await;
}

fn keys(name: &str) -> [String; 7] {
    let [jobs, taken, leases, due, ready, done] =
        shared::WORDS.map(|word| derived("", name, word).unwrap());
    [jobs, name.to_owned(), taken, leases, due, ready, done]
}

struct Line<'c> {
    core: &'c Core,
    keys: [String; 7],
}

impl Line<'_> {
    async fn call(&self, script: &'static Lua, args: impl FnOnce(&mut Cmd)) -> Vec<Value> {
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        let Value::Array(items) = self.core.send(&script.call(&keys, args)).await.unwrap() else {
            panic!("scripts of a queue answer with a list");
        };
        items
    }

    async fn push(&self, job: Job) {
        self.call(&PUSH, |cmd| {
            let args = ["0", "0", "", "", "0", "", "0", "", "", "", "", ""];
            for arg in args {
                cmd.arg(arg);
            }
            cmd.arg(job);
        })
        .await;
    }

    async fn take(&self, lease: u64) -> Option<Taken> {
        let answer = self.call(&TAKE[0], |cmd| _ = cmd.arg(1).arg(lease).arg(0)).await;
        let Value::Array(jobs) = &answer[0] else { panic!("{answer:?}") };
        let Value::Array(parts) = jobs.first()? else { panic!("{jobs:?}") };
        let text = |at: usize| from_redis_value::<String>(parts[at].clone()).unwrap();
        Some(Taken {
            ticket: text(0),
            take: text(1).parse().unwrap(),
            job: text(7).parse().unwrap(),
        })
    }

    /// Whether the lease was still held.
    async fn finish(&self, taken: &Taken) -> bool {
        let answer = self.call(&FINISH, |cmd| {
            cmd.arg("").arg(0).arg(0).arg(&taken.ticket).arg(taken.take).arg(0).arg("").arg(0);
        });
        answer.await[0] == Value::Array(vec![Value::Int(1)])
    }
}
