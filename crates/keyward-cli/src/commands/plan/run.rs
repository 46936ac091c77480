//! Applies plans, and takes them back.

use super::{burden, expect_url, failed, schema, show, steer};
use crate::args::PlanApply;
use crate::commands::connect;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::{GOOD, Output, complain};
use crate::settings::Settings;
use crate::verdict::Verdict;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keyward_audit::live::shown;
use keyward_audit::{Mask, Salt};
use keyward_fact::thousands;
use keyward_plan::{Applied, ApplyOptions, Control, Order, Plan, Undone};
use keyward_schema::Schema;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// All that applying and undoing need.
struct Prepared {
    plan: Plan,
    schema: Schema,
    options: ApplyOptions,
    mask: Mask,
    control: Arc<Control>,
}

pub(super) fn apply(args: &PlanApply, settings: &Settings, output: &Output) -> Result<Verdict> {
    let it = prepare(args, settings, output)?;
    confirm(args, &it.plan, "apply", output)?;
    let certificate = args.certificate.clone().unwrap_or_else(|| beside(args, ".certificate.json"));
    if matches!(it.plan.order, Order::Forget { .. }) {
        expect_certificate(&certificate)?;
    }
    let guard = begin(args, &it, output)?;
    let applied =
        keyward_plan::apply(&it.plan, &args.source, &it.schema, &it.options, &it.mask, &it.control);
    drop(guard);
    let applied = applied.map_err(|error| failed(&error))?;
    if let Some(it) = &applied.certificate {
        it.write(&certificate).map_err(|error| failed(&error))?;
        output.note(format_args!("certificate: {}", certificate.display()))?;
    }
    report(&it.plan, &applied, args.show_keys, output)
}

pub(super) fn undo(args: &PlanApply, settings: &Settings, output: &Output) -> Result<Verdict> {
    let it = prepare(args, settings, output)?;
    if !it.options.journal.exists() {
        return Err(Failure::new(format!(
            "there is no journal `{}`",
            it.options.journal.display()
        ))
        .help("the plan was never applied from here; name its journal with `--journal`"));
    }
    confirm(args, &it.plan, "undo", output)?;
    let guard = begin(args, &it, output)?;
    let undone =
        keyward_plan::undo(&it.plan, &args.source, &it.schema, &it.options, &it.mask, &it.control);
    drop(guard);
    let Undone { undone, same, conflicts, examples, .. } =
        undone.map_err(|error| failed(&error))?;
    output.summary(format_args!(
        "{} taken back; {} needed nothing",
        were(&it.plan.order, undone),
        thousands(same)
    ))?;
    if conflicts == 0 {
        return Ok(Verdict::Clean);
    }
    for example in examples {
        output.print(format_args!("  {example}\n"))?;
    }
    Err(Failure::incomplete(format!(
        "{} changed by others since, and stay as they are",
        were(&it.plan.order, conflicts)
    ))
    .help(if args.show_keys {
        "look at the keys above, and decide about each"
    } else {
        "decide about each of them: `--show-keys` names those above, and undoing again changes nothing else"
    }))
}

fn prepare(args: &PlanApply, settings: &Settings, output: &Output) -> Result<Prepared> {
    expect_url(&args.source)?;
    let plan = Plan::read(&args.file.plan).map_err(|error| failed(&error))?;
    let schema = schema(settings, output)?;
    let live = burden(connect::options(&args.connect)?, &args.burden);
    let forgets = matches!(plan.order, Order::Forget { .. });
    if args.subject.is_some() && !forgets {
        return Err(Failure::new("the plan forgets nobody: `--subject` has no meaning")
            .help("`keyward plan forget` makes such a plan"));
    }
    if args.show_keys && forgets {
        return Err(Failure::new("a plan to forget somebody shows no keys")
            .help("`--export FILE` writes them to a file of their own"));
    }
    let own = journal_of(&args.file.plan, &plan);
    let journal = args.journal.clone().unwrap_or(own);
    let mut options = ApplyOptions::new(live, journal, settings.now);
    options.accept_unnamed = args.accept_unnamed;
    options.accept_recent = args.accept_recent;
    options.accept_loss = args.accept_loss;
    options.accept_restarted = args.accept_restarted;
    options.accept_full = args.accept_full;
    options.subject = args.subject.as_ref().map(|it| (it.param.clone(), it.value.clone()));
    options.export.clone_from(&args.export);
    let mask = Mask::new(Salt::random(), args.show_keys, std::slice::from_ref(&schema));
    let control = Arc::new(Control::default());
    control.rate(args.burden.max_rate.unwrap_or(0));
    Ok(Prepared { plan, schema, options, mask, control })
}

