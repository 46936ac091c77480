//! The commands that the documentation shows of an application, run as they stand there.
//!
//! On a page, `redis-server …` starts a server, or the same server again, and `cargo run …` the application on it. After
//! that, `localhost:3000` is where the application listens, `redis-cli` asks that server, and `name=$(…)` sets a variable
//! for the commands that follow.

use crate::{App, Server, book, transcript};
use std::process::Command;

/// Runs all blocks of all pages that stand after `<!-- in: place -->`.
///
/// # Panics
/// If a command prints something else than is shown, or if there is none.
pub fn check(place: &str, server: impl Fn() -> Server, app: impl Fn(&Server) -> App) {
    let mut failures = Vec::new();
    let mut ran = 0;
    for page in book::pages() {
        let mut stage =
            Stage { start: (&server, &app), server: None, app: None, variables: vec![] };
        match transcript::check_in(place, &page, |command| stage.run(command)) {
            Ok(commands) => ran += commands,
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(ran > 0, "no command was found in any document");
}

/// What a page has started, and its variables.
struct Stage<'a, S, A> {
    start: (&'a S, &'a A),
    server: Option<Server>,
    app: Option<App>,
    variables: Vec<(String, String)>,
}

impl<S: Fn() -> Server, A: Fn(&Server) -> App> Stage<'_, S, A> {
    fn run(&mut self, command: &str) -> String {
        if command.starts_with("redis-server") {
            match &self.server {
                Some(server) => server.restart(),
                None => self.server = Some(self.start.0()),
            }
            return String::new();
        }
        let server = self.server.as_ref().expect("the page starts Redis first");
        if command.starts_with("cargo run") {
            self.app = Some(self.start.1(server));
            return String::new();
        }
        let app = self.app.as_ref().expect("the page starts the application next");
        let command = command
            .replace("localhost:3000", app.address())
            .replace("redis-cli ", &format!("redis-cli -p {} ", server.port()));
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
