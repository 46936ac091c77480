//! A job as its handler sees it, and what the handler says of it.

use super::board::Seat;
use super::lease::Leased;
use super::line::{Line, is_given};
use super::push::Ticket;
use crate::store::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A job that a worker has leased.
pub struct Job<V> {
    /// The value that was pushed
    pub value: V,
    pub(super) leased: Arc<Leased>,
    pub(super) line: Arc<Line>,
    pub(super) seat: Seat,
}

impl<V> Job<V> {
    /// The id that was given at push.
    pub fn id(&self) -> Option<&str> {
        Some(self.leased.id.as_str()).filter(|id| is_given(id))
    }

    /// The group that was given at push.
    pub fn group(&self) -> Option<&str> {
        Some(self.leased.group.as_str()).filter(|group| !group.is_empty())
    }

    /// Which attempt this is: 1 is the first. Leases that ended without a word count apart.
    pub fn attempt(&self) -> u64 {
        self.leased.attempts + 1
    }

    /// How often a worker has taken the job and was not heard of again.
    pub fn crashes(&self) -> u64 {
        self.leased.crashes
    }

    /// The number that the server gave to the job: the same at each attempt.
    pub fn ticket(&self) -> Ticket {
        Ticket(self.leased.ticket.parse().unwrap_or(0))
    }

    /// A number that is greater at each attempt of the job. A database that remembers it can refuse an
    /// attempt that was thought dead.
    pub fn take(&self) -> u64 {
        self.leased.take
    }

    /// When the job was pushed; for a value that another client pushed to a list, when it was
    /// first taken.
    pub fn created(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.leased.created)
    }

    /// When this lease began, by the server's clock.
    pub fn taken(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.leased.taken)
    }

    /// Notes how far the job is, for [`status`](crate::Handle::status) and the documented status; whether the lease
    /// is still held.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn progress(&self, progress: impl fmt::Display) -> Result<bool, Error> {
        self.line.progress(&self.leased, &progress.to_string()).await
    }

    /// Waits until the job is cancelled or its lease is lost. The worker drops the handler then; this is for tasks that the
    /// handler has started.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<V> {
        let seat = self.seat.clone();
        async move { seat.over().await }
    }
}

impl<V: fmt::Debug> fmt::Debug for Job<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("ticket", &self.leased.ticket)
            .field("attempt", &self.attempt())
            .finish_non_exhaustive()
    }
}

/// Why a job failed. Every error becomes one with `?`, and the job is tried again.
#[derive(Debug)]
pub struct Failure {
    pub(super) why: String,
    pub(super) fatal: bool,
}

impl Failure {
    /// A failure that another attempt would not mend: the job goes to the dead letters at once.
    pub fn fatal(why: impl fmt::Display) -> Self {
        Failure { why: why.to_string(), fatal: true }
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = error.into();
        let mut why = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            why.push_str(&format!(": {error}"));
            source = error.source();
        }
        Failure { why, fatal: false }
    }
}

/// What a handler may return: nothing, a text or bytes, which are kept as the job's result for the schema's `retain`.
pub trait Outcome {
    /// The bytes of the result.
    fn into_bytes(self) -> Vec<u8>;
}

impl Outcome for () {
    fn into_bytes(self) -> Vec<u8> {
        Vec::new()
    }
}

impl Outcome for String {
    fn into_bytes(self) -> Vec<u8> {
        String::into_bytes(self)
    }
}

impl Outcome for Vec<u8> {
    fn into_bytes(self) -> Vec<u8> {
        self
    }
}
