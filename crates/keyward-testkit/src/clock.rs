//! A clock that can be moved while a server runs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

const SOURCE: &str = include_str!("clock.c");
const LIBRARY: &str = "clock.so";
const AHEAD: &str = "clock";

/// Puts it into the folder of a server that has not started yet.
pub(crate) fn make(folder: &Path) {
    set(folder, 0);
    let source = folder.join("clock.c");
    fs::write(&source, SOURCE).expect("the server's folder is writable");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(folder.join(LIBRARY)).arg(source);
    let status = compiler.status().expect("`cc` can be run: `./test tools` installs it");
    assert!(status.success(), "`cc` does not compile clock.c");
}

/// Has a server tell the time by it.
pub(crate) fn preload(folder: &Path, server: &mut Command) {
    server.env("LD_PRELOAD", folder.join(LIBRARY)).env("KEYWARD_CLOCK", folder.join(AHEAD));
}

/// Sets by how many seconds it is ahead. The server has mapped the file, so that its bytes are written in place.
pub(crate) fn set(folder: &Path, seconds: i64) {
    use std::io::Write as _;
    let file =
        fs::File::options().create(true).truncate(false).write(true).open(folder.join(AHEAD));
    let written = file.and_then(|mut file| file.write_all(&seconds.to_ne_bytes()));
    written.expect("the server's folder is writable");
}

/// The time of the machine, in seconds since 1970.
pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is past 1970");
    i64::try_from(now.as_secs()).expect("it is before the year 292 billion")
}
