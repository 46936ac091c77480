//! Reads the sources of a draft, one after the other.

use crate::commands::audit::{Progress, Watch, refuse_server, refused_file};
use crate::commands::connect::refused;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::Output;
use crate::settings::Settings;
use keyward_audit::Collected;
use keyward_audit::live::{Options, is_url, shown};
use keyward_rdb::{Error, Reader};
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread::available_parallelism;

/// More threads than these wait for the disk, or for the one that runs ahead.
const MOST_THREADS: usize = 8;

pub(crate) fn read(
    sources: &[OsString],
    options: impl Fn() -> Result<Options>,
    settings: &Settings,
    output: &Output,
) -> Result<Collected> {
    let failure = Failure::incomplete("stopped before all sources were read: no draft was written");
    let _guard = interrupt::end_with(failure)?;
    let mut collected = Collected::default();
    for source in sources {
        let one = match source.to_str().filter(|url| is_url(url)) {
            Some(url) => from_server(url, options()?, output)?,
            None if source == "-" => from_input(settings)?,
            None => from_file(source, settings)?,
        };
        collected.merge(one);
    }
    Ok(collected)
}

fn from_server(url: &str, mut options: Options, output: &Output) -> Result<Collected> {
    options.client_name = "keyward-infer";
    // What a draft does not say need not be asked for.
    options.encodings = false;
    let watch = Watch::new(&options.progress, output);
    let read = Collected::from_server(url, &options);
    drop(watch);
    output.detail(format_args!("read {}", shown(url)))?;
    read.map_err(|error| refused(&error))
}

fn from_input(settings: &Settings) -> Result<Collected> {
    if io::stdin().is_terminal() {
        return Err(Failure::new("standard input is a terminal, not a snapshot")
            .help("`keyward infer - < dump.rdb`"));
    }
    snapshot("standard input", Reader::from_read(io::stdin().lock()), settings)
}

fn from_file(source: &OsStr, settings: &Settings) -> Result<Collected> {
    let path = Path::new(source);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    refuse_server(path, &name)?;
    snapshot(&name, Reader::open(path), settings)
}

fn snapshot(
    name: &str,
    reader: std::result::Result<Reader<'_>, Error>,
    settings: &Settings,
) -> Result<Collected> {
    let reader = reader.map_err(|error| refused_file(name, &error))?;
    let progress = Progress::new(reader.size());
    let told = |offset| {
        progress.reached(offset);
        ControlFlow::Continue(())
    };
    let threads = available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let threads = NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN);
    let read = Collected::from_rdb(reader, threads, settings.now, &told);
    progress.finish();
    read.map_err(|error| refused_file(name, &error))
}
