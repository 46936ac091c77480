//! The program, started as a person would, and asked as a player or a browser would.

use keyward::Uuid;
use keyward_testkit::{Flavor, Server, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The running application and its server. Both are stopped when it is dropped.
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
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_media-gateway"));
        command.args(server.map(Server::url)).env("LISTEN", "127.0.0.1:0").env_remove("RUST_LOG");
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

    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Everything that it has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
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
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
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
        let request = self.app.agent.get(format!("{}{path}", self.app.url));
        Answer::read(request.header("Authorization", self.bearer()).call())
    }

    pub(crate) fn put(&self, path: &str, body: Value) -> Answer {
        let request = self.app.agent.put(format!("{}{path}", self.app.url));
        Answer::read(request.header("Authorization", self.bearer()).send_json(body))
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        let request = self.app.agent.post(format!("{}{path}", self.app.url));
        Answer::read(request.header("Authorization", self.bearer()).send_json(body))
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        let request = self.app.agent.delete(format!("{}{path}", self.app.url));
        Answer::read(request.header("Authorization", self.bearer()).call())
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.access)
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
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
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
        // It fails only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The ids of a list of titles.
#[track_caller]
pub(crate) fn ids(answer: &Answer) -> Vec<String> {
    let titles = answer.json();
    let id = |title: &Value| title["id"].as_str().unwrap().to_owned();
    titles.as_array().unwrap().iter().map(id).collect()
}
