//! What is written between audits, as `keyward watch` sees it.

use super::{Context, PAUSES};
use crate::state::{Event, LiveFinding, Watching};
use keyward_audit::live::watch;
use keyward_audit::now;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Findings that are kept.
const KEPT: usize = 200;
/// How long one watch lasts at most: it judges by the schemas and the day on which it began.
const ONE: Duration = Duration::from_secs(60 * 60);

/// How often it is looked whether the schemas changed.
const TICK: Duration = Duration::from_millis(500);

/// Watches a server until it is told to stop.
pub(super) fn run(context: &Context) {
    let mut pause = PAUSES.0;
    while !context.stop.is_set() {
        let returns = context.returns();
        match once(context) {
            Ok(()) => pause = PAUSES.0,
            Err(why) => {
                tell_state(context, None, vec![why]);
                pause = context.pause(pause, returns);
            }
        }
    }
}

fn once(context: &Context) -> Result<(), String> {
    let schemas = context.server().current().schemas.clone();
    if schemas.each.is_empty() {
        let why = "without a schema there is nothing to watch for".to_owned();
        tell_state(context, None, vec![why]);
        context.stop.wait(ONE);
        return Ok(());
    }
    let audit = context.audit(&schemas);
    let watching = watch::Watching::default();
    let over = AtomicBool::new(false);
    let tell = |event: watch::Event<'_>| match event {
        watch::Event::Watching { via, notes, .. } => {
            tell_state(context, Some(via.to_string()), notes.to_vec());
        }
        watch::Event::Lost { server, why } => {
            tell_state(context, None, vec![format!("{server} was lost: {why}")]);
        }
        watch::Event::Found(finding) => tell_finding(context, finding),
        _ => {}
    };
    let watched = thread::scope(|scope| {
        let timer = scope.spawn(|| {
            let until = Instant::now() + ONE;
            let is_same = || context.server().current().schemas.fingerprint == schemas.fingerprint;
            while !over.load(Ordering::Acquire)
                && !context.stop.is_set()
                && Instant::now() < until
                && is_same()
            {
                thread::park_timeout(TICK);
            }
            watching.finish.store(true, Ordering::Release);
        });
        let (url, options) = (&context.source.url, context.options());
        let watched = audit.watch(url, &options, &watching, &tell);
        over.store(true, Ordering::Release);
        timer.thread().unpark();
        watched
    });
    watched.map(drop).map_err(|error| error.to_string())
}

fn tell_finding(context: &Context, finding: &keyward_audit::report::Finding) {
    let (at, server) = (now(), context.server());
    let boxed = Box::new(finding.clone());
    let event = Event::Found { server: server.name.clone(), at, finding: boxed };
    context.state.update(server, event, |current| {
        let new = LiveFinding { at, finding: finding.clone() };
        let known = current.found.iter().take(KEPT - 1).cloned();
        current.found = std::iter::once(new).chain(known).collect();
    });
}

fn tell_state(context: &Context, via: Option<String>, notes: Vec<String>) {
    let server = context.server();
    let watching = Some(Watching { via, notes });
    if server.current().watching == watching {
        return;
    }
    let event = Event::Info { server: server.name.clone() };
    context.state.update(server, event, |current| current.watching = watching);
}