/// Refuses to write a certificate over anything else, before something is erased.
fn expect_certificate(path: &Path) -> Result<()> {
    const LARGEST: u64 = 16 * 1024 * 1024;
    if !path.exists() {
        return Ok(());
    }
    let bytes = crate::files::read_file(path, LARGEST)?;
    let found: serde_json::Value =
        serde_json::from_slice(&bytes).unwrap_or(serde_json::Value::Null);
    if found.get("keyward_certificate").is_some() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` is another file", path.display()))
        .help("a certificate is written over nothing but a certificate: `--certificate FILE`"))
}

/// The journal of a plan, beside it. One that is made again in the same file has a journal of its own.
pub(super) fn journal_of(path: &Path, plan: &Plan) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.journal", plan.id));
    PathBuf::from(name)
}

/// A file that is named after the plan.
fn beside(args: &PlanApply, ending: &str) -> PathBuf {
    let mut name = args.file.plan.clone().into_os_string();
    name.push(ending);
    PathBuf::from(name)
}

/// Asks on a terminal; elsewhere `--yes` must have been given.
fn confirm(args: &PlanApply, plan: &Plan, what: &str, output: &Output) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::new(format!(
            "`plan {what}` changes keys, and nobody can be asked here"
        ))
        .help("look at it with `keyward plan show`, then add `--yes`"));
    }
    if what == "undo" {
        output.print(format_args!("{}\n", keyward_fact::visible(&plan.summary)))?;
        complain(format_args!("\nundo this on {}? Type `yes`: ", shown(&args.source)))?;
    } else {
        show::plan(plan, output)?;
        complain(format_args!("\napply this to {}? Type `yes`: ", shown(&args.source)))?;
    }
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == "yes" {
        return Ok(());
    }
    Err(Failure::new("nothing was changed"))
}

/// While it lives, the plan is drawn, listened for, and stopped by Ctrl-C.
fn begin(args: &PlanApply, it: &Prepared, output: &Output) -> Result<(Watch, steer::Listening)> {
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::stop_at(&stop)?;
    let control = Arc::clone(&it.control);
    thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(50));
        }
        control.stop();
    });
    let listening = steer::listen(&args.file.plan, &it.plan, &it.control)?;
    Ok((Watch::new(&it.control, output), listening))
}

fn report(plan: &Plan, applied: &Applied, show_keys: bool, output: &Output) -> Result<Verdict> {
    if applied.converged {
        let passes = match applied.passes {
            1 => "one pass over all keys left nothing".to_owned(),
            passes => format!("the last of {passes} passes over all keys found nothing left"),
        };
        output.summary(format_args!(
            "{} {} changed; {passes}",
            GOOD.on("done:"),
            were(&plan.order, applied.changed)
        ))?;
        return Ok(Verdict::Clean);
    }
    for ((row, left), conflicts) in plan.rows.iter().zip(&applied.left).zip(&applied.conflicts) {
        for (name, count) in
            left.iter().filter(|(name, _)| !["same", "gone"].contains(&name.as_str()))
        {
            output.print(format_args!(
                "{} {}: {} {name}\n",
                row.action,
                row.keys,
                thousands(*count)
            ))?;
        }
        for conflict in conflicts {
            output.print(format_args!("  {conflict}\n"))?;
        }
    }
    if applied.moved {
        output.print("slots of the cluster moved: keys may not have been seen\n")?;
    }
    Err(Failure::incomplete(format!(
        "{} changed, and the above is left",
        were(&plan.order, applied.changed)
    ))
    .help(advice(plan, applied, show_keys)))
}

/// What to do about what is left.
fn advice(plan: &Plan, applied: &Applied, show_keys: bool) -> String {
    let counts = || applied.left.iter().flatten();
    let conflicts = counts().any(|(name, _)| name.starts_with("conflict"));
    if !conflicts {
        let waits = counts().any(|(name, _)| name == "not settled");
        return if waits {
            "these keys are being written, or a run that was killed has left leases beside them, which end within 5 seconds: \
             apply the plan again"
                .to_owned()
        } else {
            "apply the plan again".to_owned()
        };
    }
    let shows = if show_keys { "" } else { ": `--show-keys` names some of them" };
    let lone = match &plan.order {
        Order::Migrate { remove_lone: false, .. }
            if counts().any(|(name, _)| name == keyward_plan::LONE) =>
        {
            "; a plan with `--remove-lone` removes what stands under one name only"
        }
        _ => "",
    };
    format!("conflicts are for a person to decide{shows}{lone}; for the rest, apply the plan again")
}

/// `1 key was`, `2,000 keys were`
fn were(order: &Order, count: u64) -> String {
    format!("{} {}", order.counted(count), if count == 1 { "was" } else { "were" })
}

/// Draws how far a plan is, until it is dropped.
pub(in crate::commands) struct Watch {
    over: Arc<AtomicBool>,
    drawing: Option<JoinHandle<()>>,
}

impl Watch {
    pub(in crate::commands) fn new(control: &Arc<Control>, _: &Output) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let drawing = {
            let (over, control) = (Arc::clone(&over), Arc::clone(control));
            let how = if io::stderr().is_terminal() { draw } else { tell_of_loss };
            thread::spawn(move || how(&over, &control))
        };
        Watch { over, drawing: Some(drawing) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(drawing) = self.drawing.take() {
            // A thread that only draws has nothing to say.
            let _ = drawing.join();
        }
    }
}

/// Says when a server is lost, and when it is back: who reads a log waits as well.
fn tell_of_loss(over: &AtomicBool, control: &Control) {
    let mut is_lost = false;
    while !over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(100));
        let lost = control.lost();
        if lost.is_some() != is_lost {
            is_lost = lost.is_some();
            let said = match lost {
                Some(why) => complain(format_args!("waiting for a server: {why}\n")),
                None => complain("the server is back\n"),
            };
            // Where nobody listens, the plan goes on.
            if said.is_err() {
                return;
            }
        }
    }
}

fn draw(over: &AtomicBool, control: &Control) {
    const TEMPLATE: &str = "{bar:32} {pos} of {len} seen, {msg}, {eta} left";
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(Some(0), target);
    let bar = match ProgressStyle::with_template(TEMPLATE) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    while !over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(100));
        let progress = control.progress();
        bar.set_length(progress.expected.max(progress.seen));
        bar.set_position(progress.seen);
        let waits = match control.lost() {
            Some(_) => ", waiting for a server",
            None if progress.paused => ", paused",
            None => "",
        };
        bar.set_message(format!(
            "{} changed, {} a second{waits}",
            thousands(progress.changed),
            show::count_keys(progress.keys_per_second())
        ));
    }
    bar.finish_and_clear();
}
