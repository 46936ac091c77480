//! Servers that break while they are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use keyward_audit::live::{self, Ended};
use keyward_audit::{Audit, Listener, Outcome, Row};
use keyward_testkit::{Flavor, Harm, Proxy, Server};

use crate::support::{Everything, fill, plain, quick, read, read_one};

pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

#[test]
fn a_connection_that_is_cut_is_made_again_and_no_key_is_told_twice() {
    for server in Server::all() {
        let names = fill(&server, 20_000);
        // The three connections of the first try, and some of later ones.
        for (connections, after) in [(1, 30_000), (3, 60_000), (5, 100_000)] {
            let proxy = Proxy::new(&server, Harm::Cut { connections, after });
            let (seen, told) = read_one(&proxy.url(), &quick());
            assert!(proxy.harmed() > 0);
            assert_eq!(told.names(), names);
            assert_eq!(told.count, names.len());
            assert_eq!(seen.shards[0].0.counts.keys, names.len() as u64);
        }
    }
}

#[test]
fn values_that_are_cut_off_are_read_again() {
    let server = Server::redis();
    let mut connection = server.connect();
    for number in 0..2_000 {
        let name = format!("hash:{number}");
        connection.command(&["HSET", &name, "a", "1", "b", "2", "c", "3"]).unwrap();
    }
    for after in [30_000, 60_000, 90_000] {
        let proxy = Proxy::new(&server, Harm::Cut { connections: 3, after });
        let seen = read(&proxy.url(), &quick(), |_| Everything::showing(10));
        let told = &seen.shards[0].1;
        assert!(proxy.harmed() > 0);
        assert_eq!(told.count, 2_000);
        assert!(told.keys.values().all(|told| told.elements.len() == 3 && told.observed.whole));
    }
}

#[test]
fn a_server_that_dies_is_an_error_that_says_so() {
    let server = Arc::new(Server::redis());
    fill(&server, 20_000);
    let hook: Hook = {
        let server = Arc::clone(&server);
        Arc::new(move || server.kill())
    };
    let ended = live::observe(&server.url(), &quick(), |_| Everything::calling(1_000, &hook));
    let Err(error) = ended.and_then(Ended::whole) else { panic!("a dead server was read") };
    let error = plain(&error.to_string(), &[&server]);
    assert!(error.starts_with("the connection to <server 0> broke after "), "{error}");
    assert!(error.ends_with("the server closed the connection"), "{error}");
}

/// A server that keeps its keys over a restart, and a hook that restarts it so many times.
pub(crate) fn restarting(times: usize) -> (Arc<Server>, Vec<String>, Hook) {
    let server = Arc::new(Flavor::Redis.start());
    let names = fill(&server, 20_000);
    server.save();
    let done = AtomicUsize::new(0);
    let hook: Hook = {
        let server = Arc::clone(&server);
        Arc::new(move || {
            if done.fetch_add(1, Ordering::SeqCst) < times {
                server.restart();
            }
        })
    };
    (server, names, hook)
}

#[test]
fn a_server_that_restarts_is_read_anew() {
    let (server, names, hook) = restarting(1);
    let seen = read(&server.url(), &quick(), |_| Everything::calling(1_000, &hook));
    let told = &seen.shards[0].1;
    assert_eq!(told.names(), names);
    assert_eq!(told.count, names.len());
}

#[test]
fn a_server_that_restarts_again_is_not_read_whole() {
    let (server, _, hook) = restarting(2);
    let ended = live::observe(&server.url(), &quick(), |_| Everything::calling(1_000, &hook));
    let error = ended.and_then(Ended::whole).err().expect("it restarted twice");
    insta::assert_snapshot!(plain(&format!("error: {error}\nhelp: {}", error.help()), &[&server]), @r"
    error: not all of <server 0> was seen: the server was restarted meanwhile, and the second attempt failed too
    help: wait until nothing is resharded, restarted or failed over
    ");
}

/// Calls somebody at the thousandth key.
fn listening(hook: &Hook) -> impl Fn() -> Option<Listener> + Sync {
    let hook = hook.clone();
    move || {
        let (mut told, hook) = (0, hook.clone());
        Some(Box::new(move |_: &Row<'_>| {
            told += 1;
            if told == 1_000 {
                hook();
            }
        }))
    }
}

#[test]
fn what_was_counted_before_a_stop_counts_unless_the_server_is_read_anew() {
    let (server, names, restart) = restarting(1);
    let audit = Arc::new(Audit::new(Vec::new(), &keyward_audit::Options::default()));
    let options = quick();
    let stop = Arc::clone(&options.stop);
    let stopping: Hook = Arc::new(move || stop.store(true, Ordering::SeqCst));
    let ended = audit.observe_on(&server.url(), &options, None, listening(&stopping), 0);
    let Ok(Outcome::Stopped(stopped)) = ended else { panic!("it was not stopped") };
    assert!((1_000..20_000).contains(&stopped.keys()), "{}", stopped.keys());
    let nothing: Hook = Arc::new(|| ());
    for hook in [nothing, restart] {
        let ended = audit.observe_on(&server.url(), &quick(), Some(&stopped), listening(&hook), 0);
        let Ok(Outcome::Whole(report)) = ended else { panic!("it was not read") };
        assert_eq!(report.summary.keys, names.len() as u64);
        assert_eq!(report.source.shards[0].keys_seen, names.len() as u64);
    }
}
