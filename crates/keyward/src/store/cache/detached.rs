//! Loads that go on when nobody waits for them.

use super::{Looked, Wish};
use crate::Key;
use crate::kind::Declared;
use crate::store::handle::Handle;
use crate::store::load_error::LoadError;
use crate::store::whole::Whole;
use std::future::Future;
use std::time::Duration;
use tokio::task::{JoinError, JoinHandle};

impl<K: Key, T: Whole + 'static> Handle<'_, K, T, Declared> {
    /// [`get_or_load`](Handle::get_or_load) by a loader that owns what it needs: it runs in a task of its own, and
    /// goes on if the caller is cancelled. With `stale_if_slow`, a caller who has waited for so long gets the
    /// expired value. What is [due](crate::Store::emit) to be loaded again is served at once.
    ///
    /// # Errors
    /// The loader's own error. Never one of the cache.
    ///
    /// # Panics
    /// If the loader panics.
    pub async fn get_or_load_detached<E, F>(
        &self,
        load: impl FnOnce() -> F + Send + 'static,
    ) -> Result<T::Value, LoadError<E>>
    where
        E: Send + Sync + 'static,
        F: Future<Output = Result<T::Value, E>> + Send + 'static,
    {
        let wish = Wish { some: |value| value, none: None, value: |value| Some(value) };
        self.obtain_detached(wish, load).await
    }

    /// [`find_or_load`](Handle::find_or_load) in the same way.
    ///
    /// # Errors
    /// The loader's own error. Never one of the cache.
    ///
    /// # Panics
    /// If the loader panics.
    pub async fn find_or_load_detached<E, F>(
        &self,
        load: impl FnOnce() -> F + Send + 'static,
    ) -> Result<Option<T::Value>, LoadError<E>>
    where
        E: Send + Sync + 'static,
        F: Future<Output = Result<Option<T::Value>, E>> + Send + 'static,
    {
        let wish = Wish { some: Some, none: Some(|| None), value: Option::as_ref };
        self.obtain_detached(wish, load).await
    }

    async fn obtain_detached<R, E, F>(
        &self,
        wish: Wish<T::Value, R>,
        load: impl FnOnce() -> F + Send + 'static,
    ) -> Result<R, LoadError<E>>
    where
        R: Clone + Send + Sync + 'static,
        E: Send + Sync + 'static,
        F: Future<Output = Result<R, E>> + Send + 'static,
    {
        let looked = match self.known(&wish).await {
            Ok(answer) => return Ok(answer),
            Err(looked) => looked,
        };
        let some = wish.some;
        let old = if let Looked::Found(value, _) = &looked { Some(value.clone()) } else { None };
        let Some(core) = self.core.me().upgrade() else {
            return self.load(&wish, looked, load).await;
        };
        let again = self.parts();
        let mut task: JoinHandle<Result<R, LoadError<E>>> = tokio::spawn(async move {
            let handle: Handle<'_, K, T, Declared> = Handle::again(&core, again);
            handle.load(&wish, looked, load).await
        });
        if let Some(old) = old {
            return Ok(some(old));
        }
        let Some(slow) = K::DEFINITION.behaviour.slow_ms.map(Duration::from_millis) else {
            return ended(task.await).await;
        };
        match tokio::time::timeout(slow, &mut task).await {
            Ok(done) => ended(done).await,
            Err(_) => match self.stale().await {
                Some(value) => Ok(some(value)),
                None => ended(task.await).await,
            },
        }
    }
}

/// The outcome of a task. One that was cancelled ends with its runtime, and so does whoever waits for it.
async fn ended<R>(done: Result<R, JoinError>) -> R {
    match done {
        Ok(outcome) => outcome,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => std::future::pending().await,
    }
}
