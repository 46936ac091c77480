//! Servers that do not let everybody do everything.

use std::thread;
use std::time::Duration;

use keyward_audit::live::Error;
use keyward_testkit::{Flavor, Harm, Proxy, Server};

use crate::support::{fail, fill, plain, quick, read_one, shown};

/// A server with a user who may do what the rules say.
fn with_user(flavor: Flavor, rules: &str) -> (Server, String) {
    let server = flavor.server().user("audit", &format!("on >secret ~* {rules}")).start();
    fill(&server, 10);
    let url = format!("redis://audit:secret@{}", server.address());
    (server, url)
}

#[test]
fn a_server_that_nobody_runs_is_said_to_be_unreachable() {
    let server = Server::redis();
    server.kill();
    insta::assert_snapshot!(shown(&fail(&server.url(), &quick()), &server), @r"
    error: <server 0> cannot be reached: nothing listens there
    help: check host and port, and whether a firewall lies between; `rediss://` is for TLS
    ");
}

#[test]
fn a_server_that_hangs_is_given_up() {
    let server = Server::redis();
    server.pause();
    let mut options = quick();
    options.timeout = Duration::from_millis(300);
    let error = fail(&server.url(), &options);
    server.resume();
    insta::assert_snapshot!(shown(&error, &server), @r"
    error: <server 0> cannot be reached: no answer within 0.3 s
    help: check host and port, and whether a firewall lies between; `rediss://` is for TLS
    ");
}

#[test]
fn a_password_is_asked_for_and_never_shown() {
    for flavor in Flavor::ALL {
        let server = flavor.server().password("secret").start();
        let without = fail(&format!("redis://{}", server.address()), &quick());
        let wrong = fail(&format!("redis://:hunter2@{}", server.address()), &quick());
        assert!(!format!("{wrong:?}").contains("hunter2"));
        let both = format!("{}\n\n{}", shown(&without, &server), shown(&wrong, &server));
        insta::allow_duplicates! {
            insta::assert_snapshot!(both, @r"
            error: <server 0> does not let this user in: NOAUTH Authentication required
            help: give user and password in the URL, `redis://user:password@host`, in the environment or in a file

            error: <server 0> does not let this user in: WRONGPASS invalid username-password pair or user is disabled
            help: give user and password in the URL, `redis://user:password@host`, in the environment or in a file
            ");
        }
    }
}

#[test]
fn a_command_that_is_denied_and_needed_is_named() {
    for flavor in Flavor::ALL {
        for (denied, command) in [("-scan", "SCAN"), ("-type", "TYPE"), ("-pttl", "PTTL")] {
            let (server, url) = with_user(flavor, &format!("+@all {denied}"));
            let error = shown(&fail(&url, &quick()), &server);
            assert_eq!(
                error,
                format!(
                    "error: <server 0> denies {command} to this user; an audit needs SCAN, TYPE, \
                     PTTL, and SELECT where there are several databases; better also INFO, DBSIZE, \
                     MEMORY USAGE, OBJECT\n\
                     help: allow the user these commands, or audit an exported RDB file"
                )
            );
        }
    }
}

#[test]
fn what_is_denied_and_not_needed_is_noted() {
    for flavor in Flavor::ALL {
        let (server, url) =
            with_user(flavor, "+@all -memory -object -config -strlen -client -ping");
        let (seen, told) = read_one(&url, &quick());
        assert_eq!(told.count, 10);
        assert!(told.keys.values().all(|told| told.observed.bytes.is_none()));
        let notes = plain(&seen.notes.join("\n"), &[&server]);
        insta::assert_snapshot!(format!("what_{flavor}_denies"), notes);
    }
}

#[test]
fn a_server_that_says_nothing_of_itself_is_read_all_the_same() {
    for flavor in Flavor::ALL {
        let (server, url) = with_user(flavor, "+scan +type +pttl");
        let (seen, told) = read_one(&url, &quick());
        assert_eq!(told.count, 10);
        let notes = plain(&seen.notes.join("\n"), &[&server]);
        insta::assert_snapshot!(format!("what_a_silent_{flavor}_leaves_open"), notes);
    }
}

#[test]
fn keys_that_the_user_may_not_see_are_missing_unless_the_audit_is_narrowed() {
    for flavor in Flavor::ALL {
        let server = flavor.server().user("audit", "on >secret ~key:1* +@all").start();
        fill(&server, 100);
        let url = format!("redis://audit:secret@{}", server.address());
        let (seen, told) = read_one(&url, &quick());
        let shard = &seen.shards[0].0;
        assert_eq!((told.count, shard.counts.denied), (11, 89));
        insta::allow_duplicates! {
            insta::assert_snapshot!(shard.missing.join("\n"), @"89 of 100 keys were not looked up, because the user has no permission to read them: allow `%R~*` (before Redis 7.0 `~*`), or narrow the audit with `--match`");
        }
        let mut options = quick();
        options.matching = Some("key:1*".to_owned());
        let (seen, told) = read_one(&url, &options);
        assert_eq!(told.count, 11);
        assert_eq!(seen.shards[0].0.missing, [""; 0]);
    }
}

#[test]
fn a_database_that_the_user_may_not_select_is_an_error_or_missing() {
    for flavor in Flavor::ALL {
        let server = flavor
            .server()
            .user("audit", "on >secret ~* +@all -select")
            .user("silent", "on >secret ~* +@all -select -info")
            .start();
        fill(&server, 10);
        let url = |user: &str| format!("redis://{user}:secret@{}", server.address());
        assert_eq!(read_one(&url("audit"), &quick()).0.shards[0].0.missing, [""; 0]);
        let missing = read_one(&url("silent"), &quick()).0.shards.remove(0).0.missing;
        insta::allow_duplicates! {
            insta::assert_snapshot!(missing.join("\n"), @"only database 0 was read, because the user has no permission to run SELECT: allow `+select`, or name the database with `--db`");
        }
        let mut other = server.connect();
        for command in [&["SELECT", "3"][..], &["SET", "elsewhere", "value"]] {
            other.command(command).expect("it has a database 3");
        }
        assert!(matches!(fail(&url("audit"), &quick()), Error::Denied { command: "SELECT", .. }));
    }
}

#[test]
fn a_command_that_was_renamed_away_is_named_or_noted() {
    let server = Flavor::Redis.server().rename_command("TYPE", "").start();
    insta::assert_snapshot!(shown(&fail(&server.url(), &quick()), &server), @r"
    error: <server 0> has no command TYPE; it may have been renamed
    help: audit a replica that has the command, or an exported RDB file
    ");
    let server = Flavor::Redis
        .server()
        .rename_command("MEMORY", "")
        .rename_command("OBJECT", "")
        .rename_command("CONFIG", "")
        .start();
    fill(&server, 10);
    let (seen, told) = read_one(&server.url(), &quick());
    assert_eq!(told.count, 10);
    insta::assert_snapshot!(seen.notes.join("\n"), @r"
    the lookups of this audit count as keyspace hits
    not known, because the server denies CONFIG GET: `save`
    bytes are not known, because the server does not have MEMORY USAGE
    encodings are not known, because the server does not have OBJECT ENCODING
    ");
}

#[test]
fn a_server_that_loads_its_data_is_waited_for_only_so_long() {
    let server = Flavor::Redis
        .server()
        .config("key-load-delay", "20000")
        .config("loading-process-events-interval-bytes", "1024")
        .start();
    let value = "x".repeat(4_000);
    for number in 0..100 {
        server.command(&["SET", &format!("key:{number}"), &format!("{value}{number}")]);
    }
    server.command(&["CONFIG", "SET", "rdbcompression", "no"]);
    server.save();
    thread::scope(|scope| {
        let restart = scope.spawn(|| server.restart());
        let mut options = quick();
        options.patience = Duration::ZERO;
        // Between the two processes, nobody listens.
        let error = loop {
            let error = fail(&server.url(), &options);
            if !error.to_string().contains("nothing listens")
                && !error.to_string().contains("closed the connection")
            {
                break error;
            }
        };
        insta::assert_snapshot!(shown(&error, &server), @r"
        error: <server 0> is loading its data, still after 0 s
        help: wait until it has loaded its data
        ");
        let patient = read_one(&server.url(), &quick()).1;
        assert_eq!(patient.count, 100);
        restart.join().expect("it restarts");
    });
}

#[test]
fn what_is_no_redis_server_is_told_apart() {
    let server = Server::redis();
    let proxy = Proxy::new(&server, Harm::Web);
    let error = fail(&proxy.url(), &quick());
    let error = format!("error: {error}\nhelp: {}", error.help());
    insta::assert_snapshot!(error.replace(&proxy.address(), "<proxy>"), @r"
    error: <proxy> does not answer like a Redis server: `HTTP/1.1 400 Bad Request\r\n\r\n`
    help: check that host and port are those of a Redis or Valkey server, and whether it wants TLS (`rediss://`)
    ");
}

#[test]
fn garbage_in_the_midst_of_replies_is_no_result() {
    let server = Server::redis();
    fill(&server, 5_000);
    for after in [1, 10_000, 50_000] {
        let proxy = Proxy::new(&server, Harm::Garble { after });
        let error = fail(&proxy.url(), &quick()).to_string();
        assert!(error.contains("does not answer like a Redis server"), "{error}");
        assert!(proxy.harmed() > 0);
    }
}

#[test]
fn tls_and_its_absence_are_told_apart() {
    let server = Flavor::Redis.server().tls().start();
    let to_plain = format!("rediss://{}", server.address());
    let to_tls = format!("redis://127.0.0.1:{}", server.tls_port());
    let untrusted = server.tls_url();
    let mut options = quick();
    // A server without TLS waits for the rest of what it takes for a command.
    options.timeout = Duration::from_millis(500);
    let shown: Vec<String> = [to_plain, to_tls, untrusted]
        .iter()
        .map(|url| fail(url, &options).to_string())
        .map(|error| plain(&error, &[&server]))
        .map(|error| error.replace(&server.tls_port().to_string(), "<tls>"))
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_server_of_another_kind_than_the_url_asks_for_is_named() {
    for server in Server::all() {
        for (scheme, path) in [("redis+sentinel", "/orders"), ("redis+cluster", "")] {
            let error = fail(&format!("{scheme}://{}{path}", server.address()), &quick());
            assert!(error.is_usage(), "{error}");
            let wanted = if path.is_empty() { "part of a cluster" } else { "a Sentinel" };
            let expected = format!(
                "error: <server 0> is not {wanted}\n\
                 help: for this server alone, write `redis://` before its address"
            );
            assert_eq!(shown(&error, &server).trim_end(), expected);
        }
    }
}
