//! Servers that are lost for good while they are read, and come back later.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use keyward_audit::live::{self, Ended, Error, Options, Resume};
use keyward_testkit::{Cluster, Flavor, Server};

use crate::broken::{Hook, restarting};
use crate::support::{Everything, fill, fill_cluster, plain, quick, read};

/// Cuts all connections of a server that goes on running, and lets nobody in.
fn cut_off(server: &Server) {
    server.command(&["CONFIG", "SET", "port", "0"]);
    server.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
}

fn let_in(server: &Server) {
    server.command(&["CONFIG", "SET", "port", &server.port().to_string()]);
}

/// What was given back with an error.
#[track_caller]
fn lost<O>(ended: Result<Ended<O>, Error>) -> (Error, Resume, Vec<(live::Shard, O)>) {
    match ended {
        Ok(Ended::Stopped { error: Some(error), resume, shards, .. }) => (error, resume, shards),
        Ok(Ended::Stopped { error: None, .. }) => panic!("nobody stopped it"),
        Ok(Ended::Whole(_)) => panic!("it was read to its end"),
        Err(error) => panic!("nothing was given back with: {error}"),
    }
}

fn resuming(resume: &Resume) -> Options {
    let kept = serde_json::to_string(resume).expect("it can be kept");
    let mut options = quick();
    options.resume = Some(serde_json::from_str(&kept).expect("it was kept"));
    options
}

#[test]
fn a_scan_that_lost_its_server_goes_on_and_no_key_is_told_twice() {
    for server in Server::all() {
        let server = Arc::new(server);
        let mut names = Vec::new();
        let mut commands = Vec::new();
        for number in 0..1_500 {
            let name = format!("hash:{number}");
            commands.push(vec!["HSET".to_owned(), name.clone(), "a".into(), "x".repeat(20_000)]);
            names.push(name);
        }
        names.sort();
        server.connect().pipeline(&commands).expect("the server takes keys");
        let cut: Hook = {
            let server = Arc::clone(&server);
            Arc::new(move || cut_off(&server))
        };
        // Values are so large that a batch is read in several goes.
        let mut resume: Option<Resume> = None;
        let mut told = Everything::showing(10);
        let mut within_a_batch = 0;
        for more in [1, 400, 1, 500] {
            let options = resume.as_ref().map_or_else(quick, resuming);
            let before = told.clone().then_calling(more, &cut);
            let expected = before.count + more;
            let ended = live::observe(&server.url(), &options, |_| before.clone());
            let (error, kept, mut shards) = lost(ended);
            assert!(matches!(error, Error::Died { .. }), "{error}");
            let (shard, seen) = shards.pop().expect("one shard, one observer");
            // What the server had sent already is told, too.
            assert!(seen.count >= expected);
            assert_eq!(seen.count, seen.keys.len());
            assert_eq!(shard.counts.keys, seen.count as u64);
            assert_eq!(shard.counts.scanned, seen.count as u64);
            within_a_batch += usize::from(!kept.shards[0].told.is_empty());
            (resume, told) = (Some(kept), seen);
            let_in(&server);
        }
        assert!(within_a_batch > 0);
        let options = resuming(&resume.expect("it was lost"));
        let seen = read(&server.url(), &options, |_| told.clone());
        let (shard, told) = &seen.shards[0];
        assert_eq!(told.names(), names);
        assert_eq!(told.count, names.len());
        assert_eq!((shard.counts.keys, shard.counts.scanned), (1_500, 1_500));
        assert!(told.keys.values().all(|told| told.elements.len() == 1));
    }
}

#[test]
fn whoever_stops_a_scan_does_not_wait_for_a_server_that_is_gone() {
    let server = Arc::new(Server::redis());
    fill(&server, 20_000);
    let options = quick();
    let hook: Hook = {
        let (server, stop) = (Arc::clone(&server), Arc::clone(&options.stop));
        Arc::new(move || {
            cut_off(&server);
            stop.store(true, Ordering::SeqCst);
        })
    };
    let ended = live::observe(&server.url(), &options, |_| Everything::calling(1_000, &hook));
    let Ok(Ended::Stopped { error: None, resume, mut shards, .. }) = ended else {
        panic!("it was not stopped")
    };
    let_in(&server);
    let told = shards.pop().expect("one shard, one observer").1;
    let seen = read(&server.url(), &resuming(&resume), |_| told.clone());
    assert_eq!(seen.shards[0].1.count, 20_000);
    assert_eq!(seen.shards[0].1.keys.len(), 20_000);
}

