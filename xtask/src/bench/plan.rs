//! Plans: a rename against a bare pipelined RENAME of the same keys; an invalidation against `redis-cli --scan | xargs
//! redis-cli unlink`; planning against an audit; memory against that for a tenth of the keys. All without a bound on what
//! others wait.

use super::{Table, at_least, at_most, key_count, mix};
use anyhow::{Context, Result, bail, ensure};
use keyward_audit::live::{Options, Primary, Reply, Requests};
use keyward_audit::{Audit, Mask, Salt, Subject};
use keyward_plan::{ApplyOptions, Control, MakeOptions, Order, Plan};
use keyward_schema::Schema;
use keyward_testkit::{Flavor, Server};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;
/// Keys that are renamed.
const RENAMED: u64 = 500_000;
/// Keys that are planned and renamed while memory is measured.
const FEW: u64 = 200_000;
const MANY: u64 = 2_000_000;
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

/// Two thirds of the keys of [`mix`] are old names of these.
const MIGRATION: &str = r#"
version = 1
[keyspace]
name = "bench"
prefix = "bench:"
[keys.file]
pattern = "file:{id:text}"
type = "hash"
[keys.listing]
pattern = "listing:{id:text}"
type = "string"
[keys.permission]
pattern = "permission:{user:text}:{folder:text}"
type = "string"
[keys.used]
pattern = "used:{id:text}"
type = "string"
[keys.preferences]
pattern = "preferences:{id:text}"
type = "hash"
[keys.profile]
pattern = "profile:{id:text}"
type = "hash"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
file = "xc:file:{id}:meta"
listing = "xc:folder:{id}:listing"
permission = "xc:perm:{folder}:{user}"
used = "xc:quota:{id}:used"
preferences = "user:prefs:{id}"
profile = "bo:user:profile:cache:{id}"
"#;

pub(super) fn run(table: &mut Table) -> Result<()> {
    memory(table)?;
    rename(table)
}

