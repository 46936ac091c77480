//! The throw-away server for an application's tests.

use keyward::testing::Server;
use keyward::{Clock, Store};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

keyward::keyspace!("doc/keyward.toml");
use shop::{keys, values};

// ANCHOR: test
#[tokio::test]
async fn a_stock_that_was_written_is_read() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::start()?;
    let clock = Clock::manual(); // for what is timed in this process
    let store = Store::builder(server.url()).clock(clock.clone()).connect().await?;
    let sku = values::Sku::new("AB-1234")?;
    let stock = store.at(keys::Stock { sku, warehouse: values::Warehouse::new("berlin")? });
    stock.set(&7).await?;
    clock.advance(Duration::from_secs(3600));
    assert_eq!(stock.get().await?, Some(7));
    Ok(())
}
// ANCHOR_END: test

#[test]
fn servers_are_apart_and_gone_when_they_are_dropped() {
    let (one, other) = (Server::start().unwrap(), Server::start().unwrap());
    assert_ne!(one.url(), other.url());
    assert_ne!(one.folder(), other.folder());
    let address = one.url().trim_start_matches("redis://").to_owned();
    let folder = one.folder().to_owned();
    assert!(TcpStream::connect(&address).is_ok() && folder.exists());
    drop(one);
    assert!(TcpStream::connect(&address).is_err() && !folder.exists());
}

#[test]
fn a_server_starts_with_the_settings_that_it_is_given() {
    let settings =
        [("maxmemory", "100mb"), ("maxmemory-policy", "volatile-lru"), ("appendonly", "yes")];
    let server = Server::start_with(&settings).unwrap();
    let address = server.url().trim_start_matches("redis://").to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"CONFIG GET maxmemory*\r\nCONFIG GET appendonly\r\nQUIT\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    for setting in ["104857600", "volatile-lru", "yes"] {
        assert!(answer.lines().any(|line| line == setting), "{setting} is not in {answer}");
    }
    let unknown = Server::start_with(&[("no-such-setting", "1")]).unwrap_err().to_string();
    assert!(unknown.contains("no-such-setting"), "{unknown}");
}

/// Run by the test below in a process of its own, since it needs another environment.
#[test]
#[ignore = "run with another environment"]
fn says_why_it_does_not_start() {
    println!("{}", Server::start().unwrap_err());
}

#[test]
fn a_server_that_is_missing_or_fails_is_explained() {
    let said = |program: &str| {
        let mut run = Command::new(std::env::current_exe().unwrap());
        run.args(["says_why_it_does_not_start", "--exact", "--ignored", "--nocapture"]);
        let output = run.env("KEYWARD_TEST_SERVER", program).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let missing = said("/nowhere/redis-server");
    assert!(missing.contains("install Redis"), "{missing}");
    let fails = said("false");
    assert!(fails.contains("the server did not start"), "{fails}");
}
