//! Makes a plan: looks at every key, and changes none.

use crate::change::Outcome;
use crate::control::Control;
use crate::document::{
    CHANGE, CONFLICT, ERASE_PARTS, Estimate, LONE, Plan, Row, SchemaId, UNREAD, VERSION,
};
use crate::error::Error;
use crate::export::Export;
use crate::identity;
use crate::memory::{self, Room};
use crate::order::{Order, prepared};
use crate::pass::{Budget, Pass, Seen, Tally};
use crate::script::Scripts;
use crate::work::{self, Stage, Work};
use keyward_audit::live::{self, Options, Primary, Reply};
use keyward_audit::{Mask, rfc3339};
use keyward_fact::thousands;
use keyward_schema::Schema;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How a plan is made.
#[derive(Debug)]
#[non_exhaustive]
pub struct MakeOptions {
    /// How the servers are read
    pub live: Options,
    /// For how long the plan can be started
    pub valid: Duration,
    /// The time, in milliseconds since 1970
    pub now: u64,
    /// Whom the plan forgets: the parameter and its value, which the plan does not hold
    pub subject: Option<(String, String)>,
    /// A file for what is found about them: one JSON object a line
    pub export: Option<PathBuf>,
}

impl MakeOptions {
    /// A plan that can be started for a week.
    pub fn new(live: Options, now: u64) -> Self {
        let valid = Duration::from_hours(7 * 24);
        MakeOptions { live, valid, now, subject: None, export: None }
    }
}

/// Makes a plan for the servers that a URL names. Nothing is changed.
///
/// # Errors
/// If the schema does not have what was asked for, or the servers cannot be read.
pub fn make(
    url: &str,
    schema: &Schema,
    order: Order,
    options: &MakeOptions,
    mask: &Mask,
    control: &Control,
) -> Result<Plan, Error> {
    let schema = &*prepared(&order, schema)?;
    let subject = options.subject.as_ref();
    work::of(&order, schema, subject)?;
    let mut primaries = open(url, schema, &options.live)?;
    let order = at_moment(order, &mut primaries)?;
    let work = work::of(&order, schema, subject)?;
    let mut servers = Vec::new();
    for primary in &mut primaries {
        servers.push(identity::of(primary)?);
    }
    let db = primaries.first().map_or(0, Primary::db);
    control.expect(keys(&mut primaries)?);
    let scripts = Scripts::new();
    let bound = options.live.bound;
    let (now, accept_loss) = (options.now, false);
    let pass = Pass {
        work: &*work,
        journal: None,
        bound,
        control,
        mask,
        now,
        accept_loss,
        scripts: &scripts,
        budget: Budget::new(order.limit(), 0),
        export: None,
    };
    if work.stages().contains(&Stage::Gather) {
        work.begin(Stage::Gather);
        pass.run(&mut primaries)?;
    }
    work.begin(Stage::All);
    let export = options.export.as_deref().map(Export::create).transpose()?;
    let pass = Pass { export: export.as_ref(), ..pass };
    let start = Instant::now();
    let seen = pass.run(&mut primaries)?;
    let took = start.elapsed();
    let definitions = work.definitions();
    let needs = needs(schema, &*work);
    let mut plan = Plan {
        keyward_plan: VERSION,
        id: id()?,
        summary: String::new(),
        order,
        made: rfc3339(options.now),
        expires: rfc3339(options.now + u64::try_from(options.valid.as_millis()).unwrap_or(0)),
        servers,
        db,
        schema: SchemaId {
            keyspace: schema.keyspace.name.value.clone(),
            hash: identity::hash(schema, &*work),
            definitions: definitions.into_iter().collect(),
        },
        rows: rows(work.rows(), &seen),
        preconditions: preconditions(&work.rows()),
        too_large: None,
        estimate: estimate(&seen, took, bound.and_then(|it| it.max_ops)),
        needs,
        approvals: Vec::new(),
        seal: String::new(),
    };
    plan.summary = summary(&plan);
    let bytes = memory::of_copies(&plan);
    plan.too_large = memory::refuses(&Room::of_all(&mut primaries)?, bytes);
    plan.seal()?;
    Ok(plan)
}

/// Whose approval a plan needs: the owners of what it touches, if the schema asks for it.
pub(crate) fn needs(schema: &Schema, work: &dyn Work) -> Vec<String> {
    if !schema.plans.require_owner {
        return Vec::new();
    }
    let definitions = work.definitions();
    let touched = schema.keys.iter().filter(|it| definitions.contains(&it.name.value));
    let owners = touched.filter_map(|it| it.owner.as_ref()).map(|it| it.value.clone());
    owners.collect::<BTreeSet<String>>().into_iter().collect()
}

