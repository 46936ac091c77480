//! Makes plans.

use super::{burden, expect_url, failed, schema, show};
use crate::args::{
    Binding, PlanDrop, PlanFix, PlanForget, PlanInvalidate, PlanLetters, PlanMake, PlanMigrate,
};
use crate::commands::connect;
use crate::commands::plan::run::{Watch, journal_of};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_audit::{Mask, Salt};
use keyward_pattern::{Part, escape_glob};
use keyward_plan::{Buried, Control, LONE, MakeOptions, Order, Plan, Subject, Target};
use keyward_schema::Schema;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn migrate(args: &PlanMigrate, settings: &Settings, output: &Output) -> Result<Verdict> {
    expect_url(&args.make.source)?;
    let schema = schema(settings, output)?;
    if let (Some(from), Some(to)) = (&args.from, &args.to) {
        let values = values(&args.prefix.bindings);
        let order = Order::Rename { from: from.clone(), to: to.clone(), values };
        return make(&args.make, &schema, order, Forgetting::default(), settings, output);
    }
    let all = schema.migrations.iter().map(|it| (it.name.as_str(), it.phase.name()));
    for name in &args.migrations {
        if all.clone().all(|(known, _)| known != name) {
            return Err(Failure::new(format!("the schema has no migration `{name}`")).one_of(
                name,
                all.map(|(known, _)| known),
                "declare `[migrations.<id>]`",
            ));
        }
    }
    let is_wanted =
        |name: &str| args.migrations.is_empty() || args.migrations.iter().any(|it| it == name);
    let migrations: BTreeMap<String, String> = all
        .filter(|(name, _)| is_wanted(name))
        .map(|(name, phase)| (name.to_owned(), phase.to_owned()))
        .collect();
    if migrations.is_empty() {
        return Err(Failure::new("the schema has no migration")
            .help("declare the old names in `[migrations.<id>]`"));
    }
    let values = values(&args.prefix.bindings);
    let order = Order::Migrate { migrations, values, remove_lone: args.remove_lone };
    make(&args.make, &schema, order, Forgetting::default(), settings, output)
}

pub(super) fn fix(args: &PlanFix, settings: &Settings, output: &Output) -> Result<Verdict> {
    expect_url(&args.make.source)?;
    let schema = schema(settings, output)?;
    let order = Order::Fix { rules: args.rules.clone(), today: settings.today.to_string() };
    make(&args.make, &schema, order, Forgetting::default(), settings, output)
}

pub(super) fn invalidate(
    args: &PlanInvalidate,
    settings: &Settings,
    output: &Output,
) -> Result<Verdict> {
    expect_url(&args.make.source)?;
    let schema = schema(settings, output)?;
    let values = values(args.values.iter().chain(&args.prefix.bindings));
    let order = Order::Invalidate { event: args.event.clone(), values };
    make(&args.make, &schema, order, Forgetting::default(), settings, output)
}

pub(super) fn drop(args: &PlanDrop, settings: &Settings, output: &Output) -> Result<Verdict> {
    expect_url(&args.make.source)?;
    let schema = schema(settings, output)?;
    let name = &args.target;
    let is_glob = name.contains(['*', '?', '[']);
    let values = values(args.values.iter().chain(&args.prefix.bindings));
    let target = if is_glob {
        if !args.values.is_empty() {
            return Err(Failure::new("values are for a definition, and this is a glob")
                .help("write them into the glob"));
        }
        let prefix = if args.no_prefix { String::new() } else { prefix(&schema, &values)? };
        Target::Glob(format!("{prefix}{name}"))
    } else if schema.keys.iter().any(|it| *it.name == *name) {
        Target::Definition { name: name.clone(), values }
    } else if schema.keys.iter().any(|it| it.group.as_deref() == Some(name)) {
        Target::Group(name.clone())
    } else {
        let definitions = schema.keys.iter().map(|it| it.name.as_str());
        let groups = schema.groups.iter().map(|it| it.name.as_str());
        return Err(Failure::new(format!("`{name}` is no definition, no group and no glob"))
            .one_of(name, definitions.chain(groups), "a glob has a `*`"));
    };
    let order = Order::Drop { target, no_backup: args.no_backup };
    make(&args.make, &schema, order, Forgetting::default(), settings, output)
}

pub(super) fn letters(
    args: &PlanLetters,
    order: fn(Buried) -> Order,
    settings: &Settings,
    output: &Output,
) -> Result<Verdict> {
    expect_url(&args.make.source)?;
    let schema = schema(settings, output)?;
    let order = order(Buried::new(args.queue.clone(), args.limit));
    make(&args.make, &schema, order, Forgetting::default(), settings, output)
}

