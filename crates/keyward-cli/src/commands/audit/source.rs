//! Opens what is to be audited, and reads it to its end.

use super::list::List;
use super::progress::Progress;
use super::resume::{Session, url};
use crate::args::Audit as Args;
use crate::failure::{Failure, Result, why};
use crate::interrupt;
use crate::output::{Output, printable};
use crate::settings::Settings;
use keyward_audit::{Audit, ReadOptions, Report};
use keyward_rdb::{Error, ErrorKind, Reader};
use std::io::{self, IsTerminal as _};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::thread::available_parallelism;

/// More threads than these wait for the disk, or for the one that runs ahead.
const MOST_THREADS: usize = 8;

pub(super) fn read(
    audit: &Arc<Audit>,
    args: &Args,
    settings: &Settings,
    session: &Session,
    (list, output): (Option<&List>, &Output),
) -> Result<Report> {
    if let Some(url) = url(args) {
        return super::live::read(audit, url, args, settings, session, (list, output));
    }
    if let Some(option) = args.live.given().next() {
        let failure = Failure::new(format!("`{option}` applies to servers only"));
        return Err(failure.help("remove it, or name a server: `redis://host:6379`"));
    }
    if args.source == "-" {
        if io::stdin().is_terminal() {
            return Err(Failure::new("standard input is a terminal, not a snapshot")
                .help("`keyward audit - < dump.rdb`"));
        }
        let name = "standard input";
        let _guard = interrupt::end_with(stopped(name, list))?;
        let reader = Reader::from_read(io::stdin().lock());
        snapshot(audit, name, reader, args, settings, list)
    } else {
        let path = Path::new(&args.source);
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        refuse_server(path, &name)?;
        let _guard = interrupt::end_with(stopped(&name, list))?;
        snapshot(audit, &name, Reader::open(path), args, settings, list)
    }
}

/// What looks like a server without its scheme may hold a password, which is never shown.
pub(in crate::commands) fn refuse_server(path: &Path, name: &str) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    if let Some((_, host)) = name.rsplit_once('@') {
        let failure = Failure::new(format!("no such file: `…@{}`", printable(host)));
        return Err(failure.help("to audit a server, write `redis://user:password@host:6379`"));
    }
    let port = name.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    if port.is_some() || name == "localhost" {
        let name = printable(name);
        let failure = Failure::new(format!("no such file: `{name}`"));
        return Err(failure.help(format!("a server? write `redis://{name}`")));
    }
    Ok(())
}

fn snapshot(
    audit: &Arc<Audit>,
    name: &str,
    reader: std::result::Result<Reader<'_>, Error>,
    args: &Args,
    settings: &Settings,
    list: Option<&List>,
) -> Result<Report> {
    let reader = reader.map_err(|error| refused(name, &error))?;
    let progress = Progress::new(reader.size());
    let told = |offset| {
        progress.reached(offset);
        std::ops::ControlFlow::Continue(())
    };
    let threads = available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let reading = ReadOptions {
        threads: NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN),
        clock: args.now,
        now: settings.now,
        progress: Some(&told),
        listener: list.map(List::listener),
    };
    let read = audit.read(reader, name, reading);
    progress.finish();
    read.map_err(|error| refused(name, &error))
}

/// The failure of a source that was stopped and cannot be resumed.
pub(super) fn stopped(name: &str, list: Option<&List>) -> Failure {
    let failure = Failure::incomplete(format!(
        "stopped before all of `{name}` was read: no report was written"
    ));
    match list {
        Some(_) => failure.help("discard the list: it is incomplete"),
        None => failure,
    }
}

/// Nothing partial looks whole: whatever is wrong with a file, there is no report.
pub(in crate::commands) fn refused(name: &str, error: &Error) -> Failure {
    let failure = match error.kind() {
        ErrorKind::Io(error) => {
            return Failure::incomplete(format!("cannot read `{name}`: {}", why(error)));
        }
        kind if error.offset() == 0 => format!("cannot audit `{name}`: {kind}"),
        _ => format!("cannot audit `{name}`: {error}"),
    };
    let help = match error.kind() {
        ErrorKind::NotRdb { .. } => "`redis-cli --rdb dump.rdb` saves a snapshot",
        ErrorKind::Truncated => {
            "it may have been copied while the server was writing it: copy it again"
        }
        _ => "check the file with `redis-check-rdb`",
    };
    Failure::incomplete(failure).help(help)
}
