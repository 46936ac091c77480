//! What seems to disagree on a live server is read once more: a change during the audit is not a contradiction.
//!
//! All keys that one disagreement is about are watched (`WATCH`) while they are read, so that what is compared was true at one
//! moment. Where a user may not do that, who says it is asked before and after who does not, which leaves a small chance
//! that keys change there and back between.

mod related;

use crate::checks::{Audit, Class, Kept, Located, PlannedAgreement};
use crate::counts::{Counts, Pair, Relations, Saying, Side};
use crate::live::client::{Client, page};
use crate::live::connection::Reply;
use crate::live::{self, Options};
use keyward_fact::{KeyType, thousands};
use keyward_schema::model::Law;
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

/// How often everything must be found wrong, and how long apart: longer than a change takes.
const ROUNDS: usize = 3;
const APART: Duration = Duration::from_millis(100);
/// How often it is read again because a key changed while it was read.
const TRIES: usize = 5;
/// The most statements of one index that are read again, and the most elements of a set that are looked at for one.
const MOST: usize = 256;
const MOST_ELEMENTS: usize = 10_000;

const DENIED: &str = "some members of indexes, or keys in a cycle, seemed wrong and could not be read again: they are not \
                      reported, because this user may not run SISMEMBER, ZSCORE, SSCAN, GET or HGET";
const DENIED_RELATIONS: &str = "some references of relations seemed wrong and could not be read again: they are not \
                                reported, because this user may not run SISMEMBER, ZSCORE, LPOS, SSCAN, ZSCAN, LRANGE or GET";
const TOO_FAR: &str = "some references of closures seemed wrong and were not read again: they are not reported, because too \
                       many steps lead there";

impl Audit {
    /// Reads again what disagrees, and takes back what does not any more or cannot be read.
    pub(crate) fn recheck(
        &self,
        counts: &mut Counts,
        url: &str,
        options: &Options,
    ) -> Result<(), live::Error> {
        let mut wrong = self.wrong(counts);
        if !wrong.is_empty() {
            let clients = BTreeMap::new();
            let mut reader = Reader {
                audit: self,
                url,
                options,
                clients,
                watches: true,
                denied: false,
                walked: 0,
                too_far: false,
            };
            let is_related = |it: &Wrong| matches!(it, Wrong::Related(..) | Wrong::Closure(..));
            let related = wrong.iter().any(is_related);
            for round in 0..ROUNDS {
                if round > 0 {
                    sleep(APART);
                }
                let mut still = Vec::new();
                for it in wrong {
                    if let Wrong::Closure(number, sayings) = it {
                        let found = reader.at_one_moment(|reader| {
                            reader.still_lacking(counts, number, sayings.clone())
                        })?;
                        let (kept, gone) = found.unwrap_or((Vec::new(), sayings));
                        Wrong::Closure(number, gone).take_back(self, counts);
                        still.extend((!kept.is_empty()).then_some(Wrong::Closure(number, kept)));
                    } else if reader.at_one_moment(|reader| reader.is_still(counts, &it))?
                        == Some(true)
                    {
                        still.push(it);
                    } else {
                        it.take_back(self, counts);
                    }
                }
                wrong = still;
            }
            let denied = if related { DENIED_RELATIONS } else { DENIED };
            let notes = [reader.denied.then_some(denied), reader.too_far.then_some(TOO_FAR)];
            if let Some(source) = counts.sources.first_mut() {
                notes.into_iter().flatten().for_each(|note| source.note(note));
            }
        }
        counts.agreements.iter_mut().for_each(|it| it.rechecked = true);
        counts.relations.iter_mut().for_each(Relations::set_rechecked);
        Ok(())
    }

    /// All that is wrong as it was read.
    fn wrong(&self, counts: &mut Counts) -> Vec<Wrong> {
        let mut all = Vec::new();
        for (number, planned) in self.agreements.iter().enumerate() {
            let (wrong, ..) = counts.agreements[number].disagreements(planned.must_know());
            for (at, saying) in wrong.into_iter().enumerate() {
                let it = Wrong::Saying(number, saying);
                if at < MOST { all.push(it) } else { it.take_back(self, counts) }
            }
        }
        for number in 0..self.relations.len() {
            all.extend(self.wrong_relations(number, counts));
        }
        for (number, chain) in counts.chains.iter().enumerate() {
            let steps = chain.cycles().into_iter().flatten();
            all.extend(steps.map(|from| Wrong::Step(number, from)));
        }
        all
    }

