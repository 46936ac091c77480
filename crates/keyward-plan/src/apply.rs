//! Applies a plan: again and again, until a pass over all keys finds nothing left to do.

use crate::certificate::Certificate;
use crate::change::Outcome;
use crate::control::Control;
use crate::document::{Plan, Row};
use crate::error::Error;
use crate::export::Export;
use crate::fleet::fleet;
use crate::identity;
use crate::journal::{self, Journal, Record};
use crate::make::{keys, name, needs, open};
use crate::memory::{self, Room};
use crate::order::{Order, prepared};
use crate::pass::{Budget, Pass, Seen};
use crate::recognise;
use crate::script::Scripts;
use crate::status::unseen_use;
use crate::work::{self, Stage, Work};
use keyward_audit::live::{self, Options, Primary};
use keyward_audit::{Mask, parse_rfc3339};
use keyward_schema::Schema;
use keyward_schema::model::Phase;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// After so many passes that found something to do, others change keys as fast as the plan does.
const PASSES: usize = 6;

/// How long keys are waited for that somebody else writes: longer than leases last.
const LEASED: Duration = Duration::from_secs(7);

/// How long a server that was lost is waited for.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(200);

/// How a plan is applied.
#[derive(Debug)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a check that somebody skips")]
pub struct ApplyOptions {
    /// How the servers are reached, and how much they may be burdened
    pub live: Options,
    /// Where the journal is
    pub journal: PathBuf,
    /// Whether clients that do not announce a phase are of no concern
    pub accept_unnamed: bool,
    /// Whether it is of no concern that old names were used shortly before the plan was made
    pub accept_recent: bool,
    /// Whether keys may move to another slot although a crash can lose them
    pub accept_loss: bool,
    /// Whether servers are accepted that are known by nothing but their keys, as the journal says what they are
    pub accept_restarted: bool,
    /// Whether copies may be made that do not fit into the memory of the servers
    pub accept_full: bool,
    /// The time, in milliseconds since 1970
    pub now: u64,
    /// Whom the plan forgets: the parameter and its value, which the plan does not hold
    pub subject: Option<(String, String)>,
    /// A file for what is erased of them: one JSON object a line
    pub export: Option<PathBuf>,
}

impl ApplyOptions {
    /// With a journal at this place.
    pub fn new(live: Options, journal: PathBuf, now: u64) -> Self {
        ApplyOptions {
            live,
            journal,
            accept_unnamed: false,
            accept_recent: false,
            accept_loss: false,
            accept_restarted: false,
            accept_full: false,
            now,
            subject: None,
            export: None,
        }
    }
}

/// What became of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Keys that were changed, also by attempts that a lost server ended
    pub changed: u64,
    /// What the last pass found, a map for each row of the plan
    pub left: Vec<BTreeMap<String, u64>>,
    /// Some of the keys that a person must decide about, masked, each with the reason; a list for each row
    pub conflicts: Vec<Vec<String>>,
    /// How often all keys were looked at
    pub passes: usize,
    /// Whether the last pass found nothing left to do, and no conflict
    pub converged: bool,
    /// Whether slots of the cluster came or went during the last pass, so that keys may not have been seen
    pub moved: bool,
    /// What was erased, and what was not, if the plan forgets somebody
    pub certificate: Option<Certificate>,
}

