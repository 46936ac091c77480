//! An application, started as a person would, and asked over HTTP.

use crate::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use ureq::http::{HeaderMap, Request, Response};

/// A running application. It is stopped when it is dropped, and a test that panics prints its log.
#[derive(Debug)]
pub struct App {
    child: Child,
    folder: TempDir,
    url: String,
    agent: ureq::Agent,
}

/// What it answers.
#[derive(Debug)]
pub struct Answer {
    /// The status
    pub status: u16,
    /// The headers
    pub headers: HeaderMap,
    /// The body
    pub text: String,
}

impl App {
    /// Starts it in a temporary folder, on a free port, and waits until it logs `listening on http://…` to standard
    /// error. It has to listen on what the variable `LISTEN` says.
    #[track_caller]
    pub fn start(mut command: Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join(LOG)).unwrap();
        command.current_dir(folder.path()).env("LISTEN", "127.0.0.1:0").env_remove("RUST_LOG");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(60)));
        let mut app = App { child, folder, url: String::new(), agent: config.build().into() };
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

    /// Where it listens: `127.0.0.1:…`.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Everything that it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join(LOG)).unwrap()
    }

    /// Sends a request, with a body that is JSON or none.
    #[track_caller]
    #[allow(clippy::needless_pass_by_value, reason = "callers write `json!({ … })`")]
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let Some(body) = body else {
            return Answer::read(self.agent.run(request.body(()).unwrap()));
        };
        let request = request.header("Content-Type", "application/json");
        Answer::read(self.agent.run(request.body(body.to_string()).unwrap()))
    }

    /// Asks it to stop, as a service manager does, and waits until it has.
    pub fn stop(&mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

const LOG: &str = "log";

impl Answer {
    #[track_caller]
    fn read(answer: Result<Response<ureq::Body>, ureq::Error>) -> Self {
        let mut answer = answer.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Answer { status, headers, text: answer.body_mut().read_to_string().unwrap() }
    }

    /// The same answer, if it has this status.
    #[track_caller]
    #[allow(clippy::return_self_not_must_use, reason = "it is called for what it asserts")]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    /// A header that is text.
    pub fn header(&self, name: &str) -> Option<&str> {
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
