//! A command that runs under watch.

use super::Watch;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::verdict::Verdict;
use keyward_audit::live::watch::{Event, Watched};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// How often it is looked whether the command has ended.
const PAUSE: Duration = Duration::from_millis(20);

impl Watch<'_> {
    /// Watches from before a command begins until it has ended.
    pub(super) fn during_command(&self) -> Result<Verdict> {
        let signal = Arc::new(AtomicI32::new(0));
        interrupt::keep_at(&signal)?;
        let (began, begins) = mpsc::channel();
        let (watched, ended) = thread::scope(|scope| {
            let watching = scope.spawn(move || {
                self.watch(&|event| match event {
                    // After that, findings are told when all is over.
                    Event::Found(_) => {}
                    event => {
                        let is_first = matches!(event, Event::Watching { .. });
                        // Where standard error is gone, the command and its exit code are not.
                        let _ = self.teller.event(&event);
                        if is_first {
                            // Whoever waited may have been told by another server.
                            let _ = began.send(());
                        }
                    }
                })
            });
            let ended = self.command(&begins, &signal);
            self.watching.finish.store(true, Ordering::Release);
            let watched =
                watching.join().unwrap_or_else(|_| Err(Failure::incomplete("watching failed")));
            (watched, ended)
        });
        let watched: Watched = watched?;
        let Some(status) = ended? else { return Ok(Verdict::Incomplete) };
        self.teller.all(&watched)?;
        Ok(match (self.verdict(&watched), code(status)) {
            (Verdict::Findings, _) => Verdict::Findings,
            (_, 0) if watched.is_partial() => Verdict::Incomplete,
            (_, code) => Verdict::Command(code),
        })
    }

    /// Runs the command as soon as the watch has begun; nothing if it never does, or is stopped before.
    fn command(&self, begins: &Receiver<()>, signal: &AtomicI32) -> Result<Option<ExitStatus>> {
        let Ok(()) = begins.recv() else { return Ok(None) };
        let Some((program, args)) = self.args.command.split_first() else { return Ok(None) };
        if signal.load(Ordering::Acquire) != 0 {
            return Ok(None);
        }
        let child = Command::new(program).args(args).spawn();
        let child = child.map_err(|error| {
            Failure::new(format!("cannot run `{}`: {error}", program.to_string_lossy()))
                .help("write the command behind `--` as a shell would find it: `-- npm test`")
        })?;
        wait(child, signal).map(Some)
    }
}

/// Waits for a command, and passes a signal on to it.
fn wait(mut child: Child, signal: &AtomicI32) -> Result<ExitStatus> {
    let failed = |error| Failure::incomplete(format!("cannot wait for the command: {error}"));
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(status);
        }
        let kept = signal.load(Ordering::Acquire);
        if let Some(signal) = Signal::from_named_raw(kept).filter(|_| !asked) {
            asked = true;
            // It may have ended by itself meanwhile.
            let _ = kill_process(Pid::from_child(&child), signal);
        }
        thread::sleep(PAUSE);
    }
}

/// The exit code that a shell would show.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
