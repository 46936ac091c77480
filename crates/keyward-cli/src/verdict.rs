//! How a run ends.

use std::process::ExitCode;

/// What a command has to say to the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// 0: nothing to complain about
    Clean,
    /// 1: findings, an unknown key, or a file that would change
    Findings,
    /// 2: wrong usage, a schema that cannot be read, or nothing to check
    Unusable,
    /// 3: a source that cannot be read, or not to its end
    Incomplete,
    /// That of a command that was run
    Command(u8),
}

impl Verdict {
    /// `Findings` if there are any.
    pub(crate) fn of(found: bool) -> Self {
        if found { Verdict::Findings } else { Verdict::Clean }
    }
}

impl Verdict {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Verdict::Clean => 0,
            Verdict::Findings => 1,
            Verdict::Unusable => 2,
            Verdict::Incomplete => 3,
            Verdict::Command(code) => code,
        }
    }
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        ExitCode::from(verdict.code())
    }
}
