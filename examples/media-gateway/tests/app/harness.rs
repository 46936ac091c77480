//! The program, started as a person would, and asked as a player or a browser would.

use keyward::Uuid;
use keyward_testkit::{Answer, Flavor, Server};
use serde_json::{Value, json};
use std::process::{Command, ExitStatus};

/// The running application.
pub(crate) struct App(keyward_testkit::App);

/// A server as the schema wants it.
pub(crate) fn server(flavor: Flavor) -> Server {
    let server = flavor.server().memory("4gb", "noeviction").config("tcp-keepalive", "300");
    server
        .config("appendonly", "yes")
        .config("appendfsync", "everysec")
        .config("timeout", "0")
        .start()
}

impl App {
    /// Starts on a server, or with one of its own, and waits until it listens.
    pub(crate) fn start(server: Option<&Server>) -> Self {
        App(running(server))
    }

    /// Everything that it has logged.
    pub(crate) fn log(&self) -> String {
        self.0.log()
    }

    /// Somebody who is not signed in.
    pub(crate) fn nobody(&self) -> Client<'_> {
        Client { app: self, access: String::new(), refresh: String::new(), session: String::new() }
    }

    /// A user who has just signed in.
    pub(crate) fn of(&self, user: Uuid) -> Client<'_> {
        let state = self.nobody().begin_login();
        self.nobody().signed_in(&self.nobody().finish_login(&state, user).is(201))
    }

    /// Asks it to stop, as a service manager does, and waits until it has.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.0.stop()
    }
}

/// The application on a server, or with one of its own.
pub(crate) fn running(server: Option<&Server>) -> keyward_testkit::App {
    let mut command = Command::new(env!("CARGO_BIN_EXE_media-gateway"));
    command.args(server.map(Server::url));
    keyward_testkit::App::start(command)
}

/// A user's player or browser.
#[derive(Clone)]
pub(crate) struct Client<'a> {
    app: &'a App,
    access: String,
    pub(crate) refresh: String,
    pub(crate) session: String,
}

impl<'a> Client<'a> {
    /// The state of a login at a provider.
    pub(crate) fn begin_login(&self) -> String {
        let body = json!({ "provider": "example", "redirect_uri": "/home" });
        self.post("/login", body).is(201).json()["state"].as_str().unwrap().to_owned()
    }

    pub(crate) fn finish_login(&self, state: &str, user: Uuid) -> Answer {
        let device = Uuid::from_u128(user.as_u128() + 1);
        self.post("/login/callback", json!({ "state": state, "code": user, "device_id": device }))
    }

    /// The same client with the tokens of an answer.
    pub(crate) fn signed_in(&self, answer: &Answer) -> Client<'a> {
        let answer = answer.json();
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        let (access, refresh, session) =
            (text("access_token"), text("refresh_token"), text("session_id"));
        Client { app: self.app, access, refresh, session }
    }

    pub(crate) fn refresh(&self) -> Answer {
        self.app.nobody().post("/refresh", json!({ "refresh_token": self.refresh }))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None)
    }

    pub(crate) fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, Some(body))
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, Some(body))
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None)
    }

    #[track_caller]
    fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let bearer = format!("Bearer {}", self.access);
        self.app.0.send(method, path, &[("Authorization", &bearer)], body)
    }
}

/// The ids of a list of titles.
#[track_caller]
pub(crate) fn ids(answer: &Answer) -> Vec<String> {
    let titles = answer.json();
    let id = |title: &Value| title["id"].as_str().unwrap().to_owned();
    titles.as_array().unwrap().iter().map(id).collect()
}
