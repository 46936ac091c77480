//! Audits a server that is running.

use super::list::List;
use super::progress::Watch;
use super::resume::{Session, is_resumable};
use crate::args::{Audit as Args, Live, LiveVia};
use crate::failure::{Failure, Result};
use crate::files;
use crate::interrupt;
use crate::output::Output;
use crate::settings::Settings;
use keyward_audit::live::{Bound, Error, Options, Secret, Tls, Via, shown};
use keyward_audit::{Audit, Outcome, Report};
use std::env;
use std::sync::Arc;

/// Where a password is looked for that is neither in the URL nor in a file.
const PASSWORD: &str = "KEYWARD_PASSWORD";

/// The largest file that is read for a password.
const MAX_PASSWORD: u64 = 64 * 1024;

/// The largest file of certificates, or with a key.
const MAX_TLS: u64 = 16 * 1024 * 1024;

pub(super) fn read(
    audit: &Arc<Audit>,
    url: &str,
    args: &Args,
    settings: &Settings,
    session: &Session,
    (list, output): (Option<&List>, &Output),
) -> Result<Report> {
    if args.live.no_values && args.live.via == LiveVia::Snapshot {
        return Err(Failure::new("`--no-values` does not work with `--via snapshot`")
            .help("remove `--no-values`: a snapshot contains all values"));
    }
    let options = options(&args.live)?;
    let earlier = session.earlier(audit, output)?;
    let _guard = if is_resumable(args) {
        interrupt::stop_at(&options.stop)?;
        None
    } else {
        Some(interrupt::end_with(super::source::stopped(&shown(url), list))?)
    };
    let watch = Watch::new(&options.progress, output);
    let listener = || list.map(List::listener);
    let read = audit.observe_on(url, &options, earlier, listener, settings.now);
    drop(watch);
    match read {
        Ok(Outcome::Whole(report)) => Ok(*report),
        Ok(Outcome::Stopped(stopped)) => Err(session.keep(*stopped, url)),
        Ok(Outcome::Lost(error, stopped)) if is_resumable(args) => {
            Err(session.keep_lost(refused(&error), *stopped, url))
        }
        Ok(Outcome::Lost(error, _)) => Err(refused(&error)),
        Err(error) => Err(session.cannot_go_on(&error).unwrap_or_else(|| refused(&error))),
    }
}

fn options(args: &Live) -> Result<Options> {
    let bound = Bound::default();
    let bound = Bound {
        max_latency: args
            .max_latency
            .map_or(bound.max_latency, |most| std::time::Duration::from_millis(most.as_millis())),
        max_ops: args.max_ops,
    };
    // Better now than when the server has answered.
    for path in [&args.tls_ca, &args.tls_cert, &args.tls_key].into_iter().flatten() {
        files::read_file(path, MAX_TLS)?;
    }
    let mut tls = Tls::default();
    tls.authority.clone_from(&args.tls_ca);
    tls.client = args.tls_cert.clone().zip(args.tls_key.clone());
    let mut options = Options::default();
    options.via = if args.via == LiveVia::Snapshot { Via::Snapshot } else { Via::Scan };
    options.db = args.db;
    options.matching.clone_from(&args.matching);
    options.primary = args.primary;
    options.node_only = args.node_only;
    options.touch = args.touch;
    options.values = !args.no_values;
    options.bound = (!args.unbounded).then_some(bound);
    options.sample = args.sample;
    options.force = args.force;
    options.tls = tls;
    options.user.clone_from(&args.user);
    options.password = password(args)?;
    Ok(options)
}

fn password(args: &Live) -> Result<Option<Secret>> {
    let Some(path) = &args.password_file else {
        return Ok(env::var(PASSWORD).ok().map(Secret::new));
    };
    let text = files::read_stream(path, MAX_PASSWORD)?;
    let text = String::from_utf8(text).map_err(|_| {
        Failure::new(format!("cannot read `{}`: it is not UTF-8 text", path.display()))
    })?;
    Ok(Some(Secret::new(text.lines().next().unwrap_or_default())))
}

/// Nothing partial looks whole: whatever a server does, there is no report.
fn refused(error: &Error) -> Failure {
    let failure = if error.is_usage() {
        Failure::new(error.to_string())
    } else {
        Failure::incomplete(error.to_string())
    };
    failure.help(error.help())
}
