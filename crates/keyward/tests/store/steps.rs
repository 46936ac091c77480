//! Scripts by themselves: a change across slots is several of them, and each must hold whatever has happened in between.

use keyward_testkit::{Reply, Server};

/// A script as the store sends it: its file, behind those that it uses.
macro_rules! script {
    ($($file:literal),+) => {
        keyward::mutant::text(concat!($(include_str!(concat!("../../src/store/", $file))),+))
    };
}
pub(crate) use script;

/// Runs a script on two keys.
pub(crate) fn run(server: &Server, script: &str, keys: [&str; 2], args: &[&[u8]]) -> Reply {
    try_run(server, script, &keys, args).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a script, which may fail.
pub(crate) fn try_run(
    server: &Server,
    script: &str,
    keys: &[&str],
    args: &[&[u8]],
) -> Result<Reply, String> {
    let count = keys.len().to_string();
    let mut words = vec![&b"EVAL"[..], script.as_bytes(), count.as_bytes()];
    words.extend(keys.iter().map(|key| key.as_bytes()));
    words.extend(args);
    match server.try_command(&words).expect("the server answers") {
        Reply::Error(message) => Err(message),
        reply => Ok(reply),
    }
}

/// Whether a key lives for this long at most, and hardly shorter.
#[track_caller]
pub(crate) fn lives_for(server: &Server, key: &str, most: i64) {
    let left = server.command(&["PTTL", key]).integer();
    assert!((most - 10_000..=most).contains(&left), "{key}: {left}");
}
