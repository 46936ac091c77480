//! Hears of every change to keys that are kept in this process.
//!
//! One connection to every primary, on which the server broadcasts the names of keys that changed
//! (`CLIENT TRACKING … BCAST`). It is pinged every second; what was broadcast before a pong has been
//! heard before it.

use super::core::Core;
use super::l1::L1;
use super::link::Primary;
use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{PushInfo, PushKind, Value};
use std::sync::Weak;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

/// How often the connections are asked whether they are alive.
const BEAT: Duration = Duration::from_secs(1);
/// How long they may take to answer.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long the values are good after the last answer: until the next one is due.
const GOOD_MS: u64 = 1_500;

/// Listens until the store is dropped.
pub(super) async fn run(core: Weak<Core>) {
    loop {
        let Some(strong) = core.upgrade() else { return };
        let connected = connect(&strong).await;
        drop(strong);
        if let Some(connected) = connected {
            listen(&core, connected).await;
        }
        let Some(strong) = core.upgrade() else { return };
        strong.l1.lost();
        drop(strong);
        sleep(Duration::from_millis(100)).await;
    }
}

struct Connected {
    primaries: Vec<Primary>,
    prefixes: Vec<String>,
    connections: Vec<MultiplexedConnection>,
    heard: UnboundedReceiver<PushInfo>,
}

/// A connection to every primary, all of which tell what changes.
async fn connect(core: &Core) -> Option<Connected> {
    let prefixes = core.l1.prefixes();
    let primaries = core.primaries().await.ok()?;
    let (sender, heard) = unbounded_channel();
    let mut connections = Vec::new();
    for primary in &primaries {
        let mut connection = core.link.listening(primary, sender.clone()).await.ok()?;
        let mut cmd = redis::cmd("CLIENT");
        cmd.arg("TRACKING").arg("ON").arg("BCAST");
        for prefix in &prefixes {
            cmd.arg("PREFIX").arg(prefix);
        }
        let answer = timeout(PATIENCE, connection.req_packed_command(&cmd)).await.ok()?;
        match answer.and_then(Value::extract_error) {
            Ok(_) => connections.push(connection),
            Err(error) => {
                let why = error.to_string();
                tracing::debug!(target: "keyward", why, "changes cannot be heard of");
                return None;
            }
        }
    }
    Some(Connected { primaries, prefixes, connections, heard })
}

/// Removes what changes, until a connection is lost or another set of keys is wanted.
async fn listen(core: &Weak<Core>, mut connected: Connected) {
    let mut beat = interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Some(strong) = core.upgrade() else { return };
        tokio::select! {
            biased;
            heard = connected.heard.recv() => match heard {
                Some(push) if hear(&strong.l1, &push) => {}
                _ => return,
            },
            _ = beat.tick() => {
                let sent = strong.l1.now();
                if !are_alive(&mut connected.connections).await || !is_current(&strong, &connected).await {
                    return;
                }
                // What was broadcast before the pong must be heard before it counts.
                while let Ok(push) = connected.heard.try_recv() {
                    if !hear(&strong.l1, &push) {
                        return;
                    }
                }
                strong.l1.alive(sent.saturating_add(GOOD_MS));
            }
            () = strong.l1.wanted.notified() => {
                if strong.l1.prefixes() != connected.prefixes {
                    return;
                }
            }
        }
    }
}

/// Takes in a message; whether the connection is still good.
fn hear(l1: &L1, push: &PushInfo) -> bool {
    match (&push.kind, push.data.first()) {
        (PushKind::Invalidate, Some(Value::Array(keys))) => {
            for key in keys {
                if let Value::BulkString(key) = key
                    && let Ok(key) = std::str::from_utf8(key)
                {
                    l1.remove(key);
                }
            }
            true
        }
        // The whole database was flushed.
        (PushKind::Invalidate, _) => {
            l1.remove_if(|_| true);
            true
        }
        (PushKind::Disconnection, _) => false,
        _ => true,
    }
}

async fn are_alive(connections: &mut [MultiplexedConnection]) -> bool {
    let ping = redis::cmd("PING");
    for connection in connections {
        match timeout(PATIENCE, connection.req_packed_command(&ping)).await {
            Ok(Ok(_)) => {}
            _ => return false,
        }
    }
    true
}

/// Whether the same servers hold the keys.
async fn is_current(core: &Core, connected: &Connected) -> bool {
    !core.is_cluster() || core.primaries().await.is_ok_and(|now| now == connected.primaries)
}