    /// What two relations disagree about as they were read; of a closure, the smallest trees first.
    fn wrong_relations(&self, number: usize, counts: &mut Counts) -> Vec<Wrong> {
        let planned = &self.relations[number];
        let relations = &counts.relations[number];
        let (mut wrong, ..) = relations.disagreements(planned.law, planned.is_symmetric());
        if planned.law == Law::Closure {
            wrong.sort_by_cached_key(|it| (relations.reached_from(it.member), it.member));
        }
        let left_out = wrong.split_off(wrong.len().min(MOST));
        if !left_out.is_empty()
            && let Some(source) = counts.sources.first_mut()
        {
            let name = &self.outline.definitions[planned.own.definition].name;
            source.note(format!(
                "{} more references of `{name}` seemed wrong and were not read again: they are not counted",
                thousands(left_out.len() as u64)
            ));
        }
        for saying in left_out {
            Wrong::Related(number, saying).take_back(self, counts);
        }
        if planned.law != Law::Closure {
            return wrong.into_iter().map(|saying| Wrong::Related(number, saying)).collect();
        }
        let by_root = wrong.chunk_by(|one, other| one.member == other.member);
        by_root.map(|sayings| Wrong::Closure(number, sayings.to_vec())).collect()
    }
}

impl PlannedAgreement {
    /// Whether a member that its own side does not know says nothing: it may be gone.
    pub(crate) fn must_know(&self) -> bool {
        self.kept != Kept::Reverse
    }
}

/// What is read again.
enum Wrong {
    Saying(usize, Saying),
    Step(usize, u64),
    Related(usize, Saying),
    /// What is wrong with the closure from one key
    Closure(usize, Vec<Saying>),
}

impl Wrong {
    fn take_back(&self, audit: &Audit, counts: &mut Counts) {
        match self {
            Wrong::Related(number, saying) => {
                counts.relations[*number].take_back(audit.relations[*number].law, saying);
            }
            Wrong::Closure(number, sayings) => {
                let relations = &mut counts.relations[*number];
                for saying in sayings {
                    relations.take_back(Law::Closure, saying);
                }
            }
            Wrong::Saying(number, saying) => counts.agreements[*number].take_back(saying),
            Wrong::Step(number, from) => counts.chains[*number].take_back(*from),
        }
    }
}

struct Reader<'r> {
    audit: &'r Audit,
    url: &'r str,
    options: &'r Options,
    /// By database
    clients: BTreeMap<u64, Client>,
    /// Whether keys are watched while they are read: not every user may
    watches: bool,
    /// Whether something could not be read again
    denied: bool,
    /// How many keys were read to follow steps, and whether there were more
    walked: usize,
    too_far: bool,
}