#[test]
fn a_server_that_is_lost_before_a_key_was_seen_leaves_nothing() {
    let server = Server::redis();
    fill(&server, 100);
    cut_off(&server);
    let ended = live::observe(&server.url(), &quick(), |_| Everything::default());
    assert!(matches!(ended, Err(Error::Unreachable { .. })));
}

#[test]
fn a_server_that_was_restarted_since_is_read_from_its_beginning() {
    let (server, names, _) = restarting(0);
    let hook: Hook = {
        let server = Arc::clone(&server);
        Arc::new(move || server.kill())
    };
    let ended = live::observe(&server.url(), &quick(), |_| Everything::calling(1_000, &hook));
    let (error, resume, _) = lost(ended);
    assert!(matches!(error, Error::Died { .. }), "{error}");
    server.restart();
    let seen = read(&server.url(), &resuming(&resume), |shard| {
        assert!(!shard.resumed, "what was counted before is worth nothing");
        Everything::default()
    });
    let (shard, told) = &seen.shards[0];
    assert_eq!(told.names(), names);
    assert_eq!(told.count, names.len());
    insta::assert_snapshot!(plain(&shard.notes.join("\n"), &[&server]), @"keys were read from the beginning again, because the server was restarted since the scan was stopped");
}

#[test]
fn one_shard_that_fails_leaves_what_all_have_seen() {
    for flavor in Flavor::ALL {
        let cluster = Arc::new(Cluster::start(flavor));
        let names = fill_cluster(&cluster, 9_000);
        let victim = cluster.nodes()[1].address();
        // Nobody takes over from a server that refuses.
        let refuse: Hook = {
            let cluster = Arc::clone(&cluster);
            Arc::new(move || {
                cluster.nodes()[1].command(&["ACL", "SETUSER", "default", "-scan"]);
            })
        };
        let mut options = quick();
        options.primary = true;
        let url = cluster.nodes()[0].url();
        let ended = live::observe(&url, &options, |shard| {
            if shard.name == victim {
                Everything::calling(500, &refuse)
            } else {
                Everything::default()
            }
        });
        let (error, resume, shards) = lost(ended);
        assert!(matches!(error, Error::Reply { command: "SCAN", .. }), "{error}");
        assert_eq!(resume.shards.len(), 3);

        // As long as it refuses, nothing is lost of what it told.
        let mut options = resuming(&resume);
        options.primary = true;
        let again = live::observe(&url, &options, |_| Everything::default());
        let (resume, shards) = match again {
            Err(Error::Denied { .. }) => (resume, shards),
            again => {
                let (error, further, more) = lost(again);
                assert!(matches!(error, Error::Denied { .. }), "{error}");
                let find = |resume: &Resume| {
                    let mut shards = resume.shards.iter();
                    shards.find(|shard| shard.name == victim).cloned()
                };
                assert_eq!(find(&further), find(&resume));
                (further, joined(shards, more))
            }
        };

        cluster.nodes()[1].command(&["ACL", "SETUSER", "default", "+scan"]);
        let mut options = resuming(&resume);
        options.primary = true;
        let seen = read(&url, &options, |_| Everything::default());
        assert!(seen.shards.iter().all(|(shard, _)| shard.resumed));
        let all = joined(shards, seen.shards);
        let mut told: Vec<&str> = all.iter().flat_map(|(_, told)| told.names()).collect();
        told.sort_unstable();
        assert_eq!(told, names);
        assert_eq!(all.iter().map(|(_, told)| told.count).sum::<usize>(), names.len());
    }
}

type Shards = Vec<(live::Shard, Everything)>;

/// What observers were told before and after a stop.
fn joined(before: Shards, after: Shards) -> Shards {
    let mut all = before;
    for (shard, told) in after {
        match all.iter_mut().find(|(other, _)| other.name == shard.name) {
            Some((_, earlier)) => {
                earlier.count += told.count;
                earlier.keys.extend(told.keys);
            }
            None => all.push((shard, told)),
        }
    }
    all
}
