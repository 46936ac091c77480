//! What the guide shows of queues, run.

use super::gallery::{fields, keys, values};
use super::model::Task;
use super::{patient, until};
// ANCHOR: imports
use keyward::Store;
use keyward::queue::{Failure, Job, Missed, Push, Schedule, terminated};
// ANCHOR_END: imports
use keyward_testkit::Server;
use std::time::Duration;

type Done = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn what_the_guide_shows_of_queues_is_so() -> Done {
    for server in Server::all() {
        let store = patient(&server).await;
        pushing(&store).await?;
        let looking = async {
            let queue = store.at(keys::Thumbnails { format: values::Format::new("square")? });
            mailing(&store).await?;
            until("the mail was sent", async || {
                let stats = store.at(keys::Mails).stats().await;
                stats.is_ok_and(|stats| stats.listed + stats.leased == 0)
            })
            .await;
            until("both jobs are done", async || {
                queue
                    .stats()
                    .await
                    .is_ok_and(|stats| stats.listed + stats.leased + stats.ready + stats.due == 0)
            })
            .await;
            looking(&store).await
        };
        tokio::select! {
            ended = work(store.clone()) => panic!("{ended:?}"),
            ended = every_night(store.clone()) => panic!("{ended:?}"),
            ended = deliver(store.clone()) => panic!("{ended:?}"),
            looked = looking => looked?,
        }
    }
    Ok(())
}

async fn pushing(store: &Store) -> Done {
    // ANCHOR: push
    let queue = store.at(keys::Thumbnails { format: values::Format::new("square")? });
    queue.push(&Task { name: "cat.png".to_owned(), size: 128 }).await?;

    let push = Push::new().id("dog-128").delay(Duration::from_secs(1)).priority(5);
    let pushed = queue.push_with(&Task { name: "dog.png".to_owned(), size: 128 }, push).await?;
    assert!(pushed.pushed); // `false` if a job with this id waits, runs or is remembered
    // ANCHOR_END: push
    Ok(())
}

// ANCHOR: worker
async fn work(store: Store) -> Result<(), keyward::Error> {
    let queue =
        store.at(keys::Thumbnails { format: values::Format::new("square").expect("a slug") });
    let worker = queue.worker().concurrency(8).until(terminated());
    worker.run(async |job: Job<Task>| resize(&job).await).await
}

async fn resize(job: &Job<Task>) -> Result<String, Failure> {
    if job.value.size == 0 {
        return Err(Failure::fatal("a picture needs a size")); // no second attempt
    }
    job.progress("50 %").await?; // any error is tried again
    Ok(format!("{}-{}", job.value.size, job.value.name)) // the result
}
// ANCHOR_END: worker

// ANCHOR: repeat
async fn every_night(store: Store) -> Result<(), keyward::Error> {
    let queue =
        store.at(keys::Thumbnails { format: values::Format::new("square").expect("a slug") });
    let nightly = Schedule::cron("0 3 * * *", "Europe/Berlin")?.missed(Missed::Skip);
    let cleaning = Task { name: "clean up".to_owned(), size: 1 };
    tokio::select! {
        Err(error) = queue.repeat("cleaning", &nightly, &cleaning) => Err(error),
        () = terminated() => Ok(()),
    }
}
// ANCHOR_END: repeat

async fn looking(store: &Store) -> Done {
    // ANCHOR: look
    let queue = store.at(keys::Thumbnails { format: values::Format::new("square")? });
    let stats = queue.stats().await?;
    println!("{} run, {} wait for their time, {} are dead", stats.leased, stats.due, stats.dead);
    if let Some(job) = queue.status("dog-128").await? {
        let result = job.result.as_deref().map(String::from_utf8_lossy);
        println!("{:?} after {} attempts: {result:?}", job.state, job.attempts);
    }
    queue.cancel("dog-128").await?;
    for dead in queue.dead(0, 9).await? {
        println!("{:?}: {:?}", dead.value, dead.error);
        queue.requeue(&dead).await?;
    }
    // ANCHOR_END: look
    Ok(())
}

async fn mailing(store: &Store) -> Done {
    // ANCHOR: mail
    let mails = store.at(keys::Mails);
    let mail =
        fields::Mails { to: "you@example.org".into(), subject: "Hello".into(), reply_to: None };
    mails.push(&mail).await?; // XADD gallery:mails * to you@example.org subject Hello
    // ANCHOR_END: mail
    Ok(())
}

// ANCHOR: deliver
async fn deliver(store: Store) -> Result<(), keyward::Error> {
    let worker = store.at(keys::Mails).worker().until(terminated());
    worker.run(async |job: Job<fields::Mails>| send(&job.value)).await
}
// ANCHOR_END: deliver

fn send(mail: &fields::Mails) -> Result<(), Failure> {
    if mail.to.contains('@') { Ok(()) } else { Err("not an address".into()) }
}
