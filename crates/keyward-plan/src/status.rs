//! Where each migration stands, and the next safe step.

use crate::change::Outcome;
use crate::control::Control;
use crate::error::Error;
use crate::fleet::{Fleet, fleet};
use crate::make::{MakeOptions, keys, open};
use crate::order::Order;
use crate::pass::{Budget, Pass, Tally};
use crate::script::Scripts;
use crate::work::{self, queues::holds_letters};
use keyward_audit::Mask;
use keyward_fact::thousands;
use keyward_schema::Schema;
use keyward_schema::model::{Date, Migration, Phase};
use std::collections::BTreeMap;

/// Where a migration stands.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// The migration
    pub name: String,
    /// Its phase in the schema
    pub phase: &'static str,
    /// When it started
    pub started: Option<Date>,
    /// When the old names must be gone
    pub remove_after: Option<Date>,
    /// Each old name
    pub renames: Vec<RenameStatus>,
    /// What keeps the next phase from being safe, as far as was seen; nothing if nothing was
    pub obstacles: Vec<String>,
    /// What to do next
    pub next: String,
}

/// Where one old name stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenameStatus {
    /// The definition
    pub definition: String,
    /// The old pattern
    pub from: String,
    /// Keys under the old name
    pub old: u64,
    /// Keys that look like the old name, and cannot be read as it
    pub unread: u64,
    /// Keys under the new name
    pub new: u64,
    /// Keys that are the same under both
    pub same: u64,
    /// Keys that the phase would change now
    pub left: u64,
    /// Keys that a person must decide about
    pub conflicts: u64,
    /// Those of them that stand under one name only
    pub lone: u64,
    /// Queues under the old name that are not empty
    pub queues: u64,
    /// For how many seconds no old key was used, but for those that are the same under both names
    pub idle_seconds: Option<u64>,
    /// Of how many of these the server does not say when they were used
    pub unseen_use: u64,
}

/// Asks the servers where all migrations of a schema stand. Nothing is changed.
///
/// # Errors
/// If the schema has no migrations, or the servers cannot be read.
pub fn status(
    url: &str,
    schema: &Schema,
    values: &BTreeMap<String, String>,
    options: &MakeOptions,
    mask: &Mask,
    control: &Control,
) -> Result<(Vec<Status>, Fleet), Error> {
    let all = schema.migrations.iter();
    let migrations = all.map(|it| (it.name.value.clone(), it.phase.name().to_owned())).collect();
    let order = Order::Migrate { migrations, values: values.clone(), remove_lone: false };
    let work = work::of(&order, schema, None)?;
    let mut primaries = open(url, schema, &options.live)?;
    let fleet = fleet(&mut primaries, &schema.keyspace.name)?;
    control.expect(keys(&mut primaries)?);
    let pass = Pass {
        work: &*work,
        journal: None,
        bound: options.live.bound,
        control,
        mask,
        now: options.now,
        accept_loss: false,
        scripts: &Scripts::new(),
        budget: Budget::new(None, 0),
        export: None,
    };
    let seen = pass.run(&mut primaries)?;
    let mut tallies = seen.rows.iter();
    let mut all = Vec::new();
    for migration in &schema.migrations {
        let renames = migration.renames.iter().zip(tallies.by_ref());
        let renames = renames.map(|(rename, tally)| {
            RenameStatus::new(&rename.definition, rename.from.as_str(), tally)
        });
        all.push((migration, renames.collect::<Vec<_>>()));
    }
    // Copies without an original, for each definition whose old names count.
    let copies = work.rows().into_iter().skip(all.iter().map(|(_, it)| it.len()).sum());
    for (row, tally) in copies.zip(tallies) {
        let of = all.iter_mut().flat_map(|(_, renames)| renames);
        if let Some(rename) = of.into_iter().find(|it| it.definition == row.definition) {
            rename.conflicts += tally.of(Outcome::Lone);
            rename.lone += tally.of(Outcome::Lone);
        }
    }
    let statuses = all
        .into_iter()
        .map(|(migration, renames)| Status::new(schema, migration, renames, &fleet))
        .collect();
    Ok((statuses, fleet))
}

/// Says that nobody knows when keys were used.
pub(crate) fn unseen_use(from: &str, keys: u64) -> String {
    let were = match keys {
        1 => format!("1 key `{from}` was"),
        _ => format!("{} keys `{from}` were", thousands(keys)),
    };
    format!("when {were} last used was not seen: the server does not say")
}

