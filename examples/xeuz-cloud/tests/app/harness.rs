//! The program, started as a person would, and asked as a browser would.

use super::{ADA, BOB, EVE};
use keyward::Uuid;
use keyward_testkit::{Flavor, Server, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The running application. It is stopped when it is dropped.
pub(crate) struct App {
    child: Child,
    folder: TempDir,
    url: String,
    agent: ureq::Agent,
}

/// What it answers.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) text: String,
}

/// A Redis as the schema wants it: what was acknowledged is still there after a crash.
pub(crate) fn redis(flavor: Flavor) -> Server {
    let server = flavor.server().memory("2gb", "volatile-lru");
    server.config("appendonly", "yes").config("appendfsync", "always").start()
}

impl App {
    /// Starts with a SQLite of its own, and waits until it listens. It waits for Redis however busy
    /// the machine is.
    pub(crate) fn start(redis: &str) -> Self {
        Self::start_with(redis, &[("REDIS_TIMEOUT_MS", "30000")])
    }

    /// The same with these settings.
    pub(crate) fn start_with(redis: &str, settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_xeuz-cloud"));
        command.current_dir(folder.path()).env_clear().envs(settings.iter().copied());
        command.env("REDIS_URL", redis).env("LISTEN", "127.0.0.1:0");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let patience = Some(Duration::from_secs(60));
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(patience)
            .build()
            .into();
        let mut app = App { child, folder, url: String::new(), agent };
        wait_until("the application listens", || {
            let log = app.log();
            assert!(app.child.try_wait().unwrap().is_none(), "it ended:\n{log}");
            let line = log.lines().find_map(|line| line.split_once("listening on "));
            if let Some((_, url)) = line {
                url.trim().clone_into(&mut app.url);
            }
            line.is_some()
        });
        app
    }

    /// Ada, who came first and is the admin, Bob and Eve.
    pub(crate) fn with_people(self) -> Self {
        for (user, name) in [(ADA, "Ada"), (BOB, "Bob"), (EVE, "Eve")] {
            self.put(user, &format!("/users/{user}"), json!({ "name": name })).is(201);
        }
        self
    }

    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Everything that it has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    pub(crate) fn get(&self, user: Uuid, path: &str) -> Answer {
        let request = self.agent.get(format!("{}{path}", self.url));
        Answer::read(request.header("X-User", user.to_string()).call())
    }

    pub(crate) fn put(&self, user: Uuid, path: &str, body: Value) -> Answer {
        let request = self.agent.put(format!("{}{path}", self.url));
        Answer::read(request.header("X-User", user.to_string()).send_json(body))
    }

    pub(crate) fn post(&self, user: Uuid, path: &str) -> Answer {
        let request = self.agent.post(format!("{}{path}", self.url));
        Answer::read(request.header("X-User", user.to_string()).send_empty())
    }

    pub(crate) fn delete(&self, user: Uuid, path: &str) -> Answer {
        let request = self.agent.delete(format!("{}{path}", self.url));
        Answer::read(request.header("X-User", user.to_string()).call())
    }

    pub(crate) fn add_folder(&self, user: Uuid, folder: Uuid, parent: Uuid, name: &str) -> Answer {
        let body = json!({ "parent_id": parent, "name": name });
        self.put(user, &format!("/folders/{folder}"), body)
    }

    pub(crate) fn upload(
        &self,
        user: Uuid,
        file: Uuid,
        folder: Uuid,
        name: &str,
        size: u64,
    ) -> Answer {
        let body = json!({
            "folder_id": folder, "name": name, "size": size, "mime": "application/pdf",
        });
        self.put(user, &format!("/files/{file}"), body)
    }

    /// The names in a folder: its folders, then its files.
    pub(crate) fn names(&self, user: Uuid, folder: Uuid) -> Vec<String> {
        let listing = self.get(user, &format!("/folders/{folder}")).is(200).json();
        let entries = ["folders", "files"].map(|kind| listing[kind].as_array().unwrap().clone());
        entries.iter().flatten().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn permission(&self, user: Uuid, folder: Uuid) -> Option<String> {
        let answer = self.get(user, &format!("/folders/{folder}/permission"));
        match answer.status {
            404 => None,
            _ => Some(answer.is(200).json()["permission"].as_str().unwrap().to_owned()),
        }
    }

    pub(crate) fn used(&self, user: Uuid) -> i64 {
        self.get(user, "/quota").is(200).json()["used"].as_i64().unwrap()
    }

    pub(crate) fn breaker(&self) -> String {
        self.get(ADA, "/health").is(200).json()["breaker"].as_str().unwrap().to_owned()
    }

    /// Asks it to stop, as a service manager does, and waits until it has.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        let id = Pid::from_child(&self.child);
        kill_process(id, Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

impl Answer {
    #[track_caller]
    fn read(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Self {
        let mut answer = answer.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Answer { status, headers, text: answer.body_mut().read_to_string().unwrap() }
    }

    /// The same answer, if it has this status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the application's log:\n{}", self.log());
        }
        // It fails only where the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
