//! `keyward queue`: look at the queues of a server.

use super::connect::{self, refused};
use crate::args::{QueueCommand, QueueFormat, QueueList, QueueLook};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::schemas::Schemas;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_audit::live::{Error, is_url, shown};
use keyward_audit::queues::{QueueName, Queues, is_wrong_type};
use keyward_audit::{Salt, render};
use keyward_schema::model::{Definition, Role, Schema};
use serde_json::{Value, json};

pub(crate) fn run(command: &QueueCommand, settings: &Settings, output: &Output) -> Result<Verdict> {
    let look = match command {
        QueueCommand::Stats(look) => look,
        QueueCommand::Inspect(list) | QueueCommand::Dead(list) => &list.look,
    };
    let schemas = Schemas::open(settings.schemas(&[])?).usable(output)?;
    let mut queues = open(look, &schemas)?;
    let named = queues.named(&look.name).map_err(|error| refused(&error))?;
    let named = named.ok_or_else(|| no_queue(&look.name, &schemas))?;
    if named.is_empty() {
        output.note(format_args!("`{}` has no queue on {}", look.name, shown(&look.source)))?;
    }
    match command {
        QueueCommand::Stats(_) => stats(&mut queues, &named, look.format, output)?,
        QueueCommand::Inspect(list) => inspect(&mut queues, &named, list, settings, output)?,
        QueueCommand::Dead(list) => dead(&mut queues, &named, list, output)?,
    }
    Ok(Verdict::Clean)
}

fn open<'s>(look: &QueueLook, schemas: &'s [Schema]) -> Result<Queues<'s>> {
    if !is_url(&look.source) {
        return Err(Failure::new("`queue` reads a server, and this is not the URL of one").help(
            "write it as `redis://user:password@host:6379`; `keyward audit` reads snapshots too",
        ));
    }
    let options = connect::options(&look.connect)?;
    let salt = look.salt.as_deref().map_or_else(Salt::random, Salt::of);
    Queues::open(&look.source, &options, schemas, salt, look.show_keys)
        .map_err(|error| refused(&error))
}

/// The name means no queue: a definition of another kind, or none.
fn no_queue(name: &str, schemas: &[Schema]) -> Failure {
    let is_queue = |it: &&Definition| matches!(it.role.as_deref(), Some(Role::Queue(_)));
    let all = || schemas.iter().flat_map(|schema| &schema.keys);
    match all().find(|it| *it.name == name) {
        Some(_) => Failure::new(format!("`{name}` is not a queue")).one_of(
            name,
            all().filter(is_queue).map(|it| it.name.as_str()),
            "the schema has no `queue`",
        ),
        None => Failure::new(format!("no queue has the name or the key `{name}`")).one_of(
            name,
            all().filter(is_queue).map(|it| it.name.as_str()),
            "the schema has no `queue`",
        ),
    }
}

fn stats(
    queues: &mut Queues<'_>,
    named: &[QueueName<'_>],
    format: QueueFormat,
    output: &Output,
) -> Result<()> {
    let mut all = Vec::new();
    for queue in named {
        all.push(queues.stats(queue).map_err(|error| refused(&error))?);
    }
    match format {
        QueueFormat::Full if all.is_empty() => {}
        QueueFormat::Full => output.print(render::queue_stats(&all, output.style()))?,
        QueueFormat::Json => print(output, &json!({ "version": 1, "queues": all }))?,
    }
    Ok(())
}

fn inspect(
    queues: &mut Queues<'_>,
    named: &[QueueName<'_>],
    list: &QueueList,
    settings: &Settings,
    output: &Output,
) -> Result<()> {
    let mut all = Vec::new();
    for queue in named {
        let jobs = queues.jobs(queue, list.limit.into()).map_err(|error| about(queue, &error))?;
        if list.look.format == QueueFormat::Full {
            heading(queue, output)?;
            output.print(render::queued_jobs(&jobs, settings.now, output.style()))?;
        }
        all.push(json!({ "queue": queue.shown, "jobs": jobs }));
    }
    if list.look.format == QueueFormat::Json {
        print(output, &json!({ "version": 1, "queues": all }))?;
    }
    Ok(())
}

fn dead(
    queues: &mut Queues<'_>,
    named: &[QueueName<'_>],
    list: &QueueList,
    output: &Output,
) -> Result<()> {
    let mut all = Vec::new();
    for queue in named {
        let letters =
            queues.dead(queue, list.limit.into()).map_err(|error| about(queue, &error))?;
        let Some(letters) = letters else {
            return Err(Failure::new(format!("`{}` has no `dead_letter`", list.look.name)).help(
                "name the definition that takes failed jobs: `queue = { dead_letter = \"…\" }`",
            ));
        };
        if list.look.format == QueueFormat::Full {
            heading(queue, output)?;
            output.print(render::dead_letters(&letters, output.style()))?;
        }
        all.push(json!({ "queue": queue.shown, "dead": letters }));
    }
    if list.look.format == QueueFormat::Json {
        print(output, &json!({ "version": 1, "queues": all }))?;
    }
    Ok(())
}

/// Why a queue could not be read.
fn about(queue: &QueueName<'_>, error: &Error) -> Failure {
    if !is_wrong_type(error) {
        return refused(error);
    }
    Failure::incomplete(format!("a key of the queue `{}` holds another type", queue.shown))
        .help("`keyward audit` shows which keys have the wrong type")
}

fn heading(queue: &QueueName<'_>, output: &Output) -> Result<()> {
    output.print(format_args!("{}\n", crate::output::BOLD.on(queue.shown.as_str())))?;
    Ok(())
}

fn print(output: &Output, document: &Value) -> Result<()> {
    output.print(format_args!("{document:#}\n"))?;
    Ok(())
}
