//! What the person sees: standard output and standard error, with colours where they are wanted.

use crate::args::{Color, Global};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style as Ansi};
use keyward_schema::Style;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// The columns of an output that is not a terminal.
const WIDTH: usize = 100;

/// A look, which says nothing that the words do not say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look(Ansi);

pub(crate) const BOLD: Look = Look(Ansi::new().bold());
pub(crate) const DIM: Look = Look(Ansi::new().dimmed());
pub(crate) const CODE: Look = Look(AnsiColor::Cyan.on_default());
pub(crate) const ERROR: Look = Look(AnsiColor::BrightRed.on_default().bold());
pub(crate) const WARNING: Look = Look(AnsiColor::Yellow.on_default().bold());
pub(crate) const GOOD: Look = Look(AnsiColor::BrightGreen.on_default().bold());
pub(crate) const BAD: Look = Look(AnsiColor::Red.on_default());
pub(crate) const HELP: Look = Look(AnsiColor::BrightCyan.on_default().bold());

impl Look {
    /// The text in this look. Where colours are not wanted, [`Output`] takes them out again.
    pub(crate) fn on<T: fmt::Display>(self, text: T) -> String {
        let Look(ansi) = self;
        format!("{ansi}{text}{ansi:#}")
    }
}

/// Where a command writes.
#[derive(Debug)]
pub(crate) struct Output {
    quiet: bool,
    verbose: bool,
    colors: ColorChoice,
    style: Style,
    terminal: Option<usize>,
}

impl Output {
    /// Decides on colours and width, once.
    pub(crate) fn new(global: &Global) -> Self {
        let choice = match global.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        // Failures are reported without an `Output`.
        choice.write_global();
        let stdout = io::stdout();
        let colors = AutoStream::choice(&stdout);
        let terminal = stdout.is_terminal().then(|| {
            terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0))
        });
        let width = terminal.unwrap_or(WIDTH);
        let style = Style { color: colors != ColorChoice::Never, width };
        Output { quiet: global.quiet, verbose: global.verbose, colors, style, terminal }
    }

    /// The columns of the terminal, if standard output is one.
    pub(crate) fn terminal(&self) -> Option<usize> {
        self.terminal
    }

    /// How diagnostics look.
    pub(crate) fn style(&self) -> &Style {
        &self.style
    }

    /// Writes what was asked for, to standard output.
    pub(crate) fn print(&self, text: impl fmt::Display) -> io::Result<()> {
        let mut stdout = AutoStream::new(io::stdout().lock(), self.colors);
        unless_closed(write!(stdout, "{text}").and_then(|()| stdout.flush()))
    }

    /// Writes a document that is all there is of a command, which must not be lost.
    pub(crate) fn deliver(&self, text: impl fmt::Display) -> io::Result<()> {
        if is_closed() {
            return Err(io::Error::other("standard output is closed"));
        }
        self.print(text)
    }

    /// Writes a closing line to standard output, unless it must be quiet.
    pub(crate) fn summary(&self, text: impl fmt::Display) -> io::Result<()> {
        if self.quiet { Ok(()) } else { self.print(format_args!("{text}\n")) }
    }

    /// Writes what is good to know to standard error, unless it must be quiet.
    pub(crate) fn note(&self, text: impl fmt::Display) -> io::Result<()> {
        if self.quiet { Ok(()) } else { complain(format_args!("{text}\n")) }
    }

    /// Whether what is good to know is written at all.
    pub(crate) fn notes(&self) -> bool {
        !self.quiet
    }

    /// Writes what only the curious want to know to standard error.
    pub(crate) fn detail(&self, text: impl fmt::Display) -> io::Result<()> {
        if self.verbose { complain(format_args!("{text}\n")) } else { Ok(()) }
    }
}

/// Whether standard output was closed when the program began. Rust opens `/dev/null` in its place, to read
/// and to write, where a shell's `> /dev/null` opens it to write only. Seen on Linux only.
fn is_closed() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const READ_AND_WRITE: u32 = 2;
    let device = |path: &str| fs::metadata(path).map(|found| found.rdev()).ok();
    let flags = fs::read_to_string("/proc/self/fdinfo/1").unwrap_or_default();
    let flags = flags.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & 3 == READ_AND_WRITE)
        && device("/proc/self/fd/1").is_some_and(|found| Some(found) == device("/dev/null"))
}

/// Writes to standard error.
pub(crate) fn complain(text: impl fmt::Display) -> io::Result<()> {
    let mut stderr = anstream::stderr().lock();
    unless_closed(write!(stderr, "{text}").and_then(|()| stderr.flush()))
}

/// A reader that has closed the pipe has seen enough. That is not a failure, and not a reason to give up
/// before the verdict.
pub(crate) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Text from a schema or a key, with characters spelt out that a terminal obeys or nobody sees.
pub(crate) fn printable(text: &str) -> String {
    keyward_fact::visible(text).into_owned()
}
