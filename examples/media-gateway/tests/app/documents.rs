//! The commands that the documents show, run as they stand there.

use super::harness::{App, server};
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
    let mut stage = Stage::default();
    transcript::check_in("media-gateway", page, |command| stage.run(command))
}

/// What a page has started, and its variables.
#[derive(Default)]
struct Stage {
    server: Option<Server>,
    app: Option<App>,
    variables: Vec<(String, String)>,
}

impl Stage {
    fn run(&mut self, command: &str) -> String {
        if command.starts_with("redis-server") {
            self.server = Some(server(Flavor::Redis));
            return String::new();
        }
        let server = self.server.as_ref().expect("the page starts Redis first");
        if command.starts_with("cargo run") {
            self.app = Some(App::start(Some(server)));
            return String::new();
        }
        let app = self.app.as_ref().expect("the page starts the application next");
        let command = command
            .replace("localhost:3000", app.address())
            .replace("redis-cli ", &format!("redis-cli -p {} ", server.port()));
        // `name=$(…)`: a variable for the commands that follow.
        let assigned = command
            .split_once("=$(")
            .filter(|(name, _)| name.bytes().all(|it| it.is_ascii_lowercase()));
        let Some((name, _)) = assigned else { return self.shell(&command) };
        let value = self.shell(&format!("{command}; printf %s \"${name}\""));
        assert!(!value.is_empty(), "`{command}` sets nothing");
        self.variables.push((name.to_owned(), value));
        String::new()
    }

    fn shell(&self, command: &str) -> String {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("exec 2>&1; {command}")]).envs(self.variables.iter().cloned());
        String::from_utf8(shell.output().unwrap().stdout).unwrap()
    }
}
