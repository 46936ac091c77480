//! What real servers say of their keys, against what is read from their snapshots.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use keyward_rdb::wire::Payload;
use keyward_rdb::{Checksum, Extra, Key, Reader, Value, Visitor};
use keyward_testkit::{Cluster, Flavor, Reply, Server, wait_until};

mod fill;

#[derive(Default)]
struct Facts {
    keys: BTreeMap<Vec<u8>, Fact>,
    slots: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Fact {
    key_type: String,
    encoding: String,
    length: u64,
    expires_at: Option<u64>,
    expiring_fields: u64,
}

impl Visitor for Facts {
    fn value(&mut self, key: &Key<'_>, value: &Value) {
        let fact = Fact {
            key_type: key.key_type.to_string(),
            encoding: value.encoding.to_string(),
            length: value.length,
            expires_at: key.expires_at,
            expiring_fields: value.field_ttls.map_or(0, |ttls| ttls.count),
        };
        assert_eq!(self.keys.insert(key.name.to_vec(), fact), None);
    }

    fn extra(&mut self, extra: &Extra<'_>) {
        if let Extra::Aux { name, .. } = extra {
            self.slots += u64::from(name.bytes == b"slot-info");
        }
        self.slots += u64::from(matches!(extra, Extra::Slot { .. }));
    }
}

/// What the server says of one key.
fn ask(server: &Server, name: &[u8]) -> Fact {
    let mut connection = server.connect();
    let mut ask = |words: &[&[u8]]| connection.command(words).unwrap();
    let key_type = ask(&[b"TYPE", name]).text();
    let command: &[u8] = match key_type.as_str() {
        "string" => b"STRLEN",
        "hash" => b"HLEN",
        "list" => b"LLEN",
        "set" => b"SCARD",
        "zset" => b"ZCARD",
        _ => b"XLEN",
    };
    let length = u64::try_from(ask(&[command, name]).integer()).unwrap();
    let encoding = ask(&[b"OBJECT", b"ENCODING", name]).text();
    let expires_at = u64::try_from(ask(&[b"PEXPIRETIME", name]).integer()).ok();
    let mut expiring_fields = 0;
    if server.flavor() == Flavor::Valkey && key_type == "hash" {
        for field in ask(&[b"HKEYS", name]).array() {
            let Reply::Bytes(field) = field else { panic!("a field's name is a string") };
            let answer = ask(&[b"HPEXPIRETIME", name, b"FIELDS", b"1", &field]);
            expiring_fields += u64::from(answer.array()[0].clone().integer() > 0);
        }
    }
    Fact { key_type, encoding, length, expires_at, expiring_fields }
}

#[test]
fn every_key_is_what_the_server_says() {
    for flavor in Flavor::ALL {
        let server = flavor.start();
        fill::fill(&mut server.connect());
        server.command(&["PEXPIREAT", &first_key(&server, "short*"), "4102444800123"]);
        if flavor == Flavor::Valkey {
            let hash = first_key(&server, "hash_small*");
            server.command(&["HSET", &hash, "mortal", "1", "immortal", "2"]);
            server.command(&["HPEXPIREAT", &hash, "4102444800999", "FIELDS", "1", "mortal"]);
        }
        // Shrunken collections and appended strings are kept otherwise once they were loaded.
        server.command(&["DEBUG", "RELOAD"]);
        let mut facts = Facts::default();
        let summary = Reader::open(server.save()).unwrap().read(&mut facts).unwrap();
        assert_eq!(summary.checksum, Checksum::Verified);
        assert_eq!(summary.keys, u64::try_from(server.command(&["DBSIZE"]).integer()).unwrap());
        assert_eq!(summary.expiring, 1);
        for (name, fact) in &facts.keys {
            let said = ask(&server, name);
            assert_eq!(*fact, said, "{flavor}: {}", name.escape_ascii());
        }
    }
}

fn first_key(server: &Server, glob: &str) -> String {
    server.command(&["KEYS", glob]).array().remove(0).text()
}

#[test]
fn a_snapshot_is_read_as_a_primary_sends_it() {
    for (flavor, marked) in
        Flavor::ALL.into_iter().flat_map(|flavor| [(flavor, true), (flavor, false)])
    {
        let server = flavor.start();
        for number in 0..1000 {
            server.command(&["SET", &format!("key:{number}"), &"value ".repeat(number % 50)]);
        }
        let stream = UnixStream::connect(server.socket()).unwrap();
        let mut reader = BufReader::new(stream);
        if marked {
            // Whoever does not know marks is sent a length.
            reader.get_mut().write_all(b"REPLCONF capa eof\r\n").unwrap();
            let mut ok = String::new();
            reader.read_line(&mut ok).unwrap();
            assert_eq!(ok, "+OK\r\n");
        }
        reader.get_mut().write_all(b"SYNC\r\n").unwrap();
        let payload = Payload::new(reader).unwrap();
        assert_eq!(payload.length().is_none(), marked, "{flavor}");
        let summary = Reader::from_read(payload).unwrap().read(&mut ()).unwrap();
        assert_eq!(summary.keys, 1000);
        assert_eq!(summary.trailing, Some(0), "{flavor}");
    }
}

#[test]
fn a_cluster_says_what_its_slots_hold() {
    let cluster = Cluster::start(Flavor::Valkey);
    for number in 0..50 {
        cluster.command(&["SET", &format!("key:{number}"), "v"]);
    }
    let primary = cluster.primary_of("key:1");
    wait_until("the snapshot is written", || {
        matches!(primary.try_command(&["SAVE"]), Ok(Reply::Status(_)))
    });
    let mut facts = Facts::default();
    let summary =
        Reader::open(primary.folder().join("dump.rdb")).unwrap().read(&mut facts).unwrap();
    assert!(summary.keys > 0);
    assert!(facts.slots > 0, "no slot is described");
}
