//! Pushes or handles jobs with apalis-redis: `apalis-peer push|work URL JOBS AT_ONCE`. Prints the seconds that it took.

use apalis::layers::WorkerBuilderExt as _;
use apalis::prelude::*;
use apalis_redis::{Config, RedisStorage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[derive(Debug, Serialize, Deserialize)]
struct Work {
    name: String,
    size: u64,
    note: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxDynError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, url, jobs, at_once] = args.as_slice() else { return Err("four arguments".into()) };
    let (count, at_once): (usize, usize) = (jobs.parse()?, at_once.parse()?);
    let config = Config::default().queue("work").batch_size(at_once).emit_events(false);
    let connection = apalis_redis::connect(url.as_str()).await?;
    let storage: RedisStorage<Work, _> = RedisStorage::new(connection).with_config(config);
    let began = Instant::now();
    if what == "push" {
        let next = AtomicUsize::new(0);
        let pushing = (0..at_once).map(|_| {
            let (mut storage, next) = (storage.clone(), &next);
            async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return Ok::<_, BoxDynError>(());
                    }
                    let name = format!("picture-{number}.png");
                    storage.push(Work { name, size: number as u64, note: "x".repeat(200) }).await?;
                }
            }
        });
        futures::future::try_join_all(pushing).await?;
        println!("{}", began.elapsed().as_secs_f64());
        return Ok(());
    }
    let handled = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&handled);
    let worker = WorkerBuilder::new("peer").backend(storage).concurrency(at_once).build(
        move |job: Work, worker: WorkerContext| {
            let handled = Arc::clone(&counting);
            async move {
                if handled.fetch_add(1, Ordering::Relaxed) + 1 == count {
                    worker.stop()?;
                }
                Ok::<_, BoxDynError>(job.size)
            }
        },
    );
    worker.run().await?;
    println!("{}", began.elapsed().as_secs_f64());
    Ok(())
}
