//! A running plan listens at a socket that only its owner can reach: `status`, `pause`, `resume`, `rate N`, `stop`.

use super::failed;
use super::show::count_keys;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::verdict::Verdict;
use keyward_fact::thousands;
use keyward_plan::{Control, Plan};
use serde_json::json;
use std::fs::{self, DirBuilder};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The longest line that is read from the socket.
const LONGEST: u64 = 1000;
const PATIENCE: Duration = Duration::from_secs(5);

/// While it lives, the plan listens.
#[derive(Debug)]
pub(super) struct Listening {
    path: PathBuf,
}

impl Drop for Listening {
    fn drop(&mut self) {
        // Gone already is as good.
        let _ = fs::remove_file(&self.path);
    }
}

/// Listens for what a plan is told.
pub(super) fn listen(_: &Path, plan: &Plan, control: &Arc<Control>) -> Result<Listening> {
    let path = socket(plan, true)?;
    if UnixStream::connect(&path).is_ok() {
        return Err(Failure::new("this plan is being applied on this machine already")
            .help("`keyward plan status` shows how far it is"));
    }
    // Left behind by a program that was killed.
    let _ = fs::remove_file(&path);
    let listener =
        UnixListener::bind(&path).map_err(|error| Failure::file("listen at", &path, &error))?;
    let control = Arc::clone(control);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever asked and left does not want the answer.
            let _ = answer(stream, &control);
        }
    });
    Ok(Listening { path })
}

fn answer(mut stream: UnixStream, control: &Control) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new((&stream).take(LONGEST)).read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let said = match (words.next(), words.next()) {
        (Some("status"), None) => Ok(status(control)),
        (Some("status"), Some("json")) => Ok(status_json(control)),
        (Some("pause"), None) => {
            control.pause(true);
            Ok("paused".to_owned())
        }
        (Some("resume"), None) => {
            control.pause(false);
            Ok("going on".to_owned())
        }
        (Some("stop"), None) => {
            control.stop();
            Ok("stopping".to_owned())
        }
        (Some("rate"), Some(keys)) => keys.parse().map(|keys| {
            control.rate(keys);
            if keys == 0 {
                "no limit on keys a second".to_owned()
            } else {
                format!("at most {} a second", count_keys(keys))
            }
        }),
        _ => return stream.write_all(b"not understood\n"),
    };
    let said = said.unwrap_or_else(|_| "not understood".to_owned());
    stream.write_all(format!("{said}\n").as_bytes())
}

fn status(control: &Control) -> String {
    let progress = control.progress();
    let seconds = progress.elapsed.as_secs().max(1);
    let waits = match control.lost() {
        Some(why) => format!("; waiting for a server: {why}"),
        None if progress.paused => "; paused".to_owned(),
        None => String::new(),
    };
    let time = progress.left().map_or_else(String::new, |left| {
        let time = keyward_fact::Duration::from_millis(left.as_secs().saturating_mul(1000));
        format!(", about {} left of this pass", time.human())
    });
    let limit = match progress.rate {
        0 => String::new(),
        rate => format!(" (at most {})", thousands(rate)),
    };
    format!(
        "{} of {} seen, {} changed, {} a second{limit}{time}{waits}",
        thousands(progress.seen),
        count_keys(progress.expected),
        thousands(progress.changed),
        count_keys(progress.changed / seconds)
    )
}

fn status_json(control: &Control) -> String {
    let progress = control.progress();
    json!({
        "version": 1,
        "seen": progress.seen,
        "expected": progress.expected,
        "changed": progress.changed,
        "elapsed_seconds": progress.elapsed.as_secs(),
        "seen_per_second": progress.keys_per_second(),
        "changed_per_second": progress.changed / progress.elapsed.as_secs().max(1),
        "seconds_left_of_pass": progress.left().map(|left| left.as_secs()),
        "paused": progress.paused,
        "max_rate": progress.rate,
        "waiting_for": control.lost(),
    })
    .to_string()
}

/// Tells a running plan something, and prints what it answers.
pub(super) fn tell(path: &Path, what: &str, output: &Output) -> Result<Verdict> {
    let plan = Plan::read(path).map_err(|error| failed(&error))?;
    let socket = socket(&plan, false)?;
    let not_running = |_| {
        Failure::new(format!("`{}` is not being applied on this machine", path.display()))
            .help("`keyward plan apply` starts it, or goes on where it was stopped")
    };
    let mut stream = UnixStream::connect(&socket).map_err(not_running)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(not_running)?;
    stream.write_all(format!("{what}\n").as_bytes()).map_err(not_running)?;
    let mut answer = String::new();
    stream.take(LONGEST).read_to_string(&mut answer).map_err(not_running)?;
    output.print(answer)?;
    Ok(Verdict::Clean)
}

/// Where a plan listens: in a folder that only this user can enter.
fn socket(plan: &Plan, make: bool) -> Result<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let folder = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder).join("keyward"),
        _ => std::env::temp_dir().join(format!("keyward-{user}")),
    };
    if make {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|error| Failure::file("make", &folder, &error))?;
    }
    if let Ok(found) = fs::symlink_metadata(&folder)
        && (!found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0)
    {
        return Err(Failure::new(format!(
            "`{}` is not a folder that only you can enter",
            folder.display()
        ))
        .help("remove it, or set XDG_RUNTIME_DIR to a folder of your own"));
    }
    Ok(folder.join(format!("{}.sock", plan.id)))
}
