//! Takes back what a plan has changed, as its journal says.

use crate::apply::{ApplyOptions, expect_journal, expect_schema, is_started, patiently};
use crate::content::Content;
use crate::control::Control;
use crate::document::Plan;
use crate::error::Error;
use crate::fleet::{PHASES, fleet};
use crate::history::History;
use crate::journal::{Journal, Reader, Record};
use crate::make::open;
use crate::order::Order;
use crate::router::Router;
use crate::script::{Script, Scripts, digest};
use crate::work::{self, prefix_of};
use keyward_audit::Mask;
use keyward_audit::live::{self, Primary, Reply};
use keyward_pattern::{derived, hash_tag, slot};
use keyward_schema::Schema;
use keyward_schema::model::Derived;
use std::collections::{BTreeMap, HashMap, HashSet};

/// How many records are asked for at once.
const BATCH: usize = 500;

/// How many milliseconds a lease lasts: longer than two values take to be read, and one to be written.
const LEASE: &[u8] = b"5000";

/// How many conflicts are shown.
const SHOWN: usize = 20;

/// What was taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// Keys that were taken back
    pub undone: u64,
    /// Keys that were as before already, or whose time is over
    pub same: u64,
    /// Keys that were changed by others since, and stay
    pub conflicts: u64,
    /// Some of these, masked, each with the reason
    pub examples: Vec<String>,
}

/// Takes back what a plan has changed on the servers that a URL names.
///
/// # Errors
/// If the plan cannot be undone, is of other servers, or a server fails for longer than a minute. Undoing again goes on.
pub fn undo(
    plan: &Plan,
    url: &str,
    schema: &Schema,
    options: &ApplyOptions,
    mask: &Mask,
    control: &Control,
) -> Result<Undone, Error> {
    let work = work::for_undo(&plan.order, schema)?;
    if let Some(work) = &work {
        expect_schema(plan, schema, &**work)?;
    }
    expect_phase(plan, schema)?;
    let mut primaries = open(url, schema, &options.live)?;
    if is_started(plan, schema, &mut primaries, options)? {
        expect_journal(&options.journal)?;
    }
    expect_fleet(plan, schema, &mut primaries, options.accept_unnamed)?;
    // Held until the end: nobody applies meanwhile.
    let journal = Journal::append(&options.journal, &plan.id)?;
    let mut undone = Undone::default();
    patiently(control, || {
        let mut primaries = std::mem::take(&mut primaries);
        if primaries.is_empty() {
            primaries = open(url, schema, &options.live)?;
            is_started(plan, schema, &mut primaries, options)?;
        }
        control.lose(None);
        // What was settled before a server was lost is so; conflicts are found again.
        undone.conflicts = 0;
        undone.examples.clear();
        let history = History::read(&options.journal, &plan.id)?;
        let mut undo = Undo {
            journal: &journal,
            primaries,
            routers: BTreeMap::new(),
            scripts: Scripts::new(),
            schema,
            mask,
            control,
            undone: &mut undone,
            letters: HashMap::new(),
            there: HashMap::new(),
            read: HashSet::new(),
        };
        // In the opposite order: what was repaired under a name before the name itself, and names before what they had
        // replaced, so that this finds its place free.
        undo.repairs(Reader::open(&options.journal, &plan.id)?, &history)?;
        undo.names(Reader::open(&options.journal, &plan.id)?, &history)?;
        undo.values(Reader::open(&options.journal, &plan.id)?, &history)
    })?;
    // Until it is applied again, another undo finds the conflicts again.
    let is_over = undone.conflicts == 0;
    journal.write(&[if is_over { Record::Undone } else { Record::Left }], true)?;
    Ok(undone)
}

/// What a phase has copied cannot be taken back in a later one, which relies on it.
fn expect_phase(plan: &Plan, schema: &Schema) -> Result<(), Error> {
    let Order::Migrate { migrations, .. } = &plan.order else { return Ok(()) };
    let rank = |phase: &str| PHASES.iter().position(|it| *it == phase);
    for migration in &schema.migrations {
        let name = &migration.name.value;
        let Some(planned) = migrations.get(name) else { continue };
        if rank(migration.phase.name()) > rank(planned) {
            return Err(Error::refused(
                format!(
                    "the plan was applied in the phase `{planned}` of `{name}`, and programs are in `{}` by now",
                    migration.phase.name()
                ),
                format!("undo the later phases first, and set `phase = \"{planned}\"` everywhere"),
            ));
        }
    }
    Ok(())
}

