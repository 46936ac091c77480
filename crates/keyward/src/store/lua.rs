//! Scripts: sent by their hash, whole where the server does not know them.

use super::error::Error;
use redis::Cmd;
use std::sync::LazyLock;

/// A script. All keys it touches are declared, as a cluster demands.
pub(crate) struct Lua {
    script: LazyLock<redis::Script>,
    text: &'static str,
}

impl Lua {
    pub(crate) const fn new(text: &'static str, script: fn() -> redis::Script) -> Self {
        Lua { script: LazyLock::new(script), text }
    }

    /// The command that runs it by its hash.
    pub(crate) fn by_hash(&self, keys: &[&str], args: impl Fn(&mut Cmd)) -> Cmd {
        self.command("EVALSHA", self.script.get_hash(), keys, args)
    }

    /// The command that sends it whole.
    pub(crate) fn whole(&self, keys: &[&str], args: impl Fn(&mut Cmd)) -> Cmd {
        self.command("EVAL", self.text, keys, args)
    }

    fn command(&self, name: &str, script: &str, keys: &[&str], args: impl Fn(&mut Cmd)) -> Cmd {
        let mut cmd = redis::cmd(name);
        cmd.arg(script).arg(keys.len());
        for key in keys {
            cmd.arg(*key);
        }
        args(&mut cmd);
        cmd
    }
}

/// Declares a script from a file beside the code that uses it.
macro_rules! lua {
    ($file:literal) => {{
        const TEXT: &str = include_str!($file);
        $crate::store::lua::Lua::new(TEXT, || redis::Script::new(TEXT))
    }};
}
pub(crate) use lua;

/// Whether an error says that the server does not know a script.
pub(crate) fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::Refused { code, .. } if code == "NOSCRIPT")
}
