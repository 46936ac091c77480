//! Plans: a rename against a bare pipelined RENAME of the same keys; an invalidation against `redis-cli --scan | xargs
//! redis-cli unlink`; planning against an audit. All without a bound on what others wait.

use super::{Table, at_least, at_most, key_count, mix};
use anyhow::{Context, Result, bail, ensure};
use keyward_audit::live::{self, Ended, Options, Primary, Requests};
use keyward_audit::{Mask, Observer, Salt};
use keyward_fact::{Element, Fact, Show};
use keyward_plan::{ApplyOptions, Control, MakeOptions, Order, Plan, Target};
use keyward_schema::Schema;
use keyward_testkit::{Flavor, Server};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;
/// Keys that are renamed.
const RENAMED: u64 = 500_000;
/// Commands of one pipeline.
const BATCH: u64 = 1000;

const SCHEMA: &str = r#"
version = 1
[keyspace]
name = "bench"
prefix = "bench:"
[keys.view]
pattern = "view:{group:uint}:{id:uint}"
value = "text"
ttl = "1h"
[keys.user]
pattern = "user:{id:uint}"
type = "hash"
[events.group_changed]
params = { group = "uint" }
invalidates = ["view(group = group, id = *)"]
"#;

pub(super) fn run(table: &mut Table) -> Result<()> {
    rename(table)?;
    invalidate(table)
}

fn schema() -> Result<Schema> {
    match keyward_schema::read(SCHEMA).schema {
        Ok(schema) => Ok(schema),
        Err(errors) => bail!("the schema of the bench cannot be read: {errors:?}"),
    }
}

fn unbounded() -> Options {
    let mut options = Options::default();
    options.bound = None;
    options
}

fn make(server: &Server, schema: &Schema, order: Order) -> Result<Plan> {
    let mask = Mask::new(Salt::of("bench"), false, std::slice::from_ref(schema));
    let options = MakeOptions::new(unbounded(), keyward_audit::now());
    let control = Control::default();
    Ok(keyward_plan::make(&server.url(), schema, order, &options, &mask, &control)?)
}

/// Applies a plan; how long that took, and how many keys were changed.
fn apply(server: &Server, schema: &Schema, plan: &Plan) -> Result<(Duration, u64)> {
    let folder = server.folder();
    let journal = folder.join(format!("{}.journal", plan.id));
    let mask = Mask::new(Salt::of("bench"), false, std::slice::from_ref(schema));
    let options = ApplyOptions::new(unbounded(), journal.clone(), keyward_audit::now());
    let start = Instant::now();
    let applied =
        keyward_plan::apply(plan, &server.url(), schema, &options, &mask, &Control::default())?;
    let took = start.elapsed();
    ensure!(applied.converged, "the plan is not done: {:?}", applied.left);
    std::fs::remove_file(journal)?;
    Ok((took, applied.changed))
}

/// Sends commands, many at once.
fn pipeline(server: &Server, command: impl Fn(u64) -> Vec<String>) -> Result<Duration> {
    let mut primaries = Primary::all(&server.url(), &unbounded())?;
    let primary = primaries.first_mut().context("a server")?;
    let start = Instant::now();
    for first in (0..RENAMED).step_by(BATCH as usize) {
        let mut requests = Requests::default();
        for id in first..(first + BATCH).min(RENAMED) {
            let args = command(id);
            requests.add(&args.iter().map(String::as_bytes).collect::<Vec<_>>());
        }
        primary.send(&requests)?;
        for _ in 0..requests.len() {
            primary.reply()?;
        }
    }
    Ok(start.elapsed())
}

