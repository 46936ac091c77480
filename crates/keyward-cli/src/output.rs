//! What the person sees: standard output and standard error, with colours where they are wanted.

use crate::args::{Color, Global};
use crate::credentials::hidden;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style as Ansi};
use keyward_schema::Style;
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};

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
        print(text, self.colors)
    }

    /// The same for whoever writes without end: fails where nobody reads it any more.
    pub(crate) fn print_while_read(&self, text: impl fmt::Display) -> io::Result<()> {
        check_open()?;
        let mut stdout = AutoStream::new(io::stdout().lock(), self.colors);
        write!(stdout, "{text}").and_then(|()| stdout.flush())
    }

    /// Writes a closing line to standard output, unless it must be quiet.
    pub(crate) fn summary(&self, text: impl fmt::Display) -> io::Result<()> {
        if self.quiet { Ok(()) } else { self.print(format_args!("{text}\n")) }
    }

    /// Writes lines before the closing one, unless it must be quiet.
    pub(crate) fn summary_lines(&self, text: &str) -> io::Result<()> {
        if self.quiet { Ok(()) } else { self.print(text) }
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

/// Whether standard output was closed when the program began. Rust's runtime opens `/dev/null` in its place
/// before `main`, where whatever is written is lost without an error.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before the runtime does. Afterwards nothing distinguishes a closed output from the `/dev/null` that
/// Python's `DEVNULL` and Node's `ignore` open.
#[allow(unsafe_code, reason = "there is no safe way to run code before `main`")]
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    CLOSED.store(io::stdout().as_fd().try_clone_to_owned().is_err(), Ordering::Relaxed);
}

/// Fails if what is written to standard output would be lost.
pub(crate) fn check_open() -> io::Result<()> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("standard output is closed"));
    }
    Ok(())
}

/// Writes to standard output.
pub(crate) fn print(text: impl fmt::Display, colors: ColorChoice) -> io::Result<()> {
    check_open()?;
    let mut stdout = AutoStream::new(io::stdout().lock(), colors);
    unless_closed(write!(stdout, "{text}").and_then(|()| stdout.flush()))
}

/// Writes to standard error, without the passwords that were typed.
pub(crate) fn complain(text: impl fmt::Display) -> io::Result<()> {
    let mut stderr = anstream::stderr().lock();
    let text = hidden(&text.to_string());
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
