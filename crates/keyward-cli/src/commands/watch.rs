//! `keyward watch`: report each key that is written outside the schema.

mod command;
mod tell;

use super::audit::Places;
use super::connect::{self, refused};
use crate::args::{Fails, Watch as Args};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::{Output, unless_closed};
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_audit::live::watch::{Event, Watched, Watching};
use keyward_audit::live::{Options, is_url};
use keyward_audit::report::{Finding, Severity};
use keyward_audit::{Audit, Salt, Subject};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tell::Teller;

pub(crate) fn run(args: &Args, settings: &Settings, output: &Output) -> Result<Verdict> {
    if !is_url(&args.source) {
        return Err(Failure::new("`watch` watches a server, and this is not the URL of one").help(
            "write it as `redis://user:password@host:6379`; `keyward audit` reads snapshots",
        ));
    }
    if args.command.is_empty() && std::env::args_os().any(|arg| arg == "--") {
        return Err(Failure::new("there is no command behind `--`")
            .help("write one, or leave `--` out to watch until Ctrl-C"));
    }
    let places = Places::of_schemas(settings.schemas(&[])?, output)?;
    let audit = prepare(args, &places, settings);
    let mut options = connect::options(&args.connect)?;
    options.db = args.db;
    options.node_only = args.node_only;
    let mut watching = Watching::default();
    watching.via = args.via.map(Into::into);
    watching.looks = match args.max_keys {
        None if !args.command.is_empty() => None,
        None => watching.looks,
        most => most,
    };
    let watch =
        Watch { args, audit, options, watching, teller: Teller::new(args, &places, output) };
    if args.command.is_empty() { watch.until_stopped() } else { watch.during_command() }
}

fn prepare(args: &Args, places: &Places, settings: &Settings) -> Arc<Audit> {
    let options = keyward_audit::Options {
        salt: args.salt.as_deref().map_or_else(Salt::random, Salt::of),
        show_keys: args.show_keys,
        today: settings.today,
        ..keyward_audit::Options::default()
    };
    Arc::new(Audit::new(places.schemas().cloned().map(Subject::new).collect(), &options))
}

/// One run.
struct Watch<'r> {
    args: &'r Args,
    audit: Arc<Audit>,
    options: Options,
    watching: Watching,
    teller: Teller<'r>,
}

impl Watch<'_> {
    /// Watches until somebody ends it, or a rule is broken that does.
    fn until_stopped(&self) -> Result<Verdict> {
        interrupt::stop_at(&self.watching.finish)?;
        let watched = self.watch(&|event| {
            let ends = |finding: &Finding| self.args.fail_on.contains(&Fails::Rule(finding.rule));
            let is_last = matches!(&event, Event::Found(finding) if ends(finding));
            // Who has seen enough closes the pipe.
            if self.teller.event(&event).is_err() || is_last {
                self.watching.finish.store(true, Ordering::Release);
            }
        })?;
        unless_closed(self.teller.end(&watched))?;
        Ok(match self.verdict(&watched) {
            Verdict::Clean if watched.is_incomplete() => Verdict::Incomplete,
            verdict => verdict,
        })
    }

    fn watch(&self, tell: &(dyn Fn(Event<'_>) + Sync)) -> Result<Watched> {
        let watched = self.audit.watch(&self.args.source, &self.options, &self.watching, tell);
        watched.map_err(|error| refused(&error))
    }

    fn verdict(&self, watched: &Watched) -> Verdict {
        let fails = |finding: &Finding| self.args.fail_on.iter().any(|it| it.fails(finding));
        Verdict::of(watched.findings.iter().any(|it| fails(&it.finding)))
    }
}

impl Fails {
    fn fails(self, finding: &Finding) -> bool {
        match self {
            Fails::Rule(rule) => finding.rule == rule,
            Fails::Severity(Severity::Error) => finding.severity == Severity::Error,
            Fails::Severity(Severity::Warning) => true,
        }
    }
}