/// The order with the servers' time, where it depends on that: the earliest, where their clocks differ.
fn at_moment(mut order: Order, primaries: &mut [Primary]) -> Result<Order, Error> {
    if let Order::Requeue(which) | Order::Purge(which) = &mut order {
        which.until = u64::MAX;
        for primary in primaries {
            which.until = which.until.min(time(primary)?);
        }
    }
    Ok(order)
}

/// The time of a server, in milliseconds since 1970.
fn time(primary: &mut Primary) -> Result<u64, Error> {
    let answer = primary.command(&[b"TIME"])?;
    let number = |reply: &Reply| match reply {
        Reply::Bytes(text) => std::str::from_utf8(text).ok()?.parse::<u64>().ok(),
        _ => None,
    };
    if let Reply::Array(parts) = &answer
        && let [seconds, micros] = &parts[..]
        && let (Some(seconds), Some(micros)) = (number(seconds), number(micros))
    {
        return Ok(seconds.saturating_mul(1000) + micros / 1000);
    }
    let (address, got) =
        (primary.name.clone(), format!("TIME was answered with {}", answer.kind()));
    Err(live::Error::Garbage { address, got }.into())
}

/// The primaries, in the database of the keyspace.
pub(crate) fn open(url: &str, schema: &Schema, options: &Options) -> Result<Vec<Primary>, Error> {
    let mut options = options.clone();
    options.client_name = "keyward-plan";
    let mut primaries = Primary::all(url, &options)?;
    if let Some(db) = options.db.or(schema.keyspace.db.as_ref().map(|db| u64::from(db.value))) {
        for primary in &mut primaries {
            primary.select(db)?;
        }
    }
    Ok(primaries)
}

/// How many keys there are.
pub(crate) fn keys(primaries: &mut [Primary]) -> Result<u64, Error> {
    let mut keys = 0;
    for primary in primaries {
        if let Reply::Integer(count) = primary.command(&[b"DBSIZE"])? {
            keys += u64::try_from(count).unwrap_or(0);
        }
    }
    Ok(keys)
}

fn rows(rows: Vec<Row>, seen: &Seen) -> Vec<Row> {
    let fill = |(row, tally): (Row, &Tally)| {
        let counts = tally.outcomes.iter().map(|(it, count)| (name(*it), *count));
        let mut counts: BTreeMap<String, u64> = counts.collect();
        if tally.far > 0 {
            counts.insert("across slots".to_owned(), tally.far);
        }
        if tally.elements > 0 {
            counts.insert("entries that go".to_owned(), tally.elements);
        }
        if row.action == "remove copy"
            && let Some(count) = counts.remove("same")
        {
            // Whether both are equal was not looked at here.
            counts.insert("kept: its old name is there".to_owned(), count);
        }
        let (samples, idle_seconds) = (tally.samples.clone(), tally.idle);
        let conflicts = tally.conflicts.clone();
        let (unseen_use, copy_bytes) = (tally.unseen_use, tally.copy_bytes());
        Row { counts, samples, conflicts, idle_seconds, unseen_use, copy_bytes, ..row }
    };
    rows.into_iter().zip(&seen.rows).map(fill).collect()
}

/// What an outcome is called in a plan.
pub(crate) fn name(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done => CHANGE.to_owned(),
        Outcome::Same => "same".to_owned(),
        Outcome::Gone => "gone".to_owned(),
        Outcome::Differs => "kept: the new name has another value".to_owned(),
        Outcome::Superseded => "kept: another old name counts".to_owned(),
        Outcome::Unread => UNREAD.to_owned(),
        Outcome::Misspelt => format!("{CONFLICT}: not spelled as this old name is"),
        Outcome::Unsaved | Outcome::Unsettled => "not settled".to_owned(),
        Outcome::Taken => format!("{CONFLICT}: the new name is taken"),
        Outcome::WrongType => format!("{CONFLICT}: another type"),
        Outcome::Lone => LONE.to_owned(),
        Outcome::TooLarge => format!("{CONFLICT}: too large to be saved"),
        Outcome::Nowhere => format!("{CONFLICT}: the new name cannot be built"),
        Outcome::NoEnd => format!("{CONFLICT}: the schema does not say which entries go"),
        Outcome::InUse => format!("{CONFLICT}: the phase of the migration still uses the old name"),
        Outcome::NoJob => format!("{CONFLICT}: the dead letter holds no job"),
        Outcome::Held => format!("{CONFLICT}: a job with its id waits, runs or is retained"),
        Outcome::Full => format!("{CONFLICT}: the queue is full"),
        Outcome::Holds => format!("{CONFLICT}: the old queue is not empty"),
        Outcome::Served => "kept: a queue that is not empty, and is not copied".to_owned(),
        Outcome::Drained => "kept: a queue that is empty".to_owned(),
        Outcome::Beside => "counted with its queue".to_owned(),
        Outcome::Later => "kept: it failed after the plan was made".to_owned(),
    }
}

