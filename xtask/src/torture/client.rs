//! A client: a process of its own, which the arena starts, harms and ends.

use super::history::Micros;
use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Display;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What a client process is given.
pub(super) struct Client {
    pub(super) role: String,
    pub(super) url: String,
    pub(super) random: fastrand::Rng,
    /// Whether it runs alone, after all others, and ends by itself
    pub(super) is_last: bool,
    log: File,
}

impl Client {
    pub(super) fn from_args(args: &[&str]) -> Result<Self> {
        let [role, url, seed, last, file] = args else { bail!("a client has five arguments") };
        let log = File::options().append(true).open(file)?;
        let random = fastrand::Rng::with_seed(seed.parse()?);
        let (role, url) = ((*role).to_owned(), (*url).to_owned());
        Ok(Client { role, url, random, is_last: *last == "last", log })
    }

    /// Adds a line to the history, whole or not at all: one write that a kill does not split.
    pub(super) fn log(&self, line: impl Display) {
        let line = format!("{line}\n");
        (&self.log).write_all(line.as_bytes()).expect("the history can be written");
    }

    /// Waits until the arena ends the client.
    pub(super) async fn over(&self) {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            // Standard input ends when the arena closes it, or is gone itself.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            let _ = sender.send(());
        });
        let _ = receiver.await;
    }

    /// A runtime for the client's tasks.
    pub(super) fn runtime() -> Result<tokio::runtime::Runtime> {
        Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
    }
}

/// A client that runs, as the arena sees it.
pub(super) struct Running {
    pub(super) number: usize,
    process: Child,
}

impl Running {
    pub(super) fn start(
        number: usize,
        (role, url): (&str, &str),
        seed: u64,
        is_last: bool,
        history: &Path,
    ) -> Result<Self> {
        File::create(history)?;
        let process = Command::new(std::env::current_exe()?)
            .args(["torture", "--client", role, url, &seed.to_string()])
            .arg(if is_last { "last" } else { "one" })
            .arg(history)
            .stdin(Stdio::piped())
            .spawn()?;
        Ok(Running { number, process })
    }

    pub(super) fn kill(mut self) -> Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    pub(super) fn stop(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    pub(super) fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// Lets the client end, and waits for it.
    pub(super) fn end(mut self, at_once: bool) -> Result<()> {
        if at_once {
            drop(self.process.stdin.take());
        }
        let status = self.process.wait()?;
        if !status.success() {
            bail!("client {} failed: {status}", self.number);
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        Ok(kill_process(id.context("a process has an id")?, signal)?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It fails only where the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A number in a line of a history.
pub(super) fn number(text: &str) -> Micros {
    text.parse().expect("clients write numbers")
}
