//! Who is told what happens.

use crate::instance::{Instance, Place, SCHEMA};
use keyward_audit::live::Secret;
use keyward_serve::{HookEvent, Webhook};
use keyward_testkit::{Flavor, Server, wait_until};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

/// Takes messages over HTTP, and answers with the given statuses in turn, the last one for ever.
#[derive(Clone)]
struct Receiver {
    address: String,
    taken: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Receiver {
    fn new(statuses: &'static [u16]) -> Self {
        Receiver::with(statuses, None)
    }

    /// The same over TLS, where a certificate is given.
    fn with(statuses: &'static [u16], tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let receiver = Receiver { address, taken: Arc::default() };
        let own = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let number = own.taken.lock().unwrap().len();
                let status = *statuses.get(number).or(statuses.last()).unwrap();
                // Who does not like the certificate breaks off.
                let _ = match &tls {
                    None => own.answer(stream, status),
                    Some(tls) => {
                        let connection = ServerConnection::new(tls.clone()).unwrap();
                        own.answer(StreamOwned::new(connection, stream), status)
                    }
                };
            }
        });
        receiver
    }

    fn answer(&self, stream: impl Read + Write, status: u16) -> io::Result<()> {
        let (mut reader, mut head) = (BufReader::new(stream), String::new());
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let length = head.lines().find_map(|it| {
            it.to_lowercase().strip_prefix("content-length: ").map(|it| it.parse().unwrap())
        });
        let mut body = vec![0; length.unwrap()];
        reader.read_exact(&mut body)?;
        let body = serde_json::from_slice(&body).unwrap();
        self.taken.lock().unwrap().push((head, body));
        let stream = reader.get_mut();
        write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        stream.flush()
    }

    fn taken(&self) -> Vec<(String, Value)> {
        self.taken.lock().unwrap().clone()
    }

    /// The messages of one kind.
    fn of(&self, event: &str) -> Vec<Value> {
        self.taken().into_iter().map(|it| it.1).filter(|it| it["event"] == event).collect()
    }

    fn hook(&self) -> Webhook {
        let url = format!("http://{}/a/secret/path", self.address);
        Webhook {
            token: Some(Secret::new("a-secret-token")),
            ..Webhook::new("test", Secret::new(url))
        }
    }
}

fn state(instance: &Instance) -> Value {
    instance.get("/api/v1/fleet").is(200).json()["webhooks"][0].clone()
}

