//! Which jobs a worker has leased, and the heartbeats that renew the leases.

use super::lease::{Leased, Renewed};
use super::line::Line;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The most leases that one call renews.
const CHUNK: usize = 500;

/// The leases of one worker. Its heartbeats end with it.
pub(crate) struct Board {
    seats: Arc<Seats>,
    beating: JoinHandle<()>,
}

type Seats = Mutex<HashMap<String, (Arc<Leased>, watch::Sender<Renewed>)>>;

/// A job that is being handled.
#[derive(Clone)]
pub(crate) struct Seat(watch::Receiver<Renewed>);

impl Board {
    /// Starts to renew what will be leased, three times in each lease.
    pub(crate) fn new(line: Arc<Line>, lease: Duration) -> Self {
        let seats = Arc::new(Seats::default());
        let held = Arc::clone(&seats);
        let beating = tokio::spawn(async move {
            let mut beats = tokio::time::interval(lease / 3);
            beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            beats.tick().await;
            loop {
                beats.tick().await;
                renew(&line, &held, lease).await;
            }
        });
        Board { seats, beating }
    }

    /// Notes a lease.
    pub(crate) fn sit(&self, job: &Arc<Leased>) -> Seat {
        let (sender, receiver) = watch::channel(Renewed::Held);
        lock(&self.seats).insert(job.ticket.clone(), (Arc::clone(job), sender));
        Seat(receiver)
    }

    /// Forgets a lease that has ended.
    pub(crate) fn leave(&self, job: &Leased) {
        let mut seats = lock(&self.seats);
        // The same job may have been taken again meanwhile.
        if seats.get(&job.ticket).is_some_and(|(seated, _)| seated.take == job.take) {
            seats.remove(&job.ticket);
        }
    }

    /// The jobs that are leased.
    pub(crate) fn seated(&self) -> Vec<Arc<Leased>> {
        lock(&self.seats).values().map(|(job, _)| Arc::clone(job)).collect()
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

impl Seat {
    /// What was last learned about the lease.
    pub(crate) fn fate(&self) -> Renewed {
        *self.0.borrow()
    }

    /// Waits until the lease is lost or the job is cancelled.
    pub(crate) async fn over(&self) {
        let mut fate = self.0.clone();
        // The board has gone with its worker where nobody can say it any more.
        _ = fate.wait_for(|fate| *fate != Renewed::Held).await;
    }
}

async fn renew(line: &Line, seats: &Seats, lease: Duration) {
    let held: Vec<(String, u64)> =
        lock(seats).values().map(|(job, _)| (job.ticket.clone(), job.take)).collect();
    for held in held.chunks(CHUNK) {
        match line.renew(held, lease).await {
            // The lease ends by itself if the server stays away for too long.
            Err(error) => line.core.failures.note(line.definition.name, &error),
            Ok(answers) => {
                let seats = lock(seats);
                for ((ticket, take), answer) in held.iter().zip(answers) {
                    if let Some((_, fate)) = seats.get(ticket).filter(|(job, _)| job.take == *take)
                    {
                        fate.send_if_modified(|fate| std::mem::replace(fate, answer) != answer);
                    }
                }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
