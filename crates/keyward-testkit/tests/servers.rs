//! Every kind of server starts on both flavors, answers, and is gone after drop.

use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

use keyward_testkit::{Connection, Flavor, Reply, Server, wait_until};

#[test]
fn a_server_answers_and_is_gone_after_drop() {
    for server in Server::all() {
        assert_eq!(server.command(&["SET", "a", "b"]), Reply::Status("OK".into()));
        assert_eq!(server.command(&["GET", "a"]).text(), "b");
        assert_eq!(server.command(&["GET", "nothing"]), Reply::Nil);
        assert_eq!(server.command(&["RPUSH", "list", "x", "y"]).integer(), 2);
        assert_eq!(server.command(&["LRANGE", "list", "0", "-1"]).array().len(), 2);

        let (address, process) = (server.address(), process_folder(&server));
        let folder = server.folder().to_owned();
        assert!(TcpStream::connect(&address).is_ok() && process.exists() && folder.exists());
        drop(server);
        assert!(TcpStream::connect(&address).is_err());
        assert!(!process.exists());
        assert!(!folder.exists());
    }
}

#[test]
fn a_server_is_gone_when_the_test_panics() {
    let mut process = None;
    let result = catch_unwind(AssertUnwindSafe(|| {
        let server = Server::redis();
        process = Some(process_folder(&server));
        panic!("on purpose");
    }));
    assert!(result.is_err());
    assert!(!process.expect("the server has started").exists());
}

#[test]
fn the_flavors_are_what_they_say() {
    let version = |server: &Server| server.command(&["INFO", "server"]).text();
    assert!(version(&Server::redis()).contains("redis_version:7."));
    assert!(version(&Server::valkey()).contains("valkey_version:9."));
}

#[test]
fn many_servers_at_once_do_not_meet() {
    let servers: Vec<_> = (0..8).flat_map(|_| Server::all()).collect();
    for (index, server) in servers.iter().enumerate() {
        server.command(&["SET", "index", &index.to_string()]);
    }
    for (index, server) in servers.iter().enumerate() {
        let mut by_port = Connection::tcp(&server.address()).expect("the port is open");
        let reply = by_port.command(&["GET", "index"]).expect("the server answers");
        assert_eq!(reply.text(), index.to_string());
    }
}

#[test]
fn replies_of_a_pipeline_come_in_order() {
    for server in Server::all() {
        let commands: Vec<_> = (0..5_000).map(|n| vec!["ECHO".to_owned(), n.to_string()]).collect();
        let replies = server.connect().pipeline(&commands).expect("the server answers");
        let expected: Vec<_> =
            (0..5_000).map(|n: i32| Reply::Bytes(n.to_string().into_bytes())).collect();
        assert_eq!(replies, expected);
    }
}

#[test]
fn a_password_is_asked_for_and_given() {
    for flavor in Flavor::ALL {
        let server = flavor.server().password("secret").start();
        assert_eq!(server.command(&["PING"]).text(), "PONG");
        let mut stranger = Connection::tcp(&server.address()).expect("the port is open");
        assert!(refusal(stranger.command(&["PING"])).starts_with("NOAUTH"));
        assert_eq!(server.url(), format!("redis://:secret@{}", server.address()));
    }
}

#[test]
fn an_acl_user_may_do_what_its_rules_say() {
    for flavor in Flavor::ALL {
        let server = flavor.server().user("audit", "on >secret ~* +@read +auth").start();
        let mut connection = server.connect();
        connection.command(&["AUTH", "audit", "secret"]).expect("the server answers");
        assert_eq!(connection.command(&["GET", "a"]).expect("the server answers"), Reply::Nil);
        assert!(refusal(connection.command(&["SET", "a", "b"])).starts_with("NOPERM"));
    }
}

#[test]
fn commands_can_be_renamed_and_taken_away() {
    for flavor in Flavor::ALL {
        let server =
            flavor.server().rename_command("CONFIG", "").rename_command("KEYS", "ALLKEYS").start();
        assert!(refusal(server.try_command(&["CONFIG", "GET", "*"])).contains("unknown command"));
        assert!(refusal(server.try_command(&["KEYS", "*"])).contains("unknown command"));
        assert!(server.command(&["ALLKEYS", "*"]).array().is_empty());
    }
}

#[test]
fn memory_and_other_settings_are_taken() {
    for flavor in Flavor::ALL {
        let server = flavor.server().memory("3mb", "allkeys-lfu").config("databases", "3").start();
        let setting = |name| server.command(&["CONFIG", "GET", name]).array().remove(1).text();
        assert_eq!(setting("maxmemory"), "3145728");
        assert_eq!(setting("maxmemory-policy"), "allkeys-lfu");
        assert_eq!(setting("databases"), "3");
    }
}