#[test]
fn findings_and_servers_are_told_without_keys_or_secrets() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:4711", "[]"]);
    server.command(&["SET", "shop:crt:zebra", "typo"]);
    let receiver = Receiver::new(&[204]);
    let place = Place::new();
    let mut config = place.config(&server.url());
    config.webhooks.push(receiver.hook());
    let instance = Instance::start(config.clone());
    wait_until("findings were told", || !receiver.of("found").is_empty());
    let (head, found) = receiver.taken()[0].clone();
    assert!(head.starts_with("POST /a/secret/path HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("authorization: bearer a-secret-token"), "{head}");
    assert!(head.to_lowercase().contains("content-type: application/json"), "{head}");
    assert_eq!((&found["server"], &found["version"]), (&"main".into(), &1.into()));
    let mut rules: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["rule"].as_str().unwrap())
        .collect();
    rules.sort_unstable();
    assert_eq!(rules, ["ttl-missing", "unknown-key"], "{found:#}");
    let text = found["text"].as_str().unwrap();
    assert!(
        text.starts_with("main: 2 new findings: ") && text.contains("ttl-missing in cart"),
        "{text}"
    );
    let cart = found["findings"].as_array().unwrap().iter().find(|it| it["definition"] == "cart");
    assert_eq!(cart.unwrap()["contact"], "checkout@example.com");

    server.command(&["EXPIRE", "shop:cart:4711", "3600"]);
    wait_until("a repair was told", || !receiver.of("resolved").is_empty());
    let gone = receiver.of("resolved")[0].clone();
    assert_eq!(gone["findings"][0]["rule"], "ttl-missing", "{gone:#}");
    assert_eq!(gone["findings"].as_array().unwrap().len(), 1);
    assert_eq!(receiver.of("found").len(), 1, "what is known is not told again");

    // After a restart, what was known is not new.
    instance.stop();
    let instance = Instance::start(config);
    server.command(&["SET", "shop:rates", "not a hash"]);
    wait_until("only the new finding is told", || receiver.of("found").len() == 2);
    let again = receiver.of("found")[1].clone();
    assert_eq!(again["findings"].as_array().unwrap().len(), 1, "{again:#}");
    assert_eq!(again["findings"][0]["rule"], "wrong-type");

    wait_until("it is up", || instance.api("server")["health"]["state"] == "up");
    server.kill();
    wait_until("that it is away was told", || receiver.of("away").len() == 1);
    server.restart();
    wait_until("that it is back was told", || receiver.of("back").len() == 1);
    assert!(receiver.of("away")[0]["why"].is_string());
    assert!(receiver.of("back")[0]["seconds"].is_u64());
    let ids: std::collections::BTreeSet<String> =
        receiver.taken().iter().map(|it| it.1["id"].to_string()).collect();
    assert_eq!(ids.len(), receiver.taken().len(), "each message has an id of its own");

    let told = format!("{:?}", receiver.taken().into_iter().map(|it| it.1).collect::<Vec<_>>());
    for part in ["4711", "zebra", "crt", "secret"] {
        assert!(!told.contains(part), "{part}: {told}");
    }
    let shown = instance.get("/api/v1/fleet").text
        + &instance.get("/fleet").text
        + &instance.get("/metrics").text
        + &instance.said().join("\n");
    assert!(!shown.contains("a/secret") && !shown.contains("a-secret"), "{shown}");
    assert!(shown.contains("keyward_webhook_sent_total{webhook=\"test\"}"), "{shown}");
}

/// Only so many unknown patterns have a finding of their own; one that has none any more is still there.
#[test]
fn an_unknown_pattern_that_another_pushes_off_the_list_is_not_resolved() {
    let server = Server::redis();
    let name = |number: u32| char::from_u32('a' as u32 + number).unwrap().to_string().repeat(3);
    for pattern in 0..20 {
        // The more keys of a pattern, the earlier its finding; each has keys of its own form, so that none is a value.
        for key in 0..20 + pattern {
            server.command(&[
                "SET",
                &format!("shop:{}:{}:{key}", name(pattern), name(pattern)),
                "",
            ]);
        }
    }
    let receiver = Receiver::new(&[200]);
    let place = Place::new();
    let mut config = place.config(&server.url());
    config.webhooks.push(receiver.hook());
    let instance = Instance::start(config);
    wait_until("the first findings were told", || receiver.of("found").len() == 1);
    let count = |message: &Value| message["findings"].as_array().unwrap().len();
    assert_eq!(count(&receiver.of("found")[0]), 20);
    for key in 0..60 {
        server.command(&["SET", &format!("shop:zzz:zzz:{key}"), ""]);
    }
    wait_until("the new one was told", || receiver.of("found").len() == 2);
    // The smallest was pushed off the list, where it has no finding of its own, and is not told.
    assert_eq!(count(&receiver.of("found")[1]), 1, "{:#}", receiver.of("found")[1]);
    for key in 0..60 {
        server.command(&["DEL", &format!("shop:zzz:zzz:{key}")]);
    }
    wait_until("that the new one is gone was told", || !receiver.of("resolved").is_empty());
    let resolved = receiver.of("resolved");
    assert_eq!(resolved[0]["findings"][0]["count"], 60, "{resolved:#?}");
    instance.wait_for_audits(8);
    assert!(resolved.iter().all(|it| count(it) == 1), "{resolved:#?}");
    assert_eq!((receiver.of("resolved").len(), receiver.of("found").len()), (1, 2));
}