impl Reader<'_> {
    /// What was read while none of the keys changed; `None` if they change all the time.
    fn at_one_moment<T>(
        &mut self,
        read: impl Fn(&mut Self) -> Result<T, live::Error>,
    ) -> Result<Option<T>, live::Error> {
        for _ in 0..TRIES {
            let found = read(self)?;
            let mut is_unchanged = true;
            for client in self.clients.values_mut() {
                is_unchanged &= client.is_unchanged()?;
            }
            if is_unchanged {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn is_still(&mut self, counts: &Counts, wrong: &Wrong) -> Result<bool, live::Error> {
        match wrong {
            Wrong::Saying(number, saying) => {
                let Some(pair) = counts.agreements[*number].pair(saying) else { return Ok(false) };
                // Whoever says it is asked before and after the other: a change between the two reads is seen.
                let said = self.says(*number, saying, pair, saying.side)?;
                let other = if saying.side == Side::Set { Side::Member } else { Side::Set };
                Ok(said == Some(true)
                    && self.says(*number, saying, pair, other)? == Some(false)
                    && self.says(*number, saying, pair, saying.side)? == Some(true))
            }
            Wrong::Step(number, from) => {
                let Some(((db, key), to)) = counts.chains[*number].step(*from) else {
                    return Ok(false);
                };
                let planned = &self.audit.chains[*number];
                let value = match &planned.field {
                    None => self.ask(*db, key, &["GET", key])?,
                    Some(field) => self.ask(*db, key, &["HGET", key, field])?,
                };
                let (Reply::Bytes(value), mut places) = (value, Vec::new()) else {
                    return Ok(false);
                };
                let next = self
                    .located(*db, key, &mut places)
                    .and_then(|at| planned.next(self.audit, at, &value));
                Ok(next.is_some_and(|next| self.audit.mask.salt.hash(&next) == to))
            }
            Wrong::Related(number, saying) => {
                let Some(link) = counts.relations[*number].link(saying) else { return Ok(false) };
                self.is_still_related(&self.audit.relations[*number], saying.side, &link)
            }
            Wrong::Closure(..) => Ok(false),
        }
    }

    /// Whether one side says it now; `None` if that cannot be known.
    fn says(
        &mut self,
        number: usize,
        saying: &Saying,
        pair: &Pair,
        side: Side,
    ) -> Result<Option<bool>, live::Error> {
        let audit = self.audit;
        let (planned, salt) = (&audit.agreements[number], audit.mask.salt);
        let Pair { db, set, own, element } = pair;
        match (side, &planned.kept) {
            (Side::Set, _) if saying.side == Side::Set => {
                let is_sorted = audit.definitions[planned.index].key_type == Some(KeyType::Zset);
                let command = if is_sorted { "ZSCORE" } else { "SISMEMBER" };
                let found = self.ask(*db, set, &[command, set, element])?;
                Ok(Some(matches!(found, Reply::Integer(1) | Reply::Bytes(_))))
            }
            (Side::Set, _) => self.any(*db, set, |at, element| {
                let Some((member, set)) = planned.in_set(audit, at, element) else { return false };
                saying.is(salt, &member, &set)
            }),
            (Side::Member, Kept::Param(_)) => Ok(Some(false)),
            (Side::Member, Kept::Field(field)) => {
                let value = self.ask(*db, own, &["HGET", own, field])?;
                let (Reply::Bytes(value), mut places) = (value, Vec::new()) else {
                    return Ok(None);
                };
                Ok(self.located(*db, own, &mut places).map(|at| {
                    let (member, set) = planned.by_member(at, &value);
                    saying.is(salt, &member, &set)
                }))
            }
            (Side::Member, Kept::Reverse) => self.any(*db, own, |at, element| {
                let (member, set) = planned.by_member(at, element);
                saying.is(salt, &member, &set)
            }),
        }
    }

    /// Whether any element of a set is wanted; `None` if it has too many, or is not a set.
    fn any(
        &mut self,
        db: u64,
        key: &str,
        is_wanted: impl Fn(Located<'_>, &[u8]) -> bool,
    ) -> Result<Option<bool>, live::Error> {
        let mut places = Vec::new();
        let Some(at) = self.located(db, key, &mut places) else { return Ok(None) };
        let (mut cursor, mut looked_at) = ("0".to_owned(), 0);
        loop {
            let reply = self.ask(db, key, &["SSCAN", key, &cursor, "COUNT", "1000"])?;
            let Some((next, elements)) = page(reply) else { return Ok(None) };
            if elements.iter().any(|element| is_wanted(at, element)) {
                return Ok(Some(true));
            }
            looked_at += elements.len();
            if next == "0" {
                return Ok(Some(false));
            }
            if looked_at > MOST_ELEMENTS {
                return Ok(None);
            }
            cursor = next;
        }
    }

    fn located<'k>(
        &self,
        db: u64,
        key: &'k str,
        places: &'k mut Vec<std::ops::Range<usize>>,
    ) -> Option<Located<'k>> {
        let class = self.audit.classify(db, key.as_bytes(), places);
        matches!(class, Class::Defined(_)).then(|| Located { db, key: key.as_bytes(), places })
    }

    /// What a server answers, an error of the key's included.
    fn ask(&mut self, db: u64, key: &str, args: &[&str]) -> Result<Reply, live::Error> {
        if !self.clients.contains_key(&db) {
            let options = Options { db: (db > 0).then_some(db), ..self.options.clone() };
            self.clients.insert(db, Client::open(self.url, &options)?);
        }
        let Some(client) = self.clients.get_mut(&db) else { return Ok(Reply::Nil) };
        self.watches = self.watches && client.watch(key)?;
        let answer = client.ask_any(key, args)?;
        self.denied |= matches!(&answer, Reply::Error(reply) if reply.starts_with("NOPERM"));
        Ok(answer)
    }
}
