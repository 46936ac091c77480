//! Locks.

use super::everything::keys;
use super::{clustered, moving, on_all, patient, until};
use keyward::{Error, Guard, Store};
use keyward_testkit::{Cluster, Flavor, Harm, PATIENCE, Proxy, Reply, Server, wait_until};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const KEY: &str = "ev:lock:import:1";
const POOL: &str = "ev:lock:pool:1";

/// Waits until a guard has lost its lock.
async fn lost(guard: &Guard) {
    tokio::time::timeout(PATIENCE, guard.lost()).await.expect("the guard learns that it is lost");
}

#[tokio::test]
async fn one_holder_at_a_time_with_growing_fences() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(keys::ImportLock { id: 1 });
        assert_eq!(lock.holders().await.unwrap(), []);
        let first = lock.try_acquire_as("job-7").await.unwrap().expect("it is free");
        assert_eq!(server.command(&["GET", KEY]).text(), "job-7");
        assert!((1..=3000).contains(&server.command(&["PTTL", KEY]).integer()));
        let holders = lock.holders().await.unwrap();
        assert_eq!((holders.len(), &*holders[0].name), (1, "job-7"));
        assert!(holders[0].remaining.is_some());
        // The same name is another holder: a job that was delivered again.
        assert!(lock.try_acquire_as("job-7").await.unwrap().is_none());
        assert!(lock.acquire_within(Duration::from_millis(20)).await.unwrap().is_none());
        let fence = first.fence();
        assert!(first.is_held() && first.release().await.unwrap());
        assert_eq!(server.command(&["EXISTS", KEY]).integer(), 0);

        let second = lock.acquire().await.unwrap();
        assert!(second.fence() > fence);
        server.command(&["FLUSHALL"]);
        let third = lock.acquire().await.unwrap();
        assert!(third.fence() > second.fence(), "a flush does not restart the fences");
        lost(&second).await;
        assert!(!second.release().await.unwrap());
        assert!(third.is_held() && third.release().await.unwrap(), "the loser released nothing");
    })
    .await;
}

#[tokio::test]
async fn a_lock_is_renewed_while_it_is_held() {
    on_all(async |server: &Server, store: Store| {
        let guard = store.at(keys::ImportLock { id: 1 }).acquire().await.unwrap();
        let mut end = server.command(&["PEXPIRETIME", KEY]).integer();
        for _ in 0..2 {
            until("the lock is renewed", async || {
                let now = server.command(&["PEXPIRETIME", KEY]).integer();
                let renewed = now > end;
                end = end.max(now);
                renewed
            })
            .await;
        }
        assert!(guard.is_held());
        until("the fence outlives it by a day", async || {
            let fence = server.command(&["PEXPIRETIME", "ev:~fence:{ev:lock:import:1}"]).integer();
            let day = fence - server.command(&["PEXPIRETIME", KEY]).integer();
            (day - 86_400_000).abs() < 500
        })
        .await;
        drop(guard);
        until("it is released", async || server.command(&["EXISTS", KEY]).integer() == 0).await;
    })
    .await;
}

#[tokio::test]
async fn a_holder_learns_that_its_lock_is_gone() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(keys::ImportLock { id: 1 });
        let forced = lock.acquire().await.unwrap();
        assert!(lock.force_release().await.unwrap());
        let next = lock.acquire().await.unwrap();
        lost(&forced).await;
        assert!(!forced.is_held() && next.is_held());
        drop(forced);
        assert!(next.release().await.unwrap());

        // A job that is delivered again has the same name.
        let first = lock.acquire_as("job-7").await.unwrap();
        assert!(lock.force_release().await.unwrap());
        let again = lock.acquire_as("job-7").await.unwrap();
        lost(&first).await;
        assert!(!first.release().await.unwrap());
        assert_eq!(server.command(&["GET", KEY]).text(), "job-7");
        let early = lock.try_acquire_as("job-7").await.unwrap();
        assert!(early.is_none() && again.is_held() && again.release().await.unwrap());

        // Somebody who knows nothing of fences took the key.
        let guard = lock.acquire().await.unwrap();
        server.command(&["SET", KEY, "somebody", "PX", "60000"]);
        lost(&guard).await;
        assert!(!guard.release().await.unwrap());
        assert_eq!(server.command(&["GET", KEY]).text(), "somebody");
    })
    .await;
}