/// Whom a plan forgets, and where what is found is written.
#[derive(Default)]
struct Forgetting {
    subject: Option<(String, String)>,
    export: Option<PathBuf>,
}

pub(super) fn forget(args: &PlanForget, settings: &Settings, output: &Output) -> Result<Verdict> {
    expect_url(&args.make.source)?;
    if args.make.show_keys {
        return Err(Failure::new("a plan to forget somebody shows no keys")
            .help("`--export FILE` writes them to a file of their own"));
    }
    let schema = schema(settings, output)?;
    let Binding { param, value } = &args.subject;
    let subject = Subject::new(param, value).map_err(|error| failed(&error))?;
    let order = Order::Forget { subject, values: values(&args.prefix.bindings) };
    let subject = Some((param.clone(), value.clone()));
    let forgetting = Forgetting { subject, export: args.export.clone() };
    make(&args.make, &schema, order, forgetting, settings, output)
}

/// The prefix of the keyspace as a glob.
fn prefix(schema: &Schema, values: &BTreeMap<String, String>) -> Result<String> {
    let mut glob = String::new();
    let parts = schema.keyspace.prefix.as_ref().map_or(&[][..], |prefix| prefix.parts());
    for part in parts {
        match part {
            Part::Literal(text) => escape_glob(text, &mut glob),
            Part::Hole(hole) => {
                let value = values.get(&hole.name).ok_or_else(|| {
                    Failure::new(format!("the prefix has a parameter `{}`", hole.name)).help(format!(
                        "give its value, `--bind {}=…`, or write the whole glob with `--no-prefix`",
                        hole.name
                    ))
                })?;
                escape_glob(value, &mut glob);
            }
        }
    }
    Ok(glob)
}

pub(in crate::commands) fn values<'b>(
    bindings: impl IntoIterator<Item = &'b Binding>,
) -> BTreeMap<String, String> {
    bindings.into_iter().map(|it| (it.param.clone(), it.value.clone())).collect()
}

/// Refuses to write over a plan that was applied: without it, its journal cannot be undone.
fn keep_undo(out: &Path) -> Result<()> {
    let before = match Plan::read(out) {
        Ok(before) => before,
        Err(_) if !out.exists() => return Ok(()),
        Err(_) => {
            return Err(Failure::new(format!("`{}` is another file", out.display()))
                .help("a plan is written over nothing but a plan: choose another name"));
        }
    };
    if !journal_of(out, &before).exists() {
        return Ok(());
    }
    let needed = match before.order {
        Order::Forget { .. } => "its certificate is named after it",
        order if order.can_be_undone() => "with this one, `keyward plan undo` takes it back",
        _ => "with this one, `keyward plan apply` goes on if it was stopped",
    };
    Err(Failure::new(format!("`{}` is a plan that was applied", out.display()))
        .help(format!("write the new plan to another file: {needed}")))
}

/// What to do about conflicts, if there are any.
fn advice(plan: &Plan, show_keys: bool) -> Option<String> {
    let is_forget = matches!(plan.order, Order::Forget { .. });
    let lone = match &plan.order {
        Order::Migrate { remove_lone: false, .. }
            if plan.rows.iter().any(|row| row.counts.contains_key(LONE)) =>
        {
            "; `--remove-lone` plans to remove what stands under one name only"
        }
        _ => "",
    };
    let shows = if show_keys || is_forget { "" } else { "; `--show-keys` names these keys" };
    let advice = format!("conflicts stay as they are{shows}{lone}");
    (plan.conflicts() > 0).then_some(advice)
}

fn make(
    args: &PlanMake,
    schema: &Schema,
    order: Order,
    forgetting: Forgetting,
    settings: &Settings,
    output: &Output,
) -> Result<Verdict> {
    keep_undo(&args.out)?;
    let live = burden(connect::options(&args.connect)?, &args.burden);
    let mut options = MakeOptions::new(live, settings.now);
    (options.subject, options.export) = (forgetting.subject, forgetting.export);
    options.valid = Duration::from_millis(args.valid.as_millis());
    let mask = Mask::new(Salt::random(), args.show_keys, std::slice::from_ref(schema));
    let control = Arc::new(Control::default());
    let watch = Watch::new(&control, output);
    let plan = keyward_plan::make(&args.source, schema, order, &options, &mask, &control);
    std::mem::drop(watch);
    let plan: Plan = plan.map_err(|error| failed(&error))?;
    plan.write(&args.out).map_err(|error| failed(&error))?;
    show::plan(&plan, output)?;
    output.note(format_args!(
        "written to {}; `keyward plan apply {} URL` applies it",
        args.out.display(),
        args.out.display()
    ))?;
    if let Some(advice) = advice(&plan, args.show_keys) {
        output.note(advice)?;
    }
    Ok(Verdict::of(plan.conflicts() > 0))
}
