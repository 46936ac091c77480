//! Scripts: sent by their hash, whole where the server does not know them.

use super::error::Error;
use super::request::Call;
use crate::mutant;
use redis::{Arg, Cmd};
use std::sync::OnceLock;

/// A script. All keys it touches are declared, as a cluster demands.
pub(crate) struct Lua {
    text: &'static str,
    script: OnceLock<redis::Script>,
}

impl Lua {
    pub(crate) const fn new(text: &'static str) -> Self {
        Lua { text, script: OnceLock::new() }
    }

    /// The command that runs it by its hash. It changes something, unless the caller knows better.
    pub(crate) fn call(&'static self, keys: &[&str], args: impl FnOnce(&mut Cmd)) -> Call {
        let mut cmd = redis::cmd("EVALSHA");
        let script = self.script.get_or_init(|| redis::Script::new(mutant::text(self.text)));
        cmd.arg(script.get_hash()).arg(keys.len());
        for key in keys {
            cmd.arg(*key);
        }
        args(&mut cmd);
        Call { cmd, lua: Some(self), repeatable: false }
    }

    /// The same command with the script in it.
    pub(crate) fn whole(&self, by_hash: &Cmd) -> Cmd {
        let mut cmd = redis::cmd("EVAL");
        cmd.arg(mutant::text(self.text));
        for arg in by_hash.args_iter().skip(2) {
            if let Arg::Simple(bytes) = arg {
                cmd.arg(bytes);
            }
        }
        cmd
    }
}

/// Declares a script from a file beside the code that uses it; or from several, the last of which uses the others.
macro_rules! lua {
    ($($file:literal),+) => {
        $crate::store::lua::Lua::new(concat!($(include_str!($file)),+))
    };
}
pub(crate) use lua;

/// Whether an error says that the server does not know a script.
pub(crate) fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::Refused { code, .. } if code == "NOSCRIPT")
}
