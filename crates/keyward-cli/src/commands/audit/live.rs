//! Audits a server that is running.

use super::list::List;
use super::progress::Watch;
use super::resume::{Session, is_resumable};
use crate::args::{Audit as Args, Live, LiveVia};
use crate::commands::connect::{self, refused};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::Output;
use crate::settings::Settings;
use keyward_audit::live::{Bound, Options, Via, shown};
use keyward_audit::{Audit, Outcome, Report};
use std::sync::Arc;

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

pub(in crate::commands) fn options(args: &Live) -> Result<Options> {
    let bound = Bound::default();
    let bound = Bound {
        max_latency: args
            .max_latency
            .map_or(bound.max_latency, |most| std::time::Duration::from_millis(most.as_millis())),
        max_ops: args.max_ops,
    };
    let mut options = connect::options(&args.connect)?;
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
    Ok(options)
}
