//! An instance in this process, and a client that says exactly what it is told to.

use keyward_audit::live::{Options, Secret};
use keyward_serve::{Config, Retention, Source, serve};
use keyward_testkit::wait_until;
use serde_json::Value;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const SCHEMA: &str = r#"
version = 1

[keyspace]
name = "shop"
prefix = "shop:"

[owners.checkout]
contact = "checkout@example.com"

[[checklist]]
text = "Every cart expires"
rules = ["ttl-missing"]

[[checklist]]
text = "Names mean something"
level = "should"

[keys.cart]
pattern = "cart:{user_id:uint}"
type = "string"
ttl = "7d"
owner = "checkout"
group = "sales"
doc = "What a customer is about to buy"

[keys.rates]
pattern = "rates"
type = "hash"
ttl = "none"
lifecycle = "retained"

[groups.sales]
"#;

/// A folder with a schema and a state, which outlives instances.
pub(crate) struct Place {
    folder: PathBuf,
    _own: Option<TempDir>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let own = tempfile::tempdir().unwrap();
        let place = Place { folder: own.path().to_owned(), _own: Some(own) };
        place.write_schema(SCHEMA);
        place
    }

    /// The place of another process.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Place { folder, _own: None }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn write_schema(&self, text: &str) {
        std::fs::write(self.schema(), text).unwrap();
    }

    pub(crate) fn schema(&self) -> PathBuf {
        self.folder.join("keyward.toml")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// A configuration for one server, which is asked often.
    pub(crate) fn config(&self, url: &str) -> Config {
        let options = Options::default();
        let mut source = Source::new("main".into(), url.to_owned(), vec![self.schema()], options);
        source.poll = Duration::from_millis(50);
        source.every = Duration::from_millis(200);
        Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            token: None,
            state: self.state(),
            retention: Retention::default(),
            servers: vec![source],
            webhooks: Vec::new(),
        }
    }

    pub(crate) fn start(&self, url: &str) -> Instance {
        Instance::start(self.config(url))
    }
}

/// An instance that runs until it is dropped.
pub(crate) struct Instance {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), keyward_serve::Error>>>,
    said: Arc<Mutex<Vec<String>>>,
    state: PathBuf,
    pub(crate) address: String,
}

/// What it answers.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }
}

impl Instance {
    #[track_caller]
    pub(crate) fn start(config: Config) -> Self {
        let (stop, said) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (flag, lines, state) = (stop.clone(), said.clone(), config.state.clone());
        let thread = std::thread::spawn(move || {
            serve(&config, &flag, move |line| lines.lock().unwrap().push(line.to_owned()))
        });
        let (thread, address) = (Some(thread), String::new());
        let mut instance = Instance { stop, thread, said, state, address };
        wait_until("it listens", || {
            let lines = instance.said();
            let line = lines.iter().find_map(|line| line.strip_prefix("listening on http://"));
            line.unwrap_or_default().clone_into(&mut instance.address);
            let ended = instance.thread.as_ref().is_some_and(JoinHandle::is_finished);
            assert!(line.is_some() || !ended, "it ended: {lines:?}");
            line.is_some()
        });
        instance
    }

    /// Everything that it said to whoever runs it.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    pub(crate) fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
            // What it does not wait for ends with the program, or here a little later.
            wait_until("the folder is free", || {
                let lock = File::open(self.state.join("lock"));
                lock.is_err() || lock.is_ok_and(|lock| lock.try_lock().is_ok())
            });
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    /// What the API says about the server.
    #[track_caller]
    pub(crate) fn api(&self, path: &str) -> Value {
        self.get(&format!("/api/v1/servers/main/{path}")).is(200).json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("Content-Type", "application/json")], &body.to_string())
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = self.connect();
        let mut bytes = Vec::new();
        // It may answer, and close the connection, before all of it is sent.
        let ended = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let ended = ended.and(stream.read_to_end(&mut bytes));
        if bytes.is_empty() {
            // What came before the end can still be read.
            ended.and(stream.read_to_end(&mut bytes)).unwrap();
        }
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        let text = if chunked { dechunk(body) } else { body.to_owned() };
        Answer { status, head: head.to_owned(), text }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Waits until the server was audited so often.
    pub(crate) fn wait_for_audits(&self, count: usize) {
        wait_until("it was audited", || {
            self.api("history")["audits"].as_array().unwrap().len() >= count
        });
        wait_until("the last audit is shown", || self.get("/readyz").status == 200);
    }
}

fn dechunk(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        text.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    text
}

impl Drop for Instance {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return self.end();
        }
        eprintln!("the instance said: {:?}", self.said());
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What went wrong first is told by the test.
            let _ = thread.join();
        }
    }
}

/// A token file's content and the configuration that asks for it.
pub(crate) fn with_token(mut config: Config, token: &str) -> Config {
    config.token = Some(Secret::new(token));
    config
}

/// The names of the files in a folder.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}