#[test]
fn a_wrong_setting_panics_with_the_servers_own_words() {
    for flavor in Flavor::ALL {
        let result = catch_unwind(|| flavor.server().config("no-such-setting", "1").start());
        let message = *result.expect_err("it starts").downcast::<String>().expect("a message");
        assert!(message.contains("no-such-setting"), "{message}");
    }
}

#[test]
fn a_tls_server_answers_those_who_trust_its_authority() {
    for flavor in Flavor::with_tls() {
        let server = flavor.server().tls().start();
        let ping = |authority: &Path| {
            Command::new("redis-cli")
                .args(["-h", "127.0.0.1", "-p", &server.tls_port().to_string(), "--tls"])
                .arg("--cacert")
                .args([authority.as_os_str(), "PING".as_ref()])
                .output()
                .expect("`redis-cli` is on the PATH")
        };
        assert_eq!(ping(&server.certificates().authority()).stdout, b"PONG\n");

        let other = flavor.server().tls().start();
        assert_ne!(ping(&other.certificates().authority()).stdout, b"PONG\n");
    }
}

#[test]
fn a_server_that_wants_a_clients_certificate_accepts_ours() {
    for flavor in Flavor::with_tls() {
        let server = flavor.server().tls().config("tls-auth-clients", "yes").start();
        let (certificate, key) = server.certificates().client();
        let output = Command::new("redis-cli")
            .args(["-h", "127.0.0.1", "-p", &server.tls_port().to_string(), "--tls", "--cacert"])
            .arg(server.certificates().authority())
            .arg("--cert")
            .arg(certificate)
            .arg("--key")
            .arg(key)
            .arg("PING")
            .output()
            .expect("`redis-cli` is on the PATH");
        assert_eq!(output.stdout, b"PONG\n");
    }
}

#[test]
fn redis_has_tls_and_whether_valkey_has_is_found_out() {
    assert!(Flavor::Redis.has_tls());
    let _found_out = Flavor::Valkey.has_tls();
}

#[test]
fn a_killed_server_comes_back_on_the_same_port() {
    for flavor in Flavor::ALL {
        let server = flavor.server().config("appendonly", "yes").start();
        server.command(&["SET", "a", "b"]);
        server.kill();
        assert!(!server.is_running());
        assert!(server.try_command(&["PING"]).is_err());
        server.restart();
        let mut by_port = Connection::tcp(&server.address()).expect("the port is open");
        assert_eq!(by_port.command(&["GET", "a"]).expect("the server answers").text(), "b");
    }
}

#[test]
fn a_paused_server_answers_again_after_it_is_resumed() {
    for server in Server::all() {
        server.pause();
        assert!(!server.is_running());
        assert_eq!(state(&server), Some('T'));
        server.resume();
        assert_eq!(server.command(&["PING"]).text(), "PONG");

        server.pause();
        let process = process_folder(&server);
        drop(server);
        assert!(!process.exists());
    }
}

#[test]
fn a_replica_follows_its_primary() {
    for flavor in Flavor::ALL {
        let primary = flavor.server().password("secret").start();
        let replica = flavor.server().replica_of(&primary).start();
        wait_until("the replica is in sync", || replica.is_in_sync());
        assert!(primary.is_primary() && !replica.is_primary());
        primary.command(&["SET", "a", "b"]);
        primary.wait_until_replicated(&replica);
        assert_ne!(replica.command(&["GET", "a"]), Reply::Nil);
    }
}

#[test]
fn a_snapshot_is_a_file() {
    for (server, magic) in Server::all().zip(["REDIS", "VALKEY"]) {
        server.command(&["SET", "a", "b"]);
        let dump = std::fs::read(server.save()).expect("the snapshot is readable");
        assert!(dump.starts_with(magic.as_bytes()), "{:?}", &dump[..9]);
    }
}

fn refusal(reply: std::io::Result<Reply>) -> String {
    match reply.expect("the server answers") {
        Reply::Error(message) => message,
        other => panic!("expected an error, the server answered {other:?}"),
    }
}

fn process_folder(server: &Server) -> std::path::PathBuf {
    Path::new("/proc").join(server.id().to_string())
}

/// `T` is stopped.
fn state(server: &Server) -> Option<char> {
    let stat = std::fs::read_to_string(process_folder(server).join("stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}