#[test]
fn a_setting_that_is_not_as_declared_is_named() {
    let server = Server::redis();
    let place = Place::new();
    let settings = "[server]\nmaxmemory-policy = \"volatile-lru\"\n\n[owners.checkout]";
    place.write_schema(&SCHEMA.replace("[owners.checkout]", settings));
    let receiver = Receiver::new(&[200]);
    let mut config = place.config(&server.url());
    config.webhooks.push(receiver.hook());
    let _instance = Instance::start(config);
    wait_until("it was told", || !receiver.of("found").is_empty());
    let found = receiver.of("found")[0].clone();
    assert_eq!(found["findings"][0]["setting"], "maxmemory-policy", "{found:#}");
    let text = found["text"].as_str().unwrap();
    assert!(text.contains("server-setting maxmemory-policy"), "{text}");
}

#[test]
fn a_message_that_is_not_taken_is_sent_again_with_the_same_id() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]"]);
    let receiver = Receiver::new(&[500, 429, 200]);
    let place = Place::new();
    let mut config = place.config(&server.url());
    config.webhooks.push(receiver.hook());
    let instance = Instance::start(config);
    wait_until("it was refused for now", || state(&instance)["error"].is_string());
    let notice = instance.get("/api/v1/servers").json()["notices"].to_string();
    assert!(
        notice.contains("the webhook `test` does not work: it answers with status"),
        "{notice}"
    );
    wait_until("it was taken", || state(&instance)["sent"] == 1);
    let ids: Vec<Value> =
        receiver.taken().into_iter().take(3).map(|it| it.1["id"].clone()).collect();
    assert!(ids.len() == 3 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(state(&instance)["error"], Value::Null);
    assert_eq!((&state(&instance)["failed"], &state(&instance)["waiting"]), (&0.into(), &0.into()));
}

#[test]
fn a_message_that_is_refused_is_given_up() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]"]);
    let receiver = Receiver::new(&[404]);
    let place = Place::new();
    let mut config = place.config(&server.url());
    config.webhooks.push(Webhook { events: vec![HookEvent::Found], ..receiver.hook() });
    let instance = Instance::start(config);
    wait_until("it was refused", || state(&instance)["failed"] == 1);
    assert_eq!(state(&instance)["error"], "it answers with status 404");
    assert_eq!(receiver.taken().len(), 1, "it is not sent again");
}

#[test]
fn a_webhook_that_is_away_delays_nothing() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]"]);
    let place = Place::new();
    let mut config = place.config(&server.url());
    config.webhooks.push(Webhook::new("nobody", Secret::new("http://127.0.0.1:1/hook")));
    let receiver = Receiver::new(&[200]);
    config.webhooks.push(receiver.hook());
    let instance = Instance::start(config);
    instance.wait_for_audits(2);
    wait_until("the other one is told", || !receiver.of("found").is_empty());
    wait_until("it is said", || {
        instance
            .said()
            .iter()
            .any(|it| it == "warning: the webhook `nobody` does not work: nothing listens there")
    });
    // It ends at once, although a message waits.
    instance.stop();
}

#[test]
fn a_webhook_is_trusted_by_its_certificate() {
    let server = Flavor::Redis.server().tls().start();
    server.command(&["SET", "shop:cart:1", "[]"]);
    let (certificate, key) = server.certificates().client();
    let certificate = CertificateDer::from_pem_file(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let tls = tls.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let tls = tls.with_single_cert(vec![certificate], key).unwrap();
    let receiver = Receiver::with(&[200], Some(Arc::new(tls)));
    let hook = |authority| {
        let url = Secret::new(format!("https://{}/hook", receiver.address));
        Webhook { authority, ..Webhook::new("test", url) }
    };
    let place = Place::new();
    let mut config = place.config(&server.url());
    config.webhooks = vec![hook(None)];
    let instance = Instance::start(config.clone());
    wait_until("who is not trusted gets nothing", || {
        state(&instance)["error"].as_str().is_some_and(|it| it.starts_with("TLS: "))
    });
    instance.stop();
    assert!(receiver.taken().is_empty());
    config.state = place.folder().join("another");
    config.webhooks = vec![hook(Some(server.certificates().authority()))];
    let instance = Instance::start(config);
    wait_until("it is told", || state(&instance)["sent"] == 1);
    assert_eq!(receiver.of("found").len(), 1);
}
