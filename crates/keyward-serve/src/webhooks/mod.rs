//! Tells others what happened, as JSON over HTTP: new findings, resolved ones, servers that go away and come back.
//!
//! Each webhook has a thread and a queue of its own, so that one that hangs delays no other, and none delays an audit.
//! A queue is bounded: where nobody takes messages, the oldest go, and are counted.

mod message;
mod send;

pub(crate) use message::Message;

use crate::collect::Stop;
use crate::config::{HookEvent, Webhook};
use crate::state::{Shared, lock};
use keyward_audit::report::{Finding, Severity};
use keyward_audit::{Report, appeared, disappeared};
use send::{Failed, Sender};
use serde::Serialize;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use utoipa::ToSchema;

/// Messages that may wait.
const WAITING: usize = 100;
/// How long to wait before a message is sent again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5 * 60));
/// How long a message is tried.
const PATIENCE: Duration = Duration::from_secs(60 * 60);
/// How often an idle thread looks whether to end.
const TICK: Duration = Duration::from_secs(1);

/// All webhooks.
#[derive(Debug, Default)]
pub(crate) struct Webhooks {
    each: Vec<Arc<Hook>>,
}

/// One webhook, and what waits to be sent.
#[derive(Debug)]
struct Hook {
    config: Webhook,
    waiting: Mutex<VecDeque<Arc<Message>>>,
    arrived: Condvar,
    sent: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
    error: Mutex<Option<String>>,
}

/// How a webhook does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct WebhookState {
    /// Its name in the configuration
    pub(crate) name: String,
    /// Messages that wait to be sent
    pub(crate) waiting: u64,
    /// Messages that were taken
    pub(crate) sent: u64,
    /// Messages that were refused, or tried for an hour
    pub(crate) failed: u64,
    /// Messages that were given up because too many waited
    pub(crate) dropped: u64,
    /// Why the last attempt failed; `null` after one that did not
    pub(crate) error: Option<String>,
}

impl Webhooks {
    pub(crate) fn new(each: &[Webhook]) -> Self {
        Webhooks { each: each.iter().map(|it| Arc::new(Hook::new(it.clone()))).collect() }
    }

    /// A server went away.
    pub(crate) fn away(&self, server: &str, why: &str, help: &str) {
        self.tell(HookEvent::Away, server, || Message::away(server, why, help));
    }

    /// A server is back, after so many seconds.
    pub(crate) fn back(&self, server: &str, seconds: u64) {
        self.tell(HookEvent::Back, server, || Message::back(server, seconds));
    }

    /// An audit has ended: what it found that the one before did not, and what is gone.
    pub(crate) fn audited(&self, server: &str, before: Option<&Report>, after: &Report) {
        let found =
            before.map_or_else(|| after.findings.iter().collect(), |it| appeared(it, after));
        // What was not looked at may still be there.
        let before = before.filter(|_| after.source.complete);
        let gone = before.map_or_else(Vec::new, |it| disappeared(it, after));
        for hook in self.each.iter().filter(|it| it.config.is_about(server)) {
            let severity = hook.config.severity;
            let is_wanted =
                |it: &&&Finding| severity == Severity::Warning || it.severity == Severity::Error;
            let found: Vec<&Finding> = found.iter().filter(is_wanted).copied().collect();
            if !found.is_empty() && hook.config.wants(HookEvent::Found) {
                hook.add(Message::found(server, &found));
            }
            let gone: Vec<&Finding> = gone.iter().filter(is_wanted).copied().collect();
            if !gone.is_empty() && hook.config.wants(HookEvent::Resolved) {
                hook.add(Message::resolved(server, &gone));
            }
        }
    }

    fn tell(&self, event: HookEvent, server: &str, message: impl Fn() -> Message) {
        let wants = |it: &&Arc<Hook>| it.config.wants(event) && it.config.is_about(server);
        for hook in self.each.iter().filter(wants) {
            hook.add(message());
        }
    }

    /// How each of them does.
    pub(crate) fn states(&self) -> Vec<WebhookState> {
        self.each.iter().map(|it| it.state()).collect()
    }

