//! A server with the keys of the Media Gateway, and an instance that serves what it finds there.

use keyward_audit::live::Options;
use keyward_serve::{Config, Retention, Source};
use keyward_testkit::browser::{Browser, Tab};
use keyward_testkit::{Server, repository};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tempfile::TempDir;

const SEED: &str = include_str!("seed.lua");

/// The pages of a server, below its own address.
pub(crate) const PAGES: [&str; 14] = [
    "",
    "/definitions",
    "/definitions/media-gateway/active_session",
    "/findings",
    "/unknown",
    "/server",
    "/migrations",
    "/queues",
    "/../../fleet",
    "/compare",
    "/key",
    "/reference",
    "/add",
    "/checklist",
];

pub(crate) struct Stage {
    pub(crate) redis: Server,
    /// Where the pages of the server are: `http://127.0.0.1:…/s/main`
    pub(crate) url: String,
    /// Where the instance is
    pub(crate) root: String,
    pub(crate) browser: Browser,
    stop: Arc<AtomicBool>,
    running: Option<JoinHandle<()>>,
    _state: TempDir,
}

impl Stage {
    /// A keyspace as it is, with audits that follow each other at once.
    pub(crate) fn new() -> Self {
        Stage::with(Server::redis(), |_| {})
    }

    /// The same with other settings.
    pub(crate) fn with(redis: Server, change: impl FnOnce(&mut Config)) -> Self {
        redis.command(&["EVAL", SEED, "0"]);
        let state = tempfile::tempdir().unwrap();
        let schema = repository().join("examples/media-gateway/keyward.toml");
        let mut config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            token: None,
            state: state.path().to_owned(),
            retention: Retention::default(),
            servers: vec![source("main", &redis, vec![schema])],
            webhooks: Vec::new(),
        };
        change(&mut config);
        let stop = Arc::new(AtomicBool::new(false));
        let (say, said) = mpsc::channel();
        let running = {
            let stop = stop.clone();
            let say = move |line: &str| {
                // Nobody listens after the first line.
                let _ = say.send(line.to_owned());
            };
            thread::spawn(move || keyward_serve::serve(&config, &stop, say).unwrap())
        };
        let line = said.recv().unwrap();
        let root = line.strip_prefix("listening on ").unwrap().to_owned();
        let url = format!("{root}/s/main");
        let browser = Browser::new();
        Stage { redis, url, root, browser, stop, running: Some(running), _state: state }
    }

    /// A tab that shows a page after the first audit.
    #[track_caller]
    pub(crate) fn visit(&self, path: &str) -> Tab {
        let tab = self.browser.tab();
        self.audited(&tab);
        tab.visit(&format!("{}{path}", self.url));
        tab
    }

    /// Waits for the first audit.
    #[track_caller]
    pub(crate) fn audited(&self, tab: &Tab) {
        tab.visit(&self.url);
        tab.wait("document.getElementById('memory') !== null");
    }
}

/// Waits until the script of a page has begun, so that no key is lost.
#[track_caller]
pub(crate) fn listening(tab: &Tab) {
    tab.wait("document.documentElement.dataset.live === 'listening'");
}

/// Keeps a picture of a whole page where `KEYWARD_SCREENSHOTS` says, for people.
pub(crate) fn picture(tab: &Tab, name: &str) {
    keep(tab, name, true);
}

/// The same of what the screen shows.
pub(crate) fn picture_of_screen(tab: &Tab, name: &str) {
    keep(tab, name, false);
}

fn keep(tab: &Tab, name: &str, whole: bool) {
    if let Some(folder) = std::env::var_os("KEYWARD_SCREENSHOTS") {
        tab.screenshot(&PathBuf::from(folder).join(format!("{name}.png")), whole);
    }
}

/// A server to be audited again and again.
pub(crate) fn source(name: &str, redis: &Server, schemas: Vec<PathBuf>) -> Source {
    let mut source = Source::new(name.to_owned(), redis.url(), schemas, Options::default());
    source.every = Duration::from_millis(300);
    source.poll = Duration::from_millis(300);
    source
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(running) = self.running.take() {
            // A test that fails says so itself.
            let _ = running.join();
        }
    }
}
