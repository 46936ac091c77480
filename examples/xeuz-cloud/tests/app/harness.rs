//! The program, started as a person would, and asked as a browser would.

use super::{ADA, BOB, EVE};
use keyward::Uuid;
use keyward_testkit::{Answer, Flavor, Server};
use serde_json::{Value, json};
use std::process::{Command, ExitStatus};

/// It waits for Redis however busy the machine is.
pub(crate) const PATIENT: [(&str, &str); 1] = [("REDIS_TIMEOUT_MS", "30000")];

/// The running application.
pub(crate) struct App(keyward_testkit::App);

/// A Redis as the schema wants it: what was acknowledged is still there after a crash.
pub(crate) fn redis(flavor: Flavor) -> Server {
    let server = flavor.server().memory("2gb", "volatile-lru");
    server.config("appendonly", "yes").config("appendfsync", "always").start()
}

impl App {
    /// Starts with a SQLite of its own, and waits until it listens.
    pub(crate) fn start(redis: &str) -> Self {
        Self::start_with(redis, &PATIENT)
    }

    /// The same with these settings.
    pub(crate) fn start_with(redis: &str, settings: &[(&str, &str)]) -> Self {
        App(running(redis, settings))
    }

    /// Ada, who came first and is the admin, Bob and Eve.
    pub(crate) fn with_people(self) -> Self {
        for (user, name) in [(ADA, "Ada"), (BOB, "Bob"), (EVE, "Eve")] {
            self.put(user, &format!("/users/{user}"), json!({ "name": name })).is(201);
        }
        self
    }

    /// Everything that it has logged.
    pub(crate) fn log(&self) -> String {
        self.0.log()
    }

    pub(crate) fn get(&self, user: Uuid, path: &str) -> Answer {
        self.send("GET", user, path, None)
    }

    pub(crate) fn get_as_nobody(&self, path: &str) -> Answer {
        self.0.send("GET", path, &[], None)
    }

    pub(crate) fn put(&self, user: Uuid, path: &str, body: Value) -> Answer {
        self.send("PUT", user, path, Some(body))
    }

    pub(crate) fn post(&self, user: Uuid, path: &str) -> Answer {
        self.send("POST", user, path, None)
    }

    pub(crate) fn delete(&self, user: Uuid, path: &str) -> Answer {
        self.send("DELETE", user, path, None)
    }

    #[track_caller]
    fn send(&self, method: &str, user: Uuid, path: &str, body: Option<Value>) -> Answer {
        self.0.send(method, path, &[("X-User", &user.to_string())], body)
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
        self.0.stop()
    }
}

/// The application on a Redis, with these settings.
pub(crate) fn running(redis: &str, settings: &[(&str, &str)]) -> keyward_testkit::App {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xeuz-cloud"));
    command.env_clear().envs(settings.iter().copied()).env("REDIS_URL", redis);
    keyward_testkit::App::start(command)
}
