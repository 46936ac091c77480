//! Chromium's protocol for debuggers over two pipes: JSON that ends in a NUL, commands out, answers and events in.

use crate::PATIENCE;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// A running browser.
#[derive(Debug)]
pub(super) struct DevTools {
    child: Child,
    commands: RefCell<ChildStdin>,
    answers: Receiver<Value>,
    /// Events that nobody has asked for yet
    events: RefCell<Vec<Value>>,
    last: Cell<u64>,
}

impl DevTools {
    /// Starts one with a profile of its own.
    pub(super) fn start(profile: &Path) -> Self {
        // It reads from descriptor 3 and writes to 4. Nobody reads what it writes elsewhere.
        let mut command = Command::new("sh");
        command.args(["-c", "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"]);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update"]);
        command.args(["--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe"]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Chromium is installed");
        let commands = child.stdin.take().expect("it is piped");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let (send, answers) = channel();
        // It ends with the browser.
        thread::spawn(move || {
            let mut message = Vec::new();
            while out.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                let json = message.strip_suffix(&[0]).unwrap_or(&message);
                let Ok(json) = serde_json::from_slice(json) else { break };
                if send.send(json).is_err() {
                    break;
                }
                message.clear();
            }
            // What is written after nobody listens must not fill the pipe.
            let _ = out.read_to_end(&mut Vec::new());
        });
        let commands = RefCell::new(commands);
        DevTools { child, commands, answers, events: RefCell::default(), last: Cell::new(0) }
    }

    /// Sends a command, to a tab or to the browser itself, and waits for its answer.
    ///
    /// # Panics
    ///
    /// When the answer is an error, or there is none.
    #[track_caller]
    pub(super) fn command(&self, session: Option<&str>, method: &str, params: &Value) -> Value {
        let id = self.last.get() + 1;
        self.last.set(id);
        let mut command = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        let mut pipe = self.commands.borrow_mut();
        write!(pipe, "{command}\0").and_then(|()| pipe.flush()).expect("the browser is there");
        loop {
            let answer = self.answers.recv_timeout(PATIENCE);
            let answer = answer.unwrap_or_else(|error| panic!("{method} {params}: {error}"));
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method} {params}: {answer}");
                return answer["result"].clone();
            }
            if answer["method"].is_string() {
                self.events.borrow_mut().push(answer);
            }
        }
    }

    /// The events of a kind so far, each told once.
    pub(super) fn events(&self, session: &str, methods: &[&str]) -> Vec<Value> {
        let mut events = self.events.borrow_mut();
        events.extend(self.answers.try_iter().filter(|it| it["method"].is_string()));
        let asked = |event: &Value| {
            event["sessionId"] == session
                && event["method"].as_str().is_some_and(|it| methods.contains(&it))
        };
        let (asked, others) = events.drain(..).partition(asked);
        *events = others;
        asked
    }
}

impl Drop for DevTools {
    fn drop(&mut self) {
        // It fails only if the browser has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