fn preconditions(rows: &[Row]) -> Vec<String> {
    let of = |action: &str| match action {
        "copy" => {
            "copy: the key is there and has the type of its definition; what it replaces was saved first"
        }
        "rename" => {
            "rename: the key is there and has the type of its definition; the new name is free"
        }
        "remove" => {
            "remove: the key is what was saved in the journal; an old name only where the new one has a value, \
             a queue only if it is empty"
        }
        "requeue" => {
            "requeue: the letter is among the dead letters; the queue is not full, and has no job with its id"
        }
        "purge" => "purge: the letter is among the dead letters, and was saved in the journal",
        "erase" => {
            "erase: the key names them, or is what it was when its value was found to name them"
        }
        ERASE_PARTS => {
            "erase parts: the member, entry or field names them in the step that removes it"
        }
        "shorten" => "shorten: the key ends later than it should; when it ended was saved first",
        "prune" => {
            "prune: the key that a member names is gone or says otherwise; the member was saved first"
        }
        "trim" => "trim: the collection is above its bound; what goes was saved first",
        "expire" => "expire: the key has no TTL",
        _ => "",
    };
    let mut all: Vec<String> = rows.iter().map(|row| of(&row.action).to_owned()).collect();
    all.retain(|it| !it.is_empty());
    all.sort();
    all.dedup();
    all
}

/// Looking takes about as long as changing, and whoever changes looks once more at the end. `most` is how many keys a second
/// may be changed.
fn estimate(seen: &Seen, took: Duration, most: Option<u64>) -> Estimate {
    let seconds = took.as_secs_f64().max(0.001);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    let keys_per_second = (seen.keys as f64 / seconds) as u64;
    let keys = seen.keys;
    let seconds = (3 * keys).div_ceil(keys_per_second.max(1));
    let changes = seen.of(Outcome::Done);
    let seconds = seconds.max(most.map_or(0, |most| changes.div_ceil(most.max(1))));
    Estimate { changes, keys, keys_per_second, seconds }
}

/// Whether a row is named even if it changes nothing: what breaks rules, has lost its original or stays is not.
fn is_asked_for(row: &Row) -> bool {
    row.rule.is_none() && row.action != "remove copy" && row.action != "keep"
}

fn summary(plan: &Plan) -> String {
    let mut actions: Vec<(&str, u64)> = Vec::new();
    // Most rows of what could break a rule are empty.
    for row in plan.rows.iter().filter(|row| is_asked_for(row) || row.changes() > 0) {
        match actions.iter_mut().find(|(action, _)| *action == row.action) {
            Some((_, keys)) => *keys += row.changes(),
            None => actions.push((&row.action, row.changes())),
        }
    }
    let part = |(action, count): (&str, u64)| match (&plan.order, action) {
        (Order::Forget { .. }, ERASE_PARTS) if count == 1 => "1 part of a value".to_owned(),
        (Order::Forget { .. }, ERASE_PARTS) => format!("{} parts of values", thousands(count)),
        (Order::Forget { .. }, action) if count == 1 => format!("{action} 1 key"),
        (Order::Forget { .. }, action) => format!("{action} {} keys", thousands(count)),
        (order, action) => format!("{action} {}", order.counted(count)),
    };
    let parts: Vec<String> = actions.into_iter().map(part).collect();
    let mut summary = parts.join(", ");
    if summary.is_empty() {
        summary.push_str("change nothing");
    }
    match plan.conflicts() {
        0 => {}
        1 => summary.push_str("; 1 conflict"),
        count => summary.push_str(&format!("; {} conflicts", thousands(count))),
    }
    summary
}

/// What tells a plan from all others.
pub(crate) fn id() -> Result<String, Error> {
    Ok(format!("{:016x}", random()?))
}

pub(crate) fn random() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::unfinished(format!("the system has no random numbers: {error}"), "try again")
    })?;
    Ok(u64::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_knows_the_rate_that_was_asked_for() {
        let mut seen = Seen { keys: 1000, ..Seen::of_rows(1) };
        seen.rows[0].outcomes.insert(Outcome::Done, 600);
        let took = Duration::from_secs(1);
        assert_eq!(estimate(&seen, took, None).seconds, 3);
        assert_eq!(estimate(&seen, took, Some(10)).seconds, 60);
        assert_eq!(estimate(&seen, took, Some(100_000)).seconds, 3);
    }
}
