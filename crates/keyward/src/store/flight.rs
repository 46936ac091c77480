//! One load at a time for a key, however many ask.
//!
//! The first caller loads; the others wait and get what it got. A caller that is cancelled while it
//! loads hands over to one that waits: its lock is dropped without an outcome, and the next in line
//! finds none.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// The loads that are under way, by what they load and its type.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    open: Mutex<HashMap<(String, TypeId), Weak<Flight>>>,
}

#[derive(Debug, Default)]
struct Flight {
    outcome: tokio::sync::Mutex<Option<Arc<dyn Any + Send + Sync>>>,
}

impl Flights {
    /// The outcome of `load`, or of the same load that somebody else began before; and whether it
    /// was ours. Who has waited for somebody else's load for so long gets something else `instead`, if there is.
    pub(crate) async fn join<T, F>(
        &self,
        key: &str,
        instead: Option<(Duration, impl Future<Output = Option<T>>)>,
        load: impl FnOnce() -> F,
    ) -> (T, bool)
    where
        T: Clone + Send + Sync + 'static,
        F: Future<Output = T>,
    {
        let key = (key.to_owned(), TypeId::of::<T>());
        let flight = self.board(&key);
        let _leaving = Leaving { flights: self, key: &key, flight: &flight };
        let mut outcome = match instead {
            None => flight.outcome.lock().await,
            Some((patience, instead)) => {
                match tokio::time::timeout(patience, flight.outcome.lock()).await {
                    Ok(outcome) => outcome,
                    Err(_) => match instead.await {
                        Some(value) => return (value, false),
                        None => flight.outcome.lock().await,
                    },
                }
            }
        };
        if let Some(known) = outcome.as_ref().and_then(|outcome| outcome.downcast_ref::<T>()) {
            return (known.clone(), false);
        }
        let loaded = load().await;
        // Whoever comes from here on begins again: what it reads must not be older than its call.
        self.close(&key, &flight);
        *outcome = Some(Arc::new(loaded.clone()));
        (loaded, true)
    }

    /// Lets whoever asks for such a key from now on begin again: what is being loaded may be old.
    pub(crate) fn forget(&self, is_old: impl Fn(&str) -> bool) {
        self.lock().retain(|(key, _), _| !is_old(key));
    }

    /// Whether somebody is loading this key, whatever its type.
    pub(crate) fn is_open(&self, key: &str) -> bool {
        self.lock().iter().any(|((open, _), flight)| open == key && flight.strong_count() > 0)
    }

    fn board(&self, key: &(String, TypeId)) -> Arc<Flight> {
        let mut open = self.lock();
        if let Some(flight) = open.get(key).and_then(Weak::upgrade) {
            return flight;
        }
        let flight = Arc::new(Flight::default());
        open.insert(key.clone(), Arc::downgrade(&flight));
        flight
    }

    fn close(&self, key: &(String, TypeId), flight: &Arc<Flight>) {
        let mut open = self.lock();
        if open.get(key).is_some_and(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(flight))) {
            open.remove(key);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, TypeId), Weak<Flight>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many keys are being loaded.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().len()
    }

    /// How many load or wait.
    #[cfg(test)]
    fn aboard(&self) -> usize {
        self.lock().values().map(Weak::strong_count).sum()
    }
}

/// Removes the entry of a flight when the last caller leaves, however it leaves.
struct Leaving<'f> {
    flights: &'f Flights,
    key: &'f (String, TypeId),
    flight: &'f Arc<Flight>,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut open = self.flights.lock();
        let ours = |known: &Weak<Flight>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(self.flight));
        if Arc::strong_count(self.flight) == 1 && open.get(self.key).is_some_and(ours) {
            open.remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Ready;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Nobody gets anything else instead.
    const WAIT: Option<(Duration, Ready<Option<u32>>)> = None;

    #[tokio::test]
    async fn ten_thousand_callers_make_one_load() {
        let flights = Arc::new(Flights::default());
        let loads = Arc::new(AtomicUsize::new(0));
        let callers: Vec<_> = (0..10_000)
            .map(|_| {
                let (flights, loads) = (flights.clone(), loads.clone());
                tokio::spawn(async move {
                    let load = || async {
                        while flights.aboard() < 10_000 {
                            tokio::task::yield_now().await;
                        }
                        u32::try_from(loads.fetch_add(1, Ordering::SeqCst)).unwrap()
                    };
                    flights.join("key", WAIT, load).await
                })
            })
            .collect();
        let mut leaders = 0;
        for caller in callers {
            let (value, led) = caller.await.unwrap();
            assert_eq!(value, 0);
            leaders += usize::from(led);
        }
        assert_eq!((loads.load(Ordering::SeqCst), leaders, flights.len()), (1, 1, 0));
    }

    #[tokio::test]
    async fn a_cancelled_leader_hands_over_to_a_waiter() {
        let flights = Arc::new(Flights::default());
        let (began, has_begun) = tokio::sync::oneshot::channel();
        let leader = tokio::spawn({
            let flights = flights.clone();
            async move {
                let load = || async {
                    began.send(()).unwrap();
                    std::future::pending::<u32>().await
                };
                flights.join("key", WAIT, load).await
            }
        });
        has_begun.await.unwrap();
        {
            let mut waiter = std::pin::pin!(flights.join("key", WAIT, || async { 7u32 }));
            assert!(futures_util::poll!(&mut waiter).is_pending());
            leader.abort();
            assert_eq!(waiter.await, (7, true));
        }
        assert_eq!(flights.len(), 0);
    }

    #[tokio::test]
    async fn a_call_after_the_load_begins_anew() {
        let flights = Flights::default();
        assert_eq!(flights.join("key", WAIT, || async { 1 }).await, (1, true));
        assert_eq!(flights.join("key", WAIT, || async { 2 }).await, (2, true));
    }

    #[tokio::test]
    async fn who_has_waited_long_enough_gets_something_else_and_the_load_goes_on() {
        let flights = Flights::default();
        let (end, ended) = tokio::sync::oneshot::channel::<u32>();
        let mut leader =
            std::pin::pin!(flights.join("key", WAIT, || async { ended.await.unwrap() }));
        assert!(futures_util::poll!(&mut leader).is_pending());
        let old = |value: Option<u32>| Some((Duration::from_millis(1), std::future::ready(value)));
        assert_eq!(flights.join("key", old(Some(3)), || async { 4 }).await, (3, false));
        let mut patient = std::pin::pin!(flights.join("key", old(None), || async { 4 }));
        assert!(futures_util::poll!(&mut patient).is_pending());
        end.send(5).unwrap();
        assert_eq!((leader.await, patient.await), ((5, true), (5, false)));
    }

    #[tokio::test]
    async fn keys_do_not_wait_for_each_other() {
        let flights = Flights::default();
        let slow = flights.join("slow", WAIT, std::future::pending::<u32>);
        let quick = flights.join("quick", WAIT, || async { 1 });
        tokio::select! {
            biased;
            _ = slow => unreachable!("it never ends"),
            (value, led) = quick => assert_eq!((value, led), (1, true)),
        }
        assert_eq!(flights.len(), 0);
    }
}