/// Nor while a program is connected that is in a later one, whatever the schema here says.
fn expect_fleet(
    plan: &Plan,
    schema: &Schema,
    primaries: &mut [Primary],
    accept_unnamed: bool,
) -> Result<(), Error> {
    let Order::Migrate { migrations, .. } = &plan.order else { return Ok(()) };
    let fleet = fleet(primaries, &schema.keyspace.name)?;
    let refuses =
        |(name, phase): (&String, &String)| fleet.refuses_undo(name, phase, accept_unnamed);
    match migrations.iter().find_map(refuses) {
        None => Ok(()),
        Some(why) => Err(Error::refused(
            why,
            "deploy the schema with this phase everywhere first; for clients that never touch these keys, \
             `--accept-unnamed`",
        )),
    }
}

struct Undo<'a> {
    /// Where it is noted what is settled
    journal: &'a Journal,
    primaries: Vec<Primary>,
    /// Connections by database
    routers: BTreeMap<u64, Router>,
    scripts: Scripts,
    schema: &'a Schema,
    mask: &'a Mask,
    control: &'a Control,
    undone: &'a mut Undone,
    /// How many equal dead letters there were in the journal so far, by their digest
    letters: HashMap<[u8; 20], u64>,
    /// How many there are in the lists that were read, and the lists
    there: HashMap<[u8; 20], u64>,
    read: HashSet<(u64, Vec<u8>)>,
}

/// What stands under both names of a key, as DUMP gives it, with when it ends.
struct Found {
    old: Option<(Vec<u8>, i64)>,
    new: (Vec<u8>, i64),
    way: Way,
}

/// What becomes of a value under a new name.
enum Way {
    /// It is gone
    None,
    /// It goes, since the old name has it or is what counts
    There,
    /// It goes back to the old name
    Back,
    /// A person must decide
    Conflict,
}

/// A call that takes one record back.
struct Step {
    /// The number of the record
    number: u64,
    db: u64,
    /// The key whose server is asked
    key: Vec<u8>,
    call: Vec<Vec<u8>>,
    /// Whether the key is counted by another record
    is_counted: bool,
}

impl Step {
    fn new((number, db): (u64, u64), script: &Script, keys: Vec<Vec<u8>>, args: &[&[u8]]) -> Self {
        let key = keys.first().cloned().unwrap_or_default();
        let mut call = script.command(keys.len());
        call.extend(keys);
        call.extend(args.iter().map(|arg| arg.to_vec()));
        Step { number, db, key, call, is_counted: false }
    }
}

/// What became of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Undone,
    /// Undone, and counted with another record of the key
    Counted,
    Same,
    Conflict,
}