fn schema(text: &str) -> Result<Schema> {
    match keyward_schema::read(text).schema {
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
    let options = ApplyOptions::new(unbounded(), journal, keyward_audit::now());
    let start = Instant::now();
    let applied =
        keyward_plan::apply(plan, &server.url(), schema, &options, &mask, &Control::default())?;
    let took = start.elapsed();
    ensure!(applied.converged, "the plan is not done: {:?}", applied.left);
    Ok((took, applied.changed))
}

/// Sends commands, many at once.
fn pipeline(server: &Server, count: u64, command: impl Fn(u64) -> Vec<String>) -> Result<Duration> {
    let mut primaries = Primary::all(&server.url(), &unbounded())?;
    let primary = primaries.first_mut().context("a server")?;
    let start = Instant::now();
    for first in (0..count).step_by(BATCH as usize) {
        let mut requests = Requests::default();
        for id in first..(first + BATCH).min(count) {
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

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn renaming() -> Order {
    let (from, to) = ("User:{id}".to_owned(), "user".to_owned());
    Order::Rename { from, to, values: BTreeMap::new() }
}

fn rename(table: &mut Table) -> Result<()> {
    let schema = schema(SCHEMA)?;
    let (mut whole, mut first, mut bare) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let (mut server_time, mut bare_server) = (f64::MAX, f64::MAX);
    for round in 1..=ROUNDS {
        eprintln!("  rename, round {round} of {ROUNDS} …");
        let server = Flavor::Redis.server().start();
        pipeline(&server, RENAMED, |id| words(&format!("HSET User:{id} name ann{id}")))?;
        // In the order in which a scan finds them: in that of their creation, they would stand side by side in memory.
        let ids = scanned(&server)?;
        ensure!(ids.len() as u64 == RENAMED, "{} of {RENAMED} keys were found", ids.len());
        let id = |at: u64| &ids[at as usize];
        let before = processor(&server)?;
        let to = |at| words(&format!("RENAME User:{0} bench:user:{0}", id(at)));
        bare = bare.min(pipeline(&server, RENAMED, to)?);
        bare_server = bare_server.min(processor(&server)? - before);
        let back = |at| words(&format!("RENAME bench:user:{0} User:{0}", id(at)));
        pipeline(&server, RENAMED, back)?;
        let plan = make(&server, &schema, renaming())?;
        let before = processor(&server)?;
        let (took, changed) = apply(&server, &schema, &plan)?;
        server_time = server_time.min(processor(&server)? - before);
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
    table.row(
        &format!("plan, {RENAMED} keys renamed, the server's processor"),
        format!("{server_time:.2} s"),
        format!("pipelined RENAME {bare_server:.2} s"),
        at_least(bare_server / server_time, 0.6),
    );
    Ok(())
}

/// What stands behind `User:` in all keys, as a scan finds them.
fn scanned(server: &Server) -> Result<Vec<String>> {
    let (mut ids, mut cursor) = (Vec::new(), "0".to_owned());
    loop {
        let mut page = server.command(&["SCAN", &cursor, "COUNT", "1000"]).array();
        let keys = page.pop().context("SCAN answers with keys")?.array();
        cursor = page.pop().context("SCAN answers with a cursor")?.text();
        let keys = keys.into_iter().map(keyward_testkit::Reply::text);
        ids.extend(keys.filter_map(|key| Some(key.strip_prefix("User:")?.to_owned())));
        if cursor == "0" {
            let mut seen = std::collections::HashSet::new();
            ids.retain(|id: &String| seen.insert(id.clone()));
            return Ok(ids);
        }
    }
}

/// For how many seconds the server has worked.
fn processor(server: &Server) -> Result<f64> {
    let info = server.command(&["INFO", "cpu"]).text();
    let of = |name: &str| -> Result<f64> {
        let line = info.lines().find_map(|line| line.strip_prefix(name));
        line.context("INFO says how long the server has worked")?.parse().context("a number")
    };
    Ok(of("used_cpu_user:")? + of("used_cpu_sys:")?)
}

/// How much memory a plan and its application take at most, with few keys and with many.
fn memory(table: &mut Table) -> Result<()> {
    let schema = schema(SCHEMA)?;
    let mut peaks = [0; 2];
    for (count, peak) in [FEW, MANY].into_iter().zip(&mut peaks) {
        eprintln!("  memory, {count} keys …");
        let server = Flavor::Redis.server().start();
        pipeline(&server, count, |id| words(&format!("HSET User:{id} name ann{id}")))?;
        // Forgets the peak so far.
        std::fs::write("/proc/self/clear_refs", "5")?;
        let plan = make(&server, &schema, renaming())?;
        let (_, changed) = apply(&server, &schema, &plan)?;
        ensure!(changed == count, "{changed} of {count} keys were renamed");
        *peak = peak_kilobytes()?;
    }
    let [few, many] = peaks;
    table.row(
        &format!("plan, memory for {MANY} keys planned and renamed"),
        format!("{:.1} MB", many as f64 / 1024.0),
        format!("{FEW} keys {:.1} MB", few as f64 / 1024.0),
        at_most(many as f64 / few as f64, 1.1),
    );
    Ok(())
}

/// The most memory that this process had at once.
pub(super) fn peak_kilobytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
    peak.context("Linux says how much memory there was")?.parse().context("a number")
}

/// How long SCAN alone takes with the keys of a group: the server's share, which nobody who scans does without.
pub(super) fn scan(server: &Server) -> Result<Duration> {
    let mut primaries = Primary::all(&server.url(), &unbounded())?;
    let primary = primaries.first_mut().context("a server")?;
    let start = Instant::now();
    let mut cursor = b"0".to_vec();
    loop {
        let scan: [&[u8]; 6] = [b"SCAN", &cursor, b"COUNT", b"2000", b"MATCH", b"bench:view:7:*"];
        let Reply::Array(parts) = primary.command(&scan)? else { bail!("SCAN is answered") };
        let Some(Reply::Bytes(next)) = parts.into_iter().next() else { bail!("a cursor") };
        cursor = next;
        if cursor == b"0" {
            return Ok(start.elapsed());
        }
    }
}

/// What looks at all keys: an invalidation, and planning.
pub(super) fn scans(table: &mut Table) -> Result<()> {
    let schema = schema(SCHEMA)?;
    let migration = self::schema(MIGRATION)?;
    let subject = Subject::new(self::schema(MIGRATION)?);
    let audit = Arc::new(Audit::new(vec![subject], &keyward_audit::Options::default()));
    let all = key_count()?;
    let some = all / 100;
    let server = mix::serve(&crate::root()?, all)?;
    let mut best = [Duration::MAX; 5];
    let [ours, theirs, planned, audited, alone] = &mut best;
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
        *alone = (*alone).min(scan(&server)?);
        *theirs = (*theirs).min(unlink(&server)?);
        let start = Instant::now();
        let migrations = BTreeMap::from([("v2".to_owned(), "dual-write".to_owned())]);
        let order = Order::Migrate { migrations, values: BTreeMap::new(), remove_lone: false };
        let plan = make(&server, &migration, order)?;
        *planned = (*planned).min(start.elapsed());
        ensure!(plan.changes() > all / 2, "the plan changes {} of {all} keys", plan.changes());
        let start = Instant::now();
        audit.observe(&server.url(), &unbounded(), || None, keyward_audit::now())?;
        *audited = (*audited).min(start.elapsed());
    }
    let [ours, theirs, planned, audited, alone] = best.map(|best| best.as_secs_f64());
    table.row(
        &format!("plan, {some} of {all} keys invalidated"),
        format!("{ours:.2} s"),
        format!("redis-cli --scan, unlink {theirs:.2} s"),
        at_least(theirs / ours, 5.0),
    );
    table.row(
        &format!("the SCAN of {all} keys alone, COUNT 2000"),
        format!("{alone:.2} s"),
        format!("redis-cli --scan, unlink {theirs:.2} s"),
        format!("{:.2}×", theirs / alone),
    );
    table.row(
        &format!("plan, {all} keys planned, six old names of which two thirds have one"),
        format!("{planned:.2} s"),
        format!("audit with the same schema {audited:.2} s"),
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