/// Applies a plan to the servers that a URL names.
///
/// # Errors
/// If the plan may not be applied there or now, or a server fails for longer than a minute. Then what was done is
/// done, and the plan can be applied again.
pub fn apply(
    plan: &Plan,
    url: &str,
    schema: &Schema,
    options: &ApplyOptions,
    mask: &Mask,
    control: &Control,
) -> Result<Applied, Error> {
    let schema = &*prepared(&plan.order, schema)?;
    let work = work::of(&plan.order, schema, options.subject.as_ref())?;
    expect_schema(plan, schema, &*work)?;
    // The schema says who is asked, and not the file.
    let needs = needs(schema, &*work);
    let is_missing = |owner: &&String| plan.approvals.iter().all(|it| it.owner != **owner);
    let missing: Vec<String> =
        needs.iter().filter(is_missing).map(|it| format!("`{it}`")).collect();
    if let Some(owner) = needs.iter().find(is_missing) {
        let has = if missing.len() == 1 { "has" } else { "have" };
        return Err(Error::refused(
            format!("{} {has} not approved the plan", missing.join(", ")),
            format!("`keyward plan approve PLAN --owner {owner} --by NAME` notes it in the plan"),
        ));
    }
    let mut primaries = open(url, schema, &options.live)?;
    let is_started = is_started(plan, schema, &mut primaries, options)?;
    if !is_started && parse_rfc3339(&plan.expires).is_none_or(|end| end < options.now) {
        return Err(Error::refused(
            format!("the plan could be started until {}", plan.expires),
            "make it again",
        ));
    }
    expect_fleet(&mut primaries, schema, &*work, options)?;
    if !is_started {
        expect_quiet(plan, schema, options)?;
    }
    if is_started {
        expect_journal(&options.journal)?;
    }
    if matches!(plan.order, Order::Drop { no_backup: false, .. } | Order::Migrate { .. }) {
        identity::expect_restore(plan, schema, &mut primaries)?;
    }
    if !is_started && !options.accept_full {
        expect_room(plan, &mut primaries)?;
    }
    let journal = Journal::append(&options.journal, &plan.id)?;
    if journal.is_left {
        // What is applied and undone again begins anew, and conflicts are a person's from now on.
        journal.write(&[Record::Undone], true)?;
    }
    let already = journal.letters;
    identity::mark(plan, schema, &mut primaries)?;
    let scripts = Scripts::new();
    let export = options.export.as_deref().map(Export::append).transpose()?;
    let pass = |journal, export| Pass {
        work: &*work,
        journal,
        bound: options.live.bound,
        control,
        mask,
        now: options.now,
        accept_loss: options.accept_loss,
        scripts: &scripts,
        budget: Budget::new(plan.order.limit(), already),
        export,
    };
    let looks = pass(None, None);
    let pass = pass(Some(&journal), export.as_ref());
    let before = control.progress().changed;
    for stage in work.stages() {
        let pass = if *stage == Stage::Gather { &looks } else { &pass };
        for number in 1.. {
            work.begin(*stage);
            let seen = run(pass, plan, url, schema, options, std::mem::take(&mut primaries))?;
            if !seen.moved {
                break;
            }
            if number == PASSES {
                return Err(Error::unfinished(
                    "slots of the cluster move, so that it is not known whether all keys were seen",
                    "apply the plan again when they do not",
                ));
            }
            thread::sleep(PAUSE);
        }
    }
    let (began, mut tries) = (Instant::now(), 0);
    for number in 1.. {
        work.begin(Stage::All);
        let seen = run(&pass, plan, url, schema, options, std::mem::take(&mut primaries))?;
        let done = seen.of(Outcome::Done);
        let settled = seen.of(Outcome::Unsettled) == 0 && !seen.moved;
        let over = settled && (done == 0 || !work.repeats());
        // A run that was killed may have left leases, which end by themselves.
        let waits = !settled && began.elapsed() < LEASED;
        tries += usize::from(!waits);
        if over || tries == PASSES {
            let conflicts = seen.rows.iter().flat_map(|row| &row.outcomes);
            let conflicts = conflicts.filter(|(it, _)| it.is_conflict()).count();
            let converged = over && conflicts == 0;
            let certificate = match &plan.order {
                Order::Forget { subject, .. } => {
                    let erased = journal::erased(&options.journal, &plan.id)?;
                    let mut it = Certificate::new(plan, subject, &*work, &erased, converged);
                    it.ask(&mut open(url, schema, &options.live)?, &*work)?;
                    Some(it)
                }
                _ => None,
            };
            return Ok(Applied {
                changed: control.progress().changed - before,
                left: left(&seen),
                conflicts: seen.rows.iter().map(|row| row.conflicts.clone()).collect(),
                passes: number,
                converged,
                moved: seen.moved,
                certificate,
            });
        }
        if !settled {
            thread::sleep(PAUSE);
        }
    }
    unreachable!("a pass is the last one or is followed by another")
}

fn left(seen: &Seen) -> Vec<BTreeMap<String, u64>> {
    let row = |outcomes: &BTreeMap<Outcome, u64>| {
        outcomes.iter().map(|(it, count)| (name(*it), *count)).collect()
    };
    seen.rows.iter().map(|tally| row(&tally.outcomes)).collect()
}

/// One pass, begun again where a server was lost.
fn run(
    pass: &Pass<'_>,
    plan: &Plan,
    url: &str,
    schema: &Schema,
    options: &ApplyOptions,
    primaries: Vec<Primary>,
) -> Result<Seen, Error> {
    let mut primaries = primaries;
    patiently(pass.control, || {
        let mut primaries = std::mem::take(&mut primaries);
        if primaries.is_empty() {
            primaries = open(url, schema, &options.live)?;
            identity::expect(plan, schema, &mut primaries)?;
        }
        pass.control.expect(keys(&mut primaries)?);
        pass.control.lose(None);
        pass.run(&mut primaries)
    })
}

/// Attempts something until no server is lost meanwhile that may be back soon.
pub(crate) fn patiently<T>(
    control: &Control,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut lost: Option<Instant> = None;
    loop {
        let began = Instant::now();
        match attempt() {
            Err(Error::Server(error)) if is_passing(&error) => {
                // What was reached for a while is lost anew.
                let since = lost.filter(|_| began.elapsed() < PATIENCE).unwrap_or(began);
                if since.elapsed() > PATIENCE {
                    return Err(error.into());
                }
                lost = Some(since);
                control.lose(Some(error.to_string()));
                thread::sleep(PAUSE);
                control.wait()?;
            }
            result => return result,
        }
    }
}