fn rename(table: &mut Table) -> Result<()> {
    let schema = schema()?;
    let (mut whole, mut first, mut bare) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for round in 1..=ROUNDS {
        eprintln!("  rename, round {round} of {ROUNDS} …");
        let server = Flavor::Redis.server().start();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        pipeline(&server, |id| words(&format!("HSET User:{id} name ann{id}")))?;
        bare =
            bare.min(pipeline(&server, |id| words(&format!("RENAME User:{id} bench:user:{id}")))?);
        pipeline(&server, |id| words(&format!("RENAME bench:user:{id} User:{id}")))?;
        let (from, to) = ("User:{id}".to_owned(), "user".to_owned());
        let plan = make(&server, &schema, Order::Rename { from, to, values: BTreeMap::new() })?;
        let (took, changed) = apply(&server, &schema, &plan)?;
        ensure!(changed == RENAMED, "{changed} of {RENAMED} keys were renamed");
        whole = whole.min(took);
        // The second pass looks at all keys again, and renames none.
        let (again, _) = apply(&server, &schema, &plan)?;
        first = first.min(took.saturating_sub(again));
    }
    for (what, took) in [("with the pass that verifies", whole), ("without it", first)] {
        table.row(
            &format!("plan, {RENAMED} keys renamed, {what}"),
            format!("{:.2} s", took.as_secs_f64()),
            format!("pipelined RENAME {:.2} s", bare.as_secs_f64()),
            at_least(bare.as_secs_f64() / took.as_secs_f64(), 0.6),
        );
    }
    Ok(())
}

/// Looks at all that a scan tells.
#[derive(Default)]
struct Nothing;

impl Observer for Nothing {
    fn begin(&mut self, _: &Fact<'_>) -> Show {
        Show::NOTHING
    }

    fn element(&mut self, _: &Element<'_>) {}

    fn end(&mut self, _: &Fact<'_>) {}
}

fn invalidate(table: &mut Table) -> Result<()> {
    let schema = schema()?;
    let all = key_count()?;
    let some = all / 100;
    let server = mix::serve(&crate::root()?, all)?;
    let mut best = [Duration::MAX; 4];
    let [ours, theirs, planned, audited] = &mut best;
    for round in 1..=ROUNDS {
        eprintln!("  invalidate, round {round} of {ROUNDS} …");
        fill(&server, some)?;
        let values = BTreeMap::from([("group".to_owned(), "7".to_owned())]);
        let event = "group_changed".to_owned();
        let plan = make(&server, &schema, Order::Invalidate { event, values })?;
        let (took, changed) = apply(&server, &schema, &plan)?;
        ensure!(changed == some, "{changed} of {some} keys were removed");
        *ours = (*ours).min(took);
        fill(&server, some)?;
        *theirs = (*theirs).min(unlink(&server)?);
        let start = Instant::now();
        let target = Target::Definition { name: "view".to_owned(), values: BTreeMap::new() };
        make(&server, &schema, Order::Drop { target, no_backup: false })?;
        *planned = (*planned).min(start.elapsed());
        let start = Instant::now();
        live::observe(&server.url(), &unbounded(), |_| Nothing).and_then(Ended::whole)?;
        *audited = (*audited).min(start.elapsed());
    }
    let [ours, theirs, planned, audited] = best.map(|best| best.as_secs_f64());
    table.row(
        &format!("plan, {some} of {all} keys invalidated"),
        format!("{ours:.2} s"),
        format!("redis-cli --scan, unlink {theirs:.2} s"),
        at_least(theirs / ours, 5.0),
    );
    table.row(
        &format!("plan, {all} keys planned"),
        format!("{planned:.2} s"),
        format!("audit {audited:.2} s"),
        at_most(planned / audited, 1.5),
    );
    Ok(())
}

fn fill(server: &Server, count: u64) -> Result<()> {
    let mut primaries = Primary::all(&server.url(), &unbounded())?;
    let primary = primaries.first_mut().context("a server")?;
    for first in (0..count).step_by(BATCH as usize) {
        let mut requests = Requests::default();
        for id in first..(first + BATCH).min(count) {
            let key = format!("bench:view:7:{id}");
            requests.add(&[b"SET", key.as_bytes(), b"a page", b"EX", b"3600"]);
        }
        primary.send(&requests)?;
        for _ in 0..requests.len() {
            primary.reply()?;
        }
    }
    Ok(())
}

/// What people type.
fn unlink(server: &Server) -> Result<Duration> {
    let port = server.port();
    let line = format!(
        "redis-cli -p {port} --scan --pattern 'bench:view:7:*' | xargs redis-cli -p {port} unlink"
    );
    let start = Instant::now();
    let status = Command::new("sh").args(["-c", &line]).stdout(Stdio::null()).status();
    ensure!(status.context("run `sh`")?.success(), "`{line}` failed");
    Ok(start.elapsed())
}