    /// Starts to send.
    pub(crate) fn start(&self, state: &Shared, stop: &Stop) -> io::Result<Vec<JoinHandle<()>>> {
        let start = |hook: &Arc<Hook>| {
            let (hook, state, stop) = (hook.clone(), state.clone(), stop.clone());
            let sender = Sender::new(&hook.config)?;
            let builder = thread::Builder::new().name(format!("webhook {}", hook.config.name));
            builder.spawn(move || hook.run(&sender, &state, &stop))
        };
        self.each.iter().map(start).collect()
    }
}

impl Hook {
    fn new(config: Webhook) -> Self {
        Hook {
            config,
            waiting: Mutex::default(),
            arrived: Condvar::new(),
            sent: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            error: Mutex::default(),
        }
    }

    fn add(&self, message: Message) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() == WAITING {
            waiting.pop_front();
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        waiting.push_back(Arc::new(message));
        self.arrived.notify_one();
    }

    fn state(&self) -> WebhookState {
        WebhookState {
            name: self.config.name.clone(),
            waiting: lock(&self.waiting).len() as u64,
            sent: self.sent.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            error: lock(&self.error).clone(),
        }
    }

    fn run(&self, sender: &Sender, state: &Shared, stop: &Stop) {
        while !stop.is_set() {
            if let Some(message) = self.next() {
                self.deliver(&message, sender, state, stop);
            }
        }
    }

    /// The oldest message, once there is one. It waits on, so that it is counted until it was sent.
    fn next(&self) -> Option<Arc<Message>> {
        let waiting =
            self.arrived.wait_timeout_while(lock(&self.waiting), TICK, |it| it.is_empty());
        waiting.unwrap_or_else(PoisonError::into_inner).0.front().cloned()
    }

    /// Sends a message until it is taken, refused, or too old.
    fn deliver(&self, message: &Arc<Message>, sender: &Sender, state: &Shared, stop: &Stop) {
        let (began, mut pause) = (Instant::now(), PAUSES.0);
        loop {
            let failed = sender.send(message).err();
            let why = failed.as_ref().map(|failed| failed.why().to_owned());
            let about = format!("webhook-{}", self.config.name);
            state.notice(
                &about,
                why.as_ref()
                    .map(|why| format!("the webhook `{}` does not work: {why}", self.config.name)),
            );
            lock(&self.error).clone_from(&why);
            match failed {
                None => return self.done(message, &self.sent),
                Some(Failed::Refused(_)) => return self.done(message, &self.failed),
                Some(Failed::Away(_)) if began.elapsed() > PATIENCE => {
                    return self.done(message, &self.failed);
                }
                Some(Failed::Away(_)) => {}
            }
            if !stop.wait(pause) {
                return;
            }
            pause = (pause * 2).min(PAUSES.1);
            // It may have been given up for newer ones meanwhile.
            if !self.is_first(message) {
                return;
            }
        }
    }

    fn is_first(&self, message: &Arc<Message>) -> bool {
        lock(&self.waiting).front().is_some_and(|it| Arc::ptr_eq(it, message))
    }

    fn done(&self, message: &Arc<Message>, count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
        let mut waiting = lock(&self.waiting);
        if waiting.front().is_some_and(|it| Arc::ptr_eq(it, message)) {
            waiting.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyward_audit::live::Secret;

    #[test]
    fn a_queue_that_nobody_empties_loses_the_oldest_and_counts_them() {
        let config = Webhook::new("test", Secret::new("http://127.0.0.1:1"));
        let hooks = Webhooks::new(&[config]);
        for number in 0..WAITING + 7 {
            hooks.back(&format!("server-{number}"), 1);
        }
        let state = &hooks.states()[0];
        assert_eq!((state.waiting, state.dropped), (WAITING as u64, 7));
        let first = lock(&hooks.each[0].waiting).front().cloned().expect("a message");
        assert!(first.text().contains("server-7"), "{}", first.text());
    }

    #[test]
    fn a_webhook_gets_what_it_asks_for() {
        let mut config = Webhook::new("test", Secret::new("http://127.0.0.1:1"));
        config.events = vec![HookEvent::Away];
        config.servers = vec!["a".to_owned()];
        config.severity = Severity::Error;
        let hooks = Webhooks::new(&[config]);
        hooks.back("a", 1);
        hooks.away("b", "it is gone", "look");
        assert_eq!(hooks.states()[0].waiting, 0);
        hooks.away("a", "it is gone", "look");
        assert_eq!(hooks.states()[0].waiting, 1);
    }
}