/// What a server answers that may be back soon; with MISCONF, one whose disk is full or that cannot save.
const PASSING: [&str; 7] =
    ["LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "NOSCRIPT", "BUSY", "MISCONF"];

/// Whether a server may be back soon.
fn is_passing(error: &live::Error) -> bool {
    match error {
        live::Error::Unreachable { .. }
        | live::Error::Died { .. }
        | live::Error::Loading { .. }
        | live::Error::ClusterDown { .. }
        | live::Error::Incomplete { .. } => true,
        live::Error::Reply { reply, .. } => PASSING.iter().any(|word| reply.starts_with(word)),
        _ => false,
    }
}

pub(crate) fn expect_schema(plan: &Plan, schema: &Schema, work: &dyn Work) -> Result<(), Error> {
    if plan.schema.keyspace != *schema.keyspace.name {
        return Err(Error::refused(
            format!(
                "the plan is for the keyspace `{}`, and this is the schema of `{}`",
                plan.schema.keyspace, *schema.keyspace.name
            ),
            "name the schema that the plan was made with: `--schema`",
        ));
    }
    if identity::hash(schema, work) != plan.schema.hash {
        return Err(Error::refused(
            "the schema says something else about these keys than when the plan was made",
            "make the plan again",
        ));
    }
    Ok(())
}

/// Whether a plan was started on these servers; refuses others than it was made for.
pub(crate) fn is_started(
    plan: &Plan,
    schema: &Schema,
    primaries: &mut [Primary],
    options: &ApplyOptions,
) -> Result<bool, Error> {
    identity::expect_db(plan, primaries)?;
    match identity::expect(plan, schema, primaries) {
        Err(Error::Refused { .. }) if options.accept_restarted => {
            expect_journal(&options.journal)?;
            recognise::expect(&options.journal, &plan.id, primaries)?;
            Ok(true)
        }
        found => found,
    }
}

/// Refuses to go on without the journal of what was changed before: it is begun before anything is written to a server.
pub(crate) fn expect_journal(path: &Path) -> Result<(), Error> {
    if path.metadata().is_ok_and(|it| it.len() > 0) {
        return Ok(());
    }
    let path = path.display();
    Err(Error::refused(
        format!("the plan was started before, and its journal `{path}` is not there or empty"),
        "name it with `--journal`: without it, what was changed cannot be undone",
    ))
}

fn expect_fleet(
    primaries: &mut [Primary],
    schema: &Schema,
    work: &dyn Work,
    options: &ApplyOptions,
) -> Result<(), Error> {
    let phases = work.fleet();
    if phases.is_empty() {
        return Ok(());
    }
    let fleet = fleet(primaries, &schema.keyspace.name)?;
    for (migration, phase) in phases {
        if let Some(why) = fleet.refuses(&migration, &phase, options.accept_unnamed) {
            let help = "deploy the schema with this phase everywhere first; for clients that never touch these \
                        keys, `--accept-unnamed`";
            return Err(Error::refused(why, help));
        }
    }
    Ok(())
}

/// Copies must not push other keys out.
fn expect_room(plan: &Plan, primaries: &mut [Primary]) -> Result<(), Error> {
    match memory::refuses(&Room::of_all(primaries)?, memory::of_copies(plan)) {
        None => Ok(()),
        Some(why) => Err(Error::refused(
            why,
            "raise `maxmemory`, or remove what is not needed; `--accept-full` applies the plan nevertheless",
        )),
    }
}

/// Whoever wrote an old name outside the stores lately will write it again, and not the new one.
fn expect_quiet(plan: &Plan, schema: &Schema, options: &ApplyOptions) -> Result<(), Error> {
    let Order::Migrate { migrations, .. } = &plan.order else { return Ok(()) };
    if options.accept_recent {
        return Ok(());
    }
    let later = schema
        .migrations
        .iter()
        .filter(|it| migrations.contains_key(&it.name.value) && *it.phase != Phase::DualWrite);
    for migration in later {
        let quiet = migration.quiet();
        let own = |row: &&Row| {
            let mut renames = migration.renames.iter();
            renames.any(|it| *it.definition == row.definition && it.from.as_str() == row.keys)
        };
        for row in plan.rows.iter().filter(own) {
            if row.unseen_use > 0 {
                return Err(Error::refused(
                    unseen_use(&row.keys, row.unseen_use),
                    "it denies OBJECT IDLETIME to this user, or its eviction policy is LFU; make the plan as a user who \
                     may ask, or see otherwise that nobody uses old names and add `--accept-recent`",
                ));
            }
            let Some(idle) = row.idle_seconds.filter(|it| it * 1000 < quiet.as_millis()) else {
                continue;
            };
            let idle = keyward_fact::Duration::from_millis(idle * 1000);
            return Err(Error::refused(
                format!("a key `{}` was used {} before the plan was made", row.keys, idle.human()),
                format!(
                    "something that is no store may still use old names: find it, and wait for `quiet` ({}); if it \
                     was an audit or a plan, `--accept-recent`",
                    quiet.human()
                ),
            ));
        }
    }
    Ok(())
}
