//! `keyward plan`: change a keyspace by a reviewed plan.

mod make;
mod run;
mod show;
mod steer;

pub(super) use make::values;
pub(super) use run::Watch;

use crate::args::{Burden, ListFormat, PlanApprove, PlanCommand};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::schemas::Schemas;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_audit::live::{Bound, Options, is_url};
use keyward_audit::rfc3339;
use keyward_plan::{Error, Order, Plan};
use keyward_schema::Schema;

pub(crate) fn run(command: &PlanCommand, settings: &Settings, output: &Output) -> Result<Verdict> {
    match command {
        PlanCommand::Migrate(args) => make::migrate(args, settings, output),
        PlanCommand::Fix(args) => make::fix(args, settings, output),
        PlanCommand::Invalidate(args) => make::invalidate(args, settings, output),
        PlanCommand::Drop(args) => make::drop(args, settings, output),
        PlanCommand::Forget(args) => make::forget(args, settings, output),
        PlanCommand::Requeue(args) => make::letters(args, Order::Requeue, settings, output),
        PlanCommand::Purge(args) => make::letters(args, Order::Purge, settings, output),
        PlanCommand::Show(args) => {
            let plan = Plan::read(&args.plan).map_err(|error| failed(&error))?;
            show::plan(&plan, output)?;
            Ok(Verdict::Clean)
        }
        PlanCommand::Lint(args) => {
            let plan = Plan::read(&args.plan).map_err(|error| failed(&error))?;
            show::lint(&plan, output)
        }
        PlanCommand::Approve(args) => approve(args, settings, output),
        PlanCommand::Apply(args) => run::apply(args, settings, output),
        PlanCommand::Undo(args) => run::undo(args, settings, output),
        PlanCommand::Status(args) => {
            let what = match args.format {
                ListFormat::Full => "status",
                ListFormat::Json => "status json",
            };
            steer::tell(&args.file.plan, what, output)
        }
        PlanCommand::Pause(args) => steer::tell(&args.plan, "pause", output),
        PlanCommand::Resume(args) => steer::tell(&args.plan, "resume", output),
        PlanCommand::Stop(args) => steer::tell(&args.plan, "stop", output),
        PlanCommand::Rate(args) => {
            steer::tell(&args.file.plan, &format!("rate {}", args.keys), output)
        }
    }
}

fn approve(args: &PlanApprove, settings: &Settings, output: &Output) -> Result<Verdict> {
    let path = &args.file.plan;
    let mut plan = Plan::read(path).map_err(|error| failed(&error))?;
    plan.approve(&args.owner, &args.by, rfc3339(settings.now)).map_err(|error| failed(&error))?;
    plan.write(path).map_err(|error| failed(&error))?;
    output.summary(format_args!("{} approves {} for `{}`", args.by, path.display(), args.owner))?;
    Ok(Verdict::Clean)
}

/// The one schema that a plan is about.
pub(super) fn schema(settings: &Settings, output: &Output) -> Result<Schema> {
    let mut schemas = Schemas::open(settings.schemas(&[])?).usable(output)?;
    if schemas.len() > 1 {
        return Err(Failure::new("a plan is about one schema, and several were given")
            .help("name one with `--schema FILE`"));
    }
    schemas.pop().ok_or_else(|| Failure::new("a plan needs a schema").help("`--schema FILE`"))
}

pub(super) fn expect_url(source: &str) -> Result<()> {
    if is_url(source) {
        return Ok(());
    }
    Err(Failure::new("a plan is made for a server, and this is not the URL of one")
        .help("write it as `redis://user:password@host:6379`"))
}

pub(super) fn burden(mut options: Options, args: &Burden) -> Options {
    let bound = Bound::default();
    let most = args.max_latency.map(|most| std::time::Duration::from_millis(most.as_millis()));
    let max_latency = most.unwrap_or(bound.max_latency);
    options.bound = (!args.unbounded).then_some(Bound { max_latency, max_ops: args.max_rate });
    options
}

/// An error of the plan, as a failure of the command.
pub(super) fn failed(error: &Error) -> Failure {
    let failure = if let Error::File { doing, path, why } = error
        && error.is_usage()
    {
        Failure::file(doing, path, why)
    } else if error.is_usage() {
        Failure::new(error.to_string())
    } else {
        Failure::incomplete(error.to_string())
    };
    failure.help(error.help())
}
