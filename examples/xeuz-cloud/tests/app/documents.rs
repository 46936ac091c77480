//! The commands that the documents show, run as they stand there.

use super::harness::{App, redis};
use keyward_testkit::{Flavor, Server, book, transcript};
use std::path::Path;
use std::process::Command;

#[test]
fn commands_about_the_application_print_what_is_shown() {
    let (ran, failed): (Vec<_>, Vec<_>) =
        book::pages().iter().map(|page| check(page)).partition(Result::is_ok);
    let failures: Vec<_> = failed.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(ran.into_iter().flatten().sum::<usize>() > 0, "no command was found in any document");
}

fn check(page: &Path) -> Result<usize, String> {
    let mut stage = Stage { redis: None, app: None };
    transcript::check_in("xeuz-cloud", page, |command| stage.run(command))
}

/// What a page has started.
struct Stage {
    redis: Option<Server>,
    app: Option<App>,
}

impl Stage {
    fn run(&mut self, command: &str) -> String {
        if command.starts_with("redis-server") {
            match &self.redis {
                Some(redis) => redis.restart(),
                None => self.redis = Some(redis(Flavor::Redis)),
            }
            return String::new();
        }
        let redis = self.redis.as_ref().expect("the page starts Redis first");
        if command.starts_with("cargo run") {
            self.app = Some(App::start(&redis.url()));
            return String::new();
        }
        let app = self.app.as_ref().expect("the page starts the application next");
        let command = command
            .replace("localhost:3000", app.address())
            .replace("redis-cli ", &format!("redis-cli -p {} ", redis.port()));
        let mut shell = Command::new("/bin/sh");
        let output = shell.args(["-c", &format!("exec 2>&1; {command}")]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}