#[tokio::test]
async fn a_holder_whose_server_is_silent_stops_believing() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = flavor.start();
        let store = Store::builder(server.url())
            .response_timeout(Duration::from_millis(100))
            .connect()
            .await
            .unwrap();
        let guard = store.at(keys::ImportLock { id: 1 }).acquire().await.unwrap();
        server.pause();
        lost(&guard).await;
        assert!(!guard.is_held());
        server.resume();
    }
}

#[tokio::test]
async fn work_is_cancelled_when_its_lock_is_lost() {
    on_all(async |_: &Server, store: Store| {
        let lock = store.at(keys::ImportLock { id: 1 });
        let fence = lock.run(async |fence| fence).await.unwrap();
        assert!(fence > 0);
        assert_eq!(lock.holders().await.unwrap(), [], "it is released");
        let error = lock
            .run(async |_| {
                lock.force_release().await.unwrap();
                std::future::pending::<()>().await;
            })
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Lost { definition: "import_lock" }), "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_fair_lock_goes_to_whoever_has_waited_longest() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(keys::FairLock { id: 1 });
        let first = lock.acquire().await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        for number in 0..4 {
            let (store, order) = (store.clone(), order.clone());
            waiting.push(tokio::spawn(async move {
                let guard = store.at(keys::FairLock { id: 1 }).acquire().await.unwrap();
                order.lock().unwrap().push(number);
                guard.release().await.unwrap();
            }));
            let waiters = "ev:~waiters:{ev:lock:fair:1}";
            until("it waits", async || server.command(&["ZCARD", waiters]).integer() == number + 1)
                .await;
        }
        // Whoever gives up loses its turn, and whoever has none does not overtake.
        waiting.remove(1).abort();
        let [waiters, alive] =
            ["waiters", "alive"].map(|word| format!("ev:~{word}:{{ev:lock:fair:1}}"));
        until("it waits no more", async || server.command(&["ZCARD", &waiters]).integer() == 3)
            .await;
        assert_eq!(server.command(&["ZCARD", &alive]).integer(), 3);
        first.release().await.unwrap();
        assert!(lock.try_acquire().await.unwrap().is_none(), "others wait");
        for waiter in waiting {
            waiter.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 2, 3]);
        until("nobody waits", async || {
            let beside = ["EXISTS", "ev:~waiters:{ev:lock:fair:1}", "ev:~alive:{ev:lock:fair:1}"];
            server.command(&beside).integer() == 0
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_waiter_that_is_gone_keeps_nobody_waiting() {
    on_all(async |server: &Server, store: Store| {
        let beside = ["waiters", "alive"].map(|word| format!("ev:~{word}:{{ev:lock:fair:1}}"));
        let nobody_waits =
            || beside.iter().all(|key| server.command(&["EXISTS", key]).integer() == 0);
        for key in &beside {
            server.command(&["ZADD", key, "1", "gone"]);
        }
        let first = store.at(keys::FairLock { id: 1 }).try_acquire().await.unwrap();
        let first = first.expect("whoever is gone has no turn");
        assert!(nobody_waits());

        let waiter = store.clone();
        let waiter =
            tokio::spawn(async move { waiter.at(keys::FairLock { id: 1 }).acquire().await });
        until("it waits", async || !nobody_waits()).await;
        for key in &beside {
            assert!(
                (1..=5000).contains(&server.command(&["PTTL", key]).integer()),
                "{key} expires"
            );
        }
        first.release().await.unwrap();
        let second = waiter.await.unwrap().unwrap();
        assert!(nobody_waits(), "whoever holds it waits no more");
        assert!(second.release().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn many_who_compete_never_hold_it_together() {
    on_all(async |_: &Server, store: Store| {
        let inside = Arc::new(AtomicUsize::new(0));
        let fences = Arc::new(Mutex::new(Vec::new()));
        let workers = (0..8).map(|_| {
            let (store, inside, fences) = (store.clone(), inside.clone(), fences.clone());
            tokio::spawn(async move {
                for _ in 0..5 {
                    let guard = store.at(keys::ImportLock { id: 1 }).acquire().await.unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                    fences.lock().unwrap().push(guard.fence());
                    tokio::task::yield_now().await;
                    inside.fetch_sub(1, Ordering::SeqCst);
                    assert!(guard.release().await.unwrap());
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.await.unwrap();
        }
        let fences = fences.lock().unwrap();
        assert_eq!(fences.len(), 40);
        assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_waiter_holds_nothing() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(keys::ImportLock { id: 1 });
        for number in 0..20 {
            // Cancelled somewhere between the question and its answer.
            _ = tokio::time::timeout(Duration::from_micros(number * 20), lock.acquire()).await;
        }
        until("it is free", async || server.command(&["EXISTS", KEY]).integer() == 0).await;
    })
    .await;
}

#[tokio::test]
async fn a_full_server_releases_and_renews() {
    on_all(async |server: &Server, store: Store| {
        let guard = store.at(keys::ImportLock { id: 1 }).acquire().await.unwrap();
        let shared = store.at(keys::PoolLock { id: 1 }).acquire().await.unwrap();
        let fair = store.at(keys::FairLock { id: 1 }).acquire().await.unwrap();
        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        let refused = store.at(keys::ImportLock { id: 2 }).try_acquire().await.unwrap_err();
        assert!(matches!(&refused, Error::Refused { code, .. } if code == "OOM"), "{refused}");
        // There is a place, and one whose holder is gone.
        let pool = store.at(keys::PoolLock { id: 1 });
        let refused = pool.try_acquire().await.unwrap_err();
        assert!(matches!(&refused, Error::Refused { code, .. } if code == "OOM"), "{refused}");
        let end = server.command(&["PEXPIRETIME", KEY]).integer();
        until("it is renewed", async || server.command(&["PEXPIRETIME", KEY]).integer() > end)
            .await;
        let ends = || server.command(&["ZRANGE", POOL, "0", "0", "WITHSCORES"]).array()[1].clone();
        let end = ends();
        until("the other is renewed too", async || ends() != end).await;
        for guard in [guard, shared, fair] {
            assert!(guard.release().await.unwrap());
        }
    })
    .await;
}

#[tokio::test]
async fn bad_keys_and_forgotten_scripts() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(keys::ImportLock { id: 1 });
        server.command(&["HSET", KEY, "a", "b"]);
        let error = lock.try_acquire().await.unwrap_err();
        assert!(matches!(error, Error::WrongType { definition: "import_lock" }), "{error}");
        assert!(matches!(lock.holders().await.unwrap_err(), Error::WrongType { .. }));
        server.command(&["DEL", KEY]);
        server.command(&["SET", "ev:~fence:{ev:lock:import:1}", "nonsense"]);
        let guard = lock.acquire().await.unwrap();
        server.command(&["SCRIPT", "FLUSH"]);
        assert!(guard.release().await.unwrap());
        // One without an end is held until somebody removes it.
        server.command(&["SET", KEY, "for ever"]);
        assert!(lock.acquire_within(Duration::from_millis(20)).await.unwrap().is_none());
        assert_eq!(lock.holders().await.unwrap()[0].remaining, None);
        let long = "x".repeat(513);
        let error = lock.try_acquire_as(&long).await.unwrap_err();
        assert!(error.to_string().contains("give it at most 512"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn while_it_is_renamed_both_names_are_held() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(moving::keys::TaskLock { id: 1 });
        let names = ["OLD:TaskLock:1", "new:task:lock:1"];
        let guard = lock.acquire().await.unwrap();
        for name in names {
            assert_eq!(server.command(&["EXISTS", name]).integer(), 1, "{name}");
        }
        assert!(guard.release().await.unwrap());
        for name in names {
            assert_eq!(server.command(&["EXISTS", name]).integer(), 0, "{name}");
            // A program that knows one of the names holds it.
            server.command(&["SET", name, "another", "PX", "60000"]);
            assert!(lock.try_acquire().await.unwrap().is_none(), "{name}");
            server.command(&["DEL", name]);
        }
    })
    .await;
}

#[tokio::test]
async fn so_many_hold_it_as_there_are_places() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(keys::PoolLock { id: 1 });
        let first = lock.acquire_as("job-7").await.unwrap();
        // The same name takes another place.
        let second = lock.acquire_as("job-7").await.unwrap();
        assert!(second.fence() > first.fence());
        assert!(lock.try_acquire().await.unwrap().is_none());
        let holders = lock.holders().await.unwrap();
        assert_eq!(holders.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["job-7", "job-7"]);
        assert!((1..=3000).contains(&server.command(&["PTTL", POOL]).integer()));
        assert!(first.release().await.unwrap());
        let third = lock.acquire_as("the third").await.unwrap();
        assert!(third.fence() > second.fence());

        // One that does not renew any more loses its place, and no other.
        let ours = server.command(&["ZRANGE", POOL, "0", "-1"]).array();
        let ours = ours.into_iter().map(Reply::text).find(|it| it.starts_with("job-7 ")).unwrap();
        server.command(&["ZADD", POOL, "1", &ours]);
        lost(&second).await;
        let fourth = lock.acquire().await.unwrap();
        assert!(!second.release().await.unwrap());
        assert!(
            third.is_held() && third.release().await.unwrap() && fourth.release().await.unwrap()
        );
        assert_eq!(server.command(&["EXISTS", POOL]).integer(), 0);

        server.command(&["SET", POOL, "somebody"]);
        let error = lock.try_acquire().await.unwrap_err();
        assert!(matches!(error, Error::WrongType { definition: "pool_lock" }), "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_shared_lock_is_renewed_and_lives_as_long_as_its_last_holder() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(keys::PoolLock { id: 1 });
        let first = lock.acquire().await.unwrap();
        let end = |place: usize| {
            let scores = server.command(&["ZRANGE", POOL, "0", "-1", "WITHSCORES"]).array();
            scores[2 * place + 1].clone().text().parse::<u64>().unwrap()
        };
        let (before, key) = (end(0), server.command(&["PEXPIRETIME", POOL]).integer());
        until("it is renewed", async || end(0) > before).await;
        assert!(server.command(&["PEXPIRETIME", POOL]).integer() > key);
        // A key that lives longer, for whatever reason, is not shortened.
        server.command(&["PEXPIRE", POOL, "600000"]);
        let second = lock.acquire().await.unwrap();
        assert!(server.command(&["PTTL", POOL]).integer() > 500_000);
        assert!(first.is_held() && second.is_held());
    })
    .await;
}

#[tokio::test]
async fn a_lock_whose_answers_are_lost() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = flavor.start();
        let proxy = Proxy::new(&server, Harm::Lose);
        let builder = Store::builder(proxy.url()).response_timeout(Duration::from_secs(30));
        let store = builder.connect().await.unwrap();
        let lock = store.at(keys::ImportLock { id: 1 });
        // After this the server knows the scripts.
        assert!(lock.acquire().await.unwrap().release().await.unwrap());

        proxy.lose_the_answer_to(KEY);
        let guard = lock.try_acquire_as("job-7").await.unwrap().expect("it holds what it took");
        assert_eq!(proxy.harmed(), 1);
        assert!(lock.try_acquire().await.unwrap().is_none());

        proxy.lose_the_answer_to(KEY);
        until("the answer to a renewal is lost", async || proxy.harmed() == 2).await;
        assert!(guard.is_held(), "and it is asked again");

        proxy.lose_the_answer_to(KEY);
        let error = guard.release().await.unwrap_err();
        assert!(matches!(error, Error::Unknown(_)), "{error}");
        until("it is free", async || server.command(&["EXISTS", KEY]).integer() == 0).await;

        let pool = store.at(keys::PoolLock { id: 1 });
        assert!(pool.acquire().await.unwrap().release().await.unwrap());
        proxy.lose_the_answer_to(POOL);
        let guard = pool.acquire().await.unwrap();
        assert_eq!(server.command(&["ZCARD", POOL]).integer(), 1, "it has one place");
        assert!(guard.release().await.unwrap());
    }
}

#[tokio::test]
async fn a_grant_that_replicas_confirmed_survives_the_primary() {
    const KEY: &str = "ev:lock:safe:1";
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = flavor.start();
        let store = patient(&server).await;
        let lock = store.at(keys::SafeLock { id: 1 });
        // No replica at all, one that follows, and one that is silent.
        let short = |error: Error| {
            let short = matches!(error, Error::Unreplicated { wanted: 1, confirmed: 0, .. });
            assert!(short && error.is_unavailable(), "{error:?}");
            assert_eq!(server.command(&["EXISTS", KEY]).integer(), 0, "it is released");
        };
        let hasty = Store::builder(server.url()).response_timeout(Duration::from_millis(300));
        let hasty = hasty.connect().await.unwrap();
        short(hasty.at(keys::SafeLock { id: 1 }).try_acquire().await.unwrap_err());
        let replica = flavor.server().replica_of(&server).start();
        wait_until("the replica follows", || replica.is_in_sync());
        let guard = lock.acquire().await.unwrap();
        assert_eq!(replica.command(&["EXISTS", KEY]).integer(), 1);
        assert!(guard.release().await.unwrap());
        replica.pause();
        short(hasty.at(keys::SafeLock { id: 1 }).try_acquire().await.unwrap_err());
        replica.resume();

        let guard = lock.acquire_as("job-7").await.unwrap();
        server.kill();
        replica.command(&["REPLICAOF", "NO", "ONE"]);
        assert_eq!(replica.command(&["GET", KEY]).text(), "job-7");
        let next = patient(&replica).await;
        assert!(next.at(keys::SafeLock { id: 1 }).try_acquire().await.unwrap().is_none());
        drop(guard);
    }
}

#[tokio::test]
async fn a_replica_grants_nothing() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = flavor.start();
        let replica = flavor.server().replica_of(&server).start();
        wait_until("the replica follows", || replica.is_in_sync());
        let store = patient(&replica).await;
        let error = store.at(keys::ImportLock { id: 1 }).try_acquire().await.unwrap_err();
        assert!(matches!(&error, Error::Refused { code, .. } if code == "READONLY"), "{error}");
        assert!(error.is_unavailable());
    }
}

#[tokio::test]
async fn locks_on_a_cluster() {
    use clustered::keys;
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = super::cluster::store(&cluster).await;
        for id in 0..10 {
            let lock = store.at(keys::ImportLock { id });
            let guard = lock.acquire().await.unwrap();
            assert!(lock.try_acquire().await.unwrap().is_none());
            assert!(guard.release().await.unwrap());
            let guard = store.at(keys::PoolLock { id }).acquire().await.unwrap();
            assert!(guard.release().await.unwrap());

            // Its two names are in two slots: both are taken, or none.
            let lock = store.at(keys::TaskLock { id });
            let names = [format!("OLD:TaskLock:{id}"), format!("ev:task:lock:{id}")];
            let exists = |name: &String| cluster.command(&["EXISTS", name]).integer() == 1;
            let first = lock.acquire().await.unwrap();
            assert!(names.iter().all(exists), "{id}");
            assert!(first.is_held() && first.release().await.unwrap());
            for name in &names {
                cluster.command(&["SET", name, "another", "PX", "600000"]);
                let waiting = lock.acquire_within(Duration::from_millis(20)).await.unwrap();
                assert!(waiting.is_none(), "{name}");
                assert_eq!(names.iter().filter(|name| exists(name)).count(), 1, "only {name}");
                cluster.command(&["DEL", name]);
            }
            until("those who gave up wait no more", async || {
                names.iter().all(|name| {
                    let waiters = format!("ev:~waiters:{{{name}}}");
                    cluster.command(&["EXISTS", &waiters]).integer() == 0
                })
            })
            .await;
            assert!(lock.acquire().await.unwrap().fence() > 0);
        }

        let guard = store.at(keys::SafeLock { id: 1 }).acquire_as("job-7").await.unwrap();
        cluster.primary_of("ev:lock:safe:1").kill();
        wait_until("a replica takes over", || cluster.primaries().len() == 3);
        cluster.wait_until_ok();
        assert_eq!(cluster.command(&["GET", "ev:lock:safe:1"]).text(), "job-7");
        assert!(guard.is_held());
    }
}
