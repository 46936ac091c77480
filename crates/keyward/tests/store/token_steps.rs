//! An exchange across slots is four scripts. Each holds by itself, whatever has happened between two of them.

use super::steps::{lives_for, run, script};
use keyward_testkit::{Reply, Server};

/// A server with a token `old` and what a script says of two keys.
struct Steps(Server);

impl Steps {
    fn on_all() -> impl Iterator<Item = Steps> {
        Server::all().map(|server| {
            server.command(&["HSET", "old", "user", "1"]);
            server.command(&["PEXPIRE", "old", "50000"]);
            Steps(server)
        })
    }

    fn run(&self, script: &str, keys: [&str; 2], args: &[&[u8]]) -> Reply {
        run(&self.0, script, keys, args)
    }

    fn ask(&self, words: &[&str]) -> Reply {
        self.0.command(words)
    }

    fn dump(&self, key: &str) -> Vec<u8> {
        match self.ask(&["DUMP", key]) {
            Reply::Bytes(bytes) => bytes,
            other => panic!("{key}: {other:?}"),
        }
    }

    /// Makes the successor `new` of a token.
    fn arrive(&self, before: &str, value: &[u8]) -> Reply {
        let script = script!(
            "session/now.lua",
            "lua/moment.lua",
            "session/stamp.lua",
            "session/run.lua",
            "token/arrive.lua"
        );
        let args = [before.as_bytes(), value, b"40000", b"used", b"unix_ms"];
        self.run(script, ["new", "new~"], &args)
    }

    fn leave(&self, value: &[u8]) -> i64 {
        let script = script!("session/now.lua", "token/leave.lua");
        self.run(script, ["old", "old~"], &[value, b"new", b"30000"]).integer()
    }

    fn settle(&self) -> i64 {
        self.run(script!("token/settle.lua"), ["new", "new~"], &[b"old"]).integer()
    }

    fn discard(&self, before: &str) -> i64 {
        let script = script!("token/discard.lua");
        self.run(script, ["new", "new~"], &[before.as_bytes()]).integer()
    }

    fn revoke(&self, keys: [&str; 2]) -> Reply {
        let script = script!("session/full.lua", "token/revoke.lua");
        self.run(script, keys, &[b"20000"])
    }

    fn is_there(&self, key: &str) -> bool {
        self.ask(&["EXISTS", key]).integer() == 1
    }
}

#[test]
fn a_successor_arrives_once_and_not_over_another() {
    for steps in Steps::on_all() {
        let value = steps.dump("old");
        assert_eq!(steps.arrive("old", &value).array().len(), 4, "user and used");
        lives_for(&steps.0, "new", 40_000);
        lives_for(&steps.0, "new~", 40_000);
        // Whoever ended in between asks again.
        assert_eq!(steps.arrive("old", &value).array().len(), 4);
        assert_eq!(steps.arrive("other", &value), Reply::Nil, "it is another's");
        assert_eq!(steps.settle(), 1);
        assert!(!steps.is_there("new~"));
        steps.ask(&["HSET", "new", "user", "2"]);
        assert_eq!(steps.arrive("old", &value), Reply::Nil, "it can be used already");
        assert_eq!(steps.ask(&["HGET", "new", "user"]).text(), "2");
        // What became of one stays when it is used.
        steps.ask(&["DEL", "new"]);
        steps.ask(&["HSET", "new~", "next", "newer", "used", "1"]);
        assert_eq!(steps.arrive("old", &value), Reply::Nil);
        assert!(!steps.is_there("new"));
    }
}

#[test]
fn a_token_ends_once_and_as_it_was_copied() {
    for steps in Steps::on_all() {
        let value = steps.dump("old");
        steps.ask(&["HSET", "old", "user", "2"]);
        assert_eq!(steps.leave(&value), 0, "it was changed");
        assert!(steps.is_there("old") && !steps.is_there("old~"));
        let value = steps.dump("old");
        steps.ask(&["HSET", "old~", "revoked", "1"]);
        assert_eq!(steps.leave(&value), 0, "something became of it");
        assert!(steps.is_there("old"));
        assert_eq!(steps.ask(&["HLEN", "old~"]).integer(), 1);
        steps.ask(&["DEL", "old~"]);
        assert_eq!(steps.leave(&value), 1);
        assert!(!steps.is_there("old"));
        assert_eq!(steps.ask(&["HGET", "old~", "next"]).text(), "new");
        lives_for(&steps.0, "old~", 30_000);
        steps.ask(&["DEL", "old~"]);
        assert_eq!(steps.leave(&value), 0, "it is gone");
        assert!(!steps.is_there("old~"));
    }
}

#[test]
fn what_was_revoked_meanwhile_cannot_be_used_and_does_not_arrive_again() {
    for steps in Steps::on_all() {
        let value = steps.dump("old");
        steps.arrive("old", &value);
        assert_eq!(steps.revoke(["new", "new~"]), Reply::Nil, "it has no successor");
        assert!(!steps.is_there("new"));
        lives_for(&steps.0, "new~", 20_000);
        assert_eq!(steps.settle(), 0);
        assert_eq!(steps.arrive("old", &value), Reply::Nil);
        assert!(!steps.is_there("new"));
        assert_eq!(steps.leave(&value), 1);
        assert_eq!(steps.revoke(["old", "old~"]).text(), "new");
    }
}

#[test]
fn only_its_own_successor_is_discarded() {
    for steps in Steps::on_all() {
        let value = steps.dump("old");
        steps.arrive("old", &value);
        assert_eq!(steps.discard("other"), 1);
        assert!(steps.is_there("new"));
        assert_eq!(steps.discard("old"), 1);
        assert!(!steps.is_there("new") && !steps.is_there("new~"));
        steps.arrive("old", &value);
        steps.settle();
        assert_eq!(steps.discard("old"), 1);
        assert!(steps.is_there("new"), "it can be used");
    }
}