impl RenameStatus {
    fn new(definition: &str, from: &str, tally: &Tally) -> Self {
        let counts = tally.outcomes.iter();
        RenameStatus {
            definition: definition.to_owned(),
            from: from.to_owned(),
            old: counts.clone().filter(|(it, _)| is_old(**it)).map(|(_, n)| n).sum(),
            unread: tally.of(Outcome::Unread),
            new: tally.new_names,
            same: tally.of(Outcome::Same),
            left: tally.of(Outcome::Done) + tally.of(Outcome::Unsettled),
            conflicts: counts.filter(|(it, _)| it.is_conflict()).map(|(_, n)| n).sum(),
            lone: tally.of(Outcome::Lone),
            queues: tally.of(Outcome::Served) + tally.of(Outcome::Holds),
            idle_seconds: tally.idle,
            unseen_use: tally.unseen_use,
        }
    }
}

fn is_old(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::Gone | Outcome::Unread)
}

impl Status {
    fn new(
        schema: &Schema,
        migration: &Migration,
        renames: Vec<RenameStatus>,
        fleet: &Fleet,
    ) -> Self {
        let phase = migration.phase.value;
        let name = &migration.name.value;
        let mut obstacles: Vec<String> =
            fleet.refuses(name, phase.name(), false).into_iter().collect();
        let queued = renames.iter().filter(|it| it.queues > 0);
        let (letters, queues): (Vec<_>, Vec<_>) =
            queued.partition(|it| holds_letters(schema, &it.definition));
        let quiet = migration.quiet();
        for rename in &renames {
            let recent = rename.idle_seconds.filter(|it| it * 1000 < quiet.as_millis());
            if let Some(idle) = recent.filter(|_| phase != Phase::DualWrite) {
                let idle = keyward_fact::Duration::from_millis(idle * 1000);
                let (from, idle) = (&rename.from, idle.human());
                obstacles.push(format!("a key `{from}` was used {idle} ago"));
            }
            if rename.unseen_use > 0 && phase != Phase::DualWrite {
                obstacles.push(unseen_use(&rename.from, rename.unseen_use));
            }
        }
        let left: u64 = renames.iter().map(|it| it.left).sum();
        let conflicts: u64 = renames.iter().map(|it| it.conflicts).sum();
        let next = if left > 0 {
            "make a plan with `keyward plan migrate`, review it, and apply it".to_owned()
        } else if let Some(next) = next_of_queues(phase, &queues, &letters) {
            next
        } else if conflicts > 0 {
            next_of_conflicts(renames.iter().any(|it| it.lone > 0))
        } else if !obstacles.is_empty() {
            "wait until the obstacles are gone, and ask again".to_owned()
        } else {
            match phase {
                Phase::DualWrite => {
                    "set `phase = \"read-fallback\"`, deploy it everywhere, and ask again"
                        .to_owned()
                }
                Phase::ReadFallback => {
                    "set `phase = \"cleanup\"`, deploy it everywhere, and ask again".to_owned()
                }
                Phase::Cleanup if renames.iter().any(|it| it.old > 0) => {
                    "wait until the old keys have expired, and ask again".to_owned()
                }
                Phase::Cleanup => {
                    format!("no old key was seen: remove `[migrations.{name}]` from the schema")
                }
            }
        };
        Status {
            name: name.clone(),
            phase: phase.name(),
            started: migration.started.as_ref().map(|it| it.value),
            remove_after: migration.remove_after.as_ref().map(|it| it.value),
            renames,
            obstacles,
            next,
        }
    }
}

fn next_of_conflicts(is_lone: bool) -> String {
    let lone = if is_lone {
        "; with `--remove-lone` it plans to remove those that stand under one name only"
    } else {
        ""
    };
    format!(
        "decide about the conflicts: `keyward plan migrate --show-keys` names some of them{lone}"
    )
}

/// What is done about queues and dead letters under old names, which no plan copies.
fn next_of_queues(
    phase: Phase,
    queues: &[&RenameStatus],
    letters: &[&RenameStatus],
) -> Option<String> {
    let names = |all: &[&RenameStatus]| {
        let names: Vec<String> = all.iter().map(|it| format!("`{}`", it.from)).collect();
        names.join(", ")
    };
    match phase {
        // Its jobs come and go under the old name.
        Phase::DualWrite => None,
        _ if !letters.is_empty() => Some(format!(
            "dead letters are left in {}: push them again with `keyward plan requeue`, or remove them with `keyward plan \
             purge`, and ask again",
            names(letters)
        )),
        _ if queues.is_empty() => None,
        Phase::ReadFallback => Some(format!(
            "wait until workers have emptied {} and what stands beside it, and ask again",
            names(queues)
        )),
        Phase::Cleanup => Some(format!(
            "nobody takes the jobs that are left in {} or beside it: set `phase = \"read-fallback\"` again, wait until \
             workers have emptied it, and ask again",
            names(queues)
        )),
    }
}