impl Undo<'_> {
    /// Takes back what was changed about keys that kept their names, the last change first: where the program was
    /// killed, a change may be noted twice.
    fn repairs(&mut self, mut journal: Reader, history: &History) -> Result<(), Error> {
        let mut noted: Vec<(u64, u64)> = Vec::new();
        let mut position = journal.position();
        for number in 0.. {
            let Some(record) = journal.next().transpose()? else { break };
            if record.is_repair() && history.counts(number) {
                noted.push((number, position));
            }
            position = journal.position();
        }
        let mut steps = Vec::new();
        for (number, position) in noted.into_iter().rev() {
            if let Some(record) = journal.at(position).transpose()? {
                self.begin(number, record, &mut steps)?;
                self.take(&mut steps, false)?;
            }
        }
        self.take(&mut steps, true)
    }

    /// Takes back moves and copies.
    fn names(&mut self, journal: Reader, history: &History) -> Result<(), Error> {
        let mut steps = Vec::new();
        for (number, record) in (0..).zip(journal) {
            let record = record?;
            let is_made =
                matches!(&record, Record::Making { db, key, .. } if history.is_made(*db, key));
            if history.counts(number) && !record.is_repair() && !is_made {
                self.begin(number, record, &mut steps)?;
                self.take(&mut steps, false)?;
            } else if history.happened(number)
                && let Record::Letter { db, dead, letter, .. } = record
            {
                // An earlier undo has brought it back, and it is not taken for another one that is equal.
                self.is_there(db, &dead, &letter)?;
            }
        }
        self.take(&mut steps, true)
    }

    /// Brings back what was removed, and what stood there before it was replaced.
    fn values(&mut self, journal: Reader, history: &History) -> Result<(), Error> {
        let mut steps = Vec::new();
        let home = self.primaries.first().map_or(0, Primary::db);
        for (number, record) in (0..).zip(journal) {
            let (db, key, ends, dump, under, is_counted) = match record? {
                Record::Saved { db, key, ends, dump, under }
                    if history.is_last(db, &key, number) =>
                {
                    (db, key, ends, dump, under, false)
                }
                Record::Replaced { db, key, ends, dump }
                    if history.is_original(db, &key, number) =>
                {
                    (db, key, ends, dump, None, true)
                }
                _ => continue,
            };
            if !history.counts(number) {
                continue;
            }
            // Whoever has deleted the key meanwhile knew it by the other name.
            let is_near = |under: &Vec<u8>| {
                let clustered = self.primaries.first().is_some_and(Primary::is_clustered);
                db == home && (!clustered || slot(under) == slot(&key))
            };
            let (near, is_deleted) = match under {
                Some(under) if is_near(&under) => (Some(under), false),
                Some(under) => (None, !self.exists(home, &under)?),
                None => (None, false),
            };
            let (aside, ends) = (aside(&key), ends.to_string());
            let args: [&[u8]; 3] = [&dump, ends.as_bytes(), if is_deleted { b"1" } else { b"0" }];
            let of = (number, db);
            let keys = [key, aside].into_iter().chain(near).collect();
            let step = Step::new(of, &self.scripts.restore, keys, &args);
            steps.push(Step { is_counted, ..step });
            self.take(&mut steps, false)?;
        }
        self.take(&mut steps, true)
    }

    fn begin(&mut self, number: u64, record: Record, steps: &mut Vec<Step>) -> Result<(), Error> {
        let scripts = &self.scripts;
        steps.push(match record {
            Record::Moved { db, from, to } => Step::new(
                (number, db),
                &scripts.relocate,
                vec![to, from],
                &[b"1", b"rename", b"", b""],
            ),
            Record::Copied { db, from, to, new_counts } => {
                let counts: &[u8] = if new_counts { b"1" } else { b"0" };
                Step::new((number, db), &scripts.back, vec![from, to], &[counts])
            }
            Record::Shortened { db, key, ends, at } => {
                let (ends, at) = (ends.to_string(), at.to_string());
                let args = [ends.as_bytes(), at.as_bytes()];
                Step::new((number, db), &scripts.lengthen, vec![key], &args)
            }
            Record::Trimmed { db, key, kind, kept_first, left, edges, gone } => {
                let (end, left): (&[u8], _) =
                    (if kept_first { b"first" } else { b"last" }, left.to_string());
                let mut args: Vec<&[u8]> = vec![&kind, end, left.as_bytes(), &edges];
                args.extend(gone.iter().map(Vec::as_slice));
                Step::new((number, db), &scripts.untrim, vec![key], &args)
            }
            Record::Pruned { db, key, ends, member, score } => {
                let ends = ends.to_string();
                let args: [&[u8]; 3] = [&member, &score, ends.as_bytes()];
                Step::new((number, db), &scripts.rejoin, vec![key], &args)
            }
            Record::Placed { db, home, from, to, new_counts, renamed } => {
                let fate = self.bring_back((db, &from), (home, &to), new_counts, renamed)?;
                return self.settle(&[(number, &from, fate)]);
            }
            // Killed before it was noted: it was put there if it is what stands there.
            Record::Making { db, key, ends, holds } => {
                let fate = self.unmake(db, &key, (ends, &holds))?;
                return self.settle(&[(number, &key, fate)]);
            }
            Record::Made { db, key, digest } => {
                Step::new((number, db), &scripts.unmake, vec![key], &[&digest])
            }
            Record::Letter { db, dead, ends, letter, note } => {
                if self.is_there(db, &dead, &letter)? {
                    return self.settle(&[(number, &dead, Fate::Same)]);
                }
                let ends = ends.to_string();
                let (notes, note) = note.map(|it| (it.key, it.text)).unzip();
                let keys = std::iter::once(dead).chain(notes).collect();
                let args = [&letter[..], &note.unwrap_or_default(), ends.as_bytes()];
                Step::new((number, db), &self.scripts.bury, keys, &args)
            }
            Record::Saved { .. }
            | Record::Replaced { .. }
            | Record::Erased { .. }
            | Record::Not(_)
            | Record::Settled { .. }
            | Record::Left
            | Record::Undone => {
                return Ok(());
            }
        });
        Ok(())
    }

    /// Whether a dead letter is there, as often as the journal has named one that is equal so far.
    fn is_there(&mut self, db: u64, dead: &[u8], letter: &[u8]) -> Result<bool, Error> {
        self.count_letters(db, dead)?;
        let digest = letter_digest(db, dead, letter);
        let count = self.letters.entry(digest).or_default();
        *count += 1;
        Ok(self.there.get(&digest).is_some_and(|there| there >= count))
    }

    /// Counts the letters of a list, before the first is brought back: some are there already where an undo was killed.
    fn count_letters(&mut self, db: u64, dead: &[u8]) -> Result<(), Error> {
        const PAGE: usize = 1000;
        if !self.read.insert((db, dead.to_vec())) {
            return Ok(());
        }
        for first in (0_usize..).step_by(PAGE) {
            let (start, end) = (first.to_string(), (first + PAGE - 1).to_string());
            let range: [&[u8]; 4] = [b"LRANGE", dead, start.as_bytes(), end.as_bytes()];
            let Some(Reply::Array(page)) = self.ask(db, &[(dead, range.to_vec())])?.pop() else {
                break;
            };
            for letter in &page {
                if let Reply::Bytes(letter) = letter {
                    *self.there.entry(letter_digest(db, dead, letter)).or_default() += 1;
                }
            }
            if page.len() < PAGE {
                break;
            }
        }
        Ok(())
    }

    /// Takes back a copy or a move from one slot or database to another.
    fn bring_back(
        &mut self,
        (db, from): (u64, &[u8]),
        (home, to): (u64, &[u8]),
        new_counts: bool,
        renamed: bool,
    ) -> Result<Fate, Error> {
        let counts = renamed || new_counts;
        let mut found = self.look((db, from), (home, to), counts, new_counts)?;
        let mut lease = None;
        if let Way::Back = found.way {
            // Whoever changes the key from now on ends the lease, so that what is read now is not brought back later.
            lease = self.lease((db, from), to)?;
            found = self.look((db, from), (home, to), counts, new_counts)?;
        }
        let Found { old, new: (dump, ends), way } = found;
        match way {
            Way::None => return Ok(Fate::Same),
            Way::Conflict => return Ok(Fate::Conflict),
            Way::There => {}
            Way::Back => {
                let guard = old.map(|(dump, ends)| digest(&dump, ends)).unwrap_or_default();
                let (keys, token) = match lease {
                    Some((lease, token)) => (vec![from.to_vec(), lease], token),
                    None => (vec![from.to_vec()], String::new()),
                };
                let time = ends.to_string();
                let args: [&[u8]; 4] = [guard.as_bytes(), time.as_bytes(), &dump, token.as_bytes()];
                let step = Step::new((0, db), &self.scripts.bring, keys, &args);
                if self.take_one(&step)? == Some(Reply::Integer(3)) {
                    return Ok(Fate::Conflict);
                }
            }
        }
        let digest = digest(&dump, ends);
        let step =
            Step::new((0, home), &self.scripts.unmake, vec![to.to_vec()], &[digest.as_bytes()]);
        let is_changed = self.take_one(&step)? == Some(Reply::Integer(3));
        Ok(if is_changed { Fate::Conflict } else { Fate::Undone })
    }

    /// Removes a converted value that a run has put there which was killed before it noted that.
    fn unmake(&mut self, db: u64, key: &[u8], made: (i64, &[u8])) -> Result<Fate, Error> {
        let Some((dump, ends)) = self.value(db, key)? else { return Ok(Fate::Same) };
        let holds = self.content(db, key)?.map(|it| it.digest());
        if (ends, holds.unwrap_or_default().as_bytes()) != made {
            return Ok(Fate::Conflict);
        }
        let digest = digest(&dump, ends);
        let step =
            Step::new((0, db), &self.scripts.unmake, vec![key.to_vec()], &[digest.as_bytes()]);
        Ok(match self.take_one(&step)? {
            Some(Reply::Integer(0)) => Fate::Same,
            Some(Reply::Integer(1)) => Fate::Undone,
            _ => Fate::Conflict,
        })
    }

    /// Reads both names, and decides what becomes of the value. `returns` if it goes where there is none.
    fn look(
        &mut self,
        (db, from): (u64, &[u8]),
        (home, to): (u64, &[u8]),
        returns: bool,
        new_counts: bool,
    ) -> Result<Found, Error> {
        let (old, new) = (self.value(db, from)?, self.value(home, to)?);
        let Some((dump, ends)) = new else {
            return Ok(Found { old, new: (Vec::new(), -1), way: Way::None });
        };
        let is_same = match &old {
            Some(old) if *old == (dump.clone(), ends) => true,
            Some((_, old_ends)) if *old_ends == ends => {
                let here = self.content(db, from)?;
                here.is_some() && here == self.content(home, to)?
            }
            _ => false,
        };
        let way = match &old {
            _ if is_same => Way::There,
            None if returns => Way::Back,
            None => Way::There,
            Some(_) if new_counts => Way::Back,
            Some(_) => Way::Conflict,
        };
        Ok(Found { old, new: (dump, ends), way })
    }

    /// Takes the lease beside an old name, whoever has it: nobody fills that name while the new one counts. `None` if
    /// nothing can stand beside it.
    fn lease(
        &mut self,
        (db, from): (u64, &[u8]),
        to: &[u8],
    ) -> Result<Option<(Vec<u8>, String)>, Error> {
        let names = std::str::from_utf8(from).ok().zip(std::str::from_utf8(to).ok());
        let lease = names.and_then(|(from, to)| {
            derived(&prefix_of(self.schema, to), from, Derived::Lease.word())
        });
        let Some(lease) = lease.map(String::into_bytes) else { return Ok(None) };
        let token = crate::make::id()?;
        let set: [&[u8]; 5] = [b"SET", &lease, token.as_bytes(), b"PX", LEASE];
        self.ask(db, &[(&lease, set.to_vec())])?;
        Ok(Some((lease, token)))
    }

    fn take_one(&mut self, step: &Step) -> Result<Option<Reply>, Error> {
        let call = step.call.iter().map(Vec::as_slice).collect();
        Ok(self.ask(step.db, &[(&step.key, call)])?.pop())
    }

    fn value(&mut self, db: u64, key: &[u8]) -> Result<Option<(Vec<u8>, i64)>, Error> {
        let requests = [(key, vec![&b"DUMP"[..], key]), (key, vec![&b"PEXPIRETIME"[..], key])];
        let replies = self.ask(db, &requests)?;
        Ok(match &replies[..] {
            [Reply::Bytes(dump), Reply::Integer(ends)] => Some((dump.clone(), *ends)),
            _ => None,
        })
    }

    fn exists(&mut self, db: u64, key: &[u8]) -> Result<bool, Error> {
        let found = self.ask(db, &[(key, vec![&b"EXISTS"[..], key])])?.pop();
        Ok(found == Some(Reply::Integer(1)))
    }

    /// What a key holds; `None` if it is not of a type that can be compared.
    fn content(&mut self, db: u64, key: &[u8]) -> Result<Option<Content>, Error> {
        let replies = self.ask(db, &[(key, vec![&b"TYPE"[..], key])])?;
        let Some(Reply::Status(kind)) = replies.first() else { return Ok(None) };
        let Some((command, args)) = Content::reading(kind).and_then(|it| it.split_first()) else {
            return Ok(None);
        };
        let call = [*command, key].into_iter().chain(args.iter().copied()).collect();
        let reply = self.ask(db, &[(key, call)])?.pop();
        Ok(reply.and_then(|reply| Content::read(kind, reply)))
    }

    /// Takes steps, many at once.
    fn take(&mut self, steps: &mut Vec<Step>, all: bool) -> Result<(), Error> {
        if steps.is_empty() || (steps.len() < BATCH && !all) {
            return Ok(());
        }
        self.control.wait()?;
        let steps = std::mem::take(steps);
        for group in steps.chunk_by(|one, other| one.db == other.db) {
            let Some(first) = group.first() else { continue };
            let request = |step: &'_ Step| -> (Vec<u8>, Vec<Vec<u8>>) {
                (step.key.clone(), step.call.clone())
            };
            let owned: Vec<_> = group.iter().map(request).collect();
            let requests: Vec<(&[u8], Vec<&[u8]>)> = owned
                .iter()
                .map(|(key, call)| (key.as_slice(), call.iter().map(Vec::as_slice).collect()))
                .collect();
            let replies = self.ask(first.db, &requests)?;
            let fate = |step: &Step, reply: Reply| match reply {
                Reply::Integer(1) if step.is_counted => Fate::Counted,
                Reply::Integer(1) => Fate::Undone,
                Reply::Integer(0 | 2) => Fate::Same,
                _ => Fate::Conflict,
            };
            let fates = group.iter().zip(replies);
            let fates = fates.map(|(step, reply)| (step.number, &step.key[..], fate(step, reply)));
            self.settle(&fates.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Notes what became of records. Those that are settled are so for good, whatever becomes of their keys and of this run:
    /// nothing is brought back twice.
    fn settle(&mut self, all: &[(u64, &[u8], Fate)]) -> Result<(), Error> {
        let settled = all.iter().filter(|it| it.2 != Fate::Conflict);
        let mut settled: Vec<u64> = settled.map(|it| it.0).collect();
        settled.sort_unstable();
        let runs = settled.chunk_by(|one, other| one + 1 == *other);
        let runs = runs.filter_map(|run| Some((*run.first()?, *run.last()?)));
        let runs: Vec<Record> = runs.map(|(first, last)| Record::Settled { first, last }).collect();
        self.journal.write(&runs, false)?;
        for (_, key, fate) in all {
            self.note(key, *fate);
        }
        Ok(())
    }

    fn note(&mut self, key: &[u8], fate: Fate) {
        match fate {
            Fate::Undone => {
                self.undone.undone += 1;
                self.control.changed(1);
            }
            Fate::Counted => {}
            Fate::Same => self.undone.same += 1,
            Fate::Conflict => {
                self.undone.conflicts += 1;
                if self.undone.examples.len() < SHOWN {
                    self.undone.examples.push(self.mask.unknown(key).to_string());
                }
            }
        }
    }

    /// Asks the servers that have the keys; an error ends the undo, which can be begun again.
    fn ask(&mut self, db: u64, requests: &[(&[u8], Vec<&[u8]>)]) -> Result<Vec<Reply>, Error> {
        let router = match self.routers.remove(&db) {
            Some(router) => router,
            None => Router::beside(&self.primaries, db, &self.scripts)?,
        };
        let router = self.routers.entry(db).or_insert(router);
        let replies = router.ask(requests)?;
        for ((key, _), reply) in requests.iter().zip(&replies) {
            if let Reply::Error(reply) = reply {
                let address = router.server(key).to_owned();
                let (command, reply) = ("a step of the undo", reply.clone());
                return Err(live::Error::Reply { address, command, reply }.into());
            }
        }
        Ok(replies)
    }
}

fn letter_digest(db: u64, dead: &[u8], letter: &[u8]) -> [u8; 20] {
    let mut sha = sha1_smol::Sha1::from(db.to_le_bytes());
    sha.update(&(dead.len() as u64).to_le_bytes());
    sha.update(dead);
    sha.update(letter);
    sha.digest().bytes()
}

/// A name in the slot of a key that nothing else has.
fn aside(key: &[u8]) -> Vec<u8> {
    if hash_tag(key).len() == key.len() {
        [b"~undo:{", key, b"}"].concat()
    } else {
        [key, b"~{undo}"].concat()
    }
}
