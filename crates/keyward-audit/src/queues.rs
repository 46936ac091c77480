//! Queues at a server, as operators may see them: what reports mask is masked here too.

use crate::hash::Salt;
use crate::live::client::{Client, page};
use crate::live::connection::Reply;
use crate::live::{Error, Options};
use crate::mask::{Mask, Masked, MaskedParam};
use keyward_fact::KeyType;
use keyward_fact::queue::{Record, State};
use keyward_pattern::{Keyspace, Owners, Part, derived};
use keyward_schema::model::{Definition, Derived, Role, Schema};
use serde::Serialize;
use std::collections::BTreeSet;

/// The most queues of one definition: more is not a queue but a misunderstanding.
const MOST: usize = 10_000;
/// The largest entry of the dead letters that is read for its error.
const LETTERS: usize = 100;

/// Reads the queues of a server.
pub struct Queues<'s> {
    client: Client,
    mask: Mask,
    schemas: &'s [Schema],
}

/// One queue.
#[derive(Debug, Clone)]
pub struct QueueName<'s> {
    schema: &'s Schema,
    definition: &'s Definition,
    key: String,
    /// The queue's key, as it may be shown
    pub shown: Masked,
}

/// How many jobs a queue has.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct QueueStats {
    /// The queue's key
    pub queue: Masked,
    /// Its definition
    pub definition: String,
    /// Jobs that could run now: entries of the list or the stream, prioritised, grouped, or tried again
    pub waiting: Option<u64>,
    /// Jobs that wait for their time: delayed, or to be tried again
    pub due: Option<u64>,
    /// Jobs that run
    pub running: Option<u64>,
    /// Jobs that have ended and are retained
    pub ended: Option<u64>,
    /// Dead letters; none where the queue has nowhere to put them
    pub dead: Option<u64>,
    /// Whether nothing is taken
    pub paused: bool,
    /// Its keys that hold another type, so that they cannot be counted: a derived key by its word, such as `~due`, any other
    /// by its definition
    pub wrong_type: Vec<String>,
}

/// What a queue knows of a job. A job without an id that waits on the list is known only by its number.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct QueuedJob {
    /// Where it is: `waiting`, `due`, `running`, `cancelling` or `ended`
    pub state: &'static str,
    /// The id that was given at push
    pub id: Option<Masked>,
    /// Its group
    pub group: Option<Masked>,
    /// From -999 to 999
    pub priority: i64,
    /// How often it has failed, or was done
    pub attempts: u64,
    /// How often its worker was lost
    pub crashes: u64,
    /// When it was pushed, or first taken; milliseconds since 1970
    pub created: u64,
    /// When its lease ends, or when it is due; milliseconds since 1970
    pub until: Option<u64>,
}

/// A dead letter.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DeadLetter {
    /// Why the job failed, where the entry says so
    pub error: Option<Masked>,
    /// The id that was given at push
    pub id: Option<Masked>,
    /// How often it was tried
    pub attempts: Option<u64>,
    /// When it failed, as RFC 3339 writes it
    pub failed_at: Option<String>,
    /// How long the entry is
    pub bytes: u64,
}

impl<'s> Queues<'s> {
    /// Connects to the servers that a URL names.
    ///
    /// # Errors
    /// If one of them cannot be asked.
    pub fn open(
        url: &str,
        options: &Options,
        schemas: &'s [Schema],
        salt: Salt,
        reveal: bool,
    ) -> Result<Self, Error> {
        let client = Client::open(url, options)?;
        Ok(Queues { client, mask: Mask::new(salt, reveal, schemas), schemas })
    }

    /// The queues that a name means: a definition's, or the one with this key. `None` if it means none.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn named(&mut self, name: &str) -> Result<Option<Vec<QueueName<'s>>>, Error> {
        for schema in self.schemas {
            let keyspace = &schema.compiled;
            for (definition, compiled) in schema.keys.iter().zip(keyspace.definitions()) {
                if !is_queue(definition) {
                    continue;
                }
                if keyspace.classify(name.as_bytes()) == Some(compiled.id()) {
                    return Ok(Some(vec![self.queue(schema, definition, name)]));
                }
                if *definition.name == name {
                    return self.all(schema, definition).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// All queues of a definition that have a job, or had one: one without parameters is there in any case.
    fn all(
        &mut self,
        schema: &'s Schema,
        definition: &'s Definition,
    ) -> Result<Vec<QueueName<'s>>, Error> {
        let keyspace: &Keyspace = &schema.compiled;
        let mut definitions = schema.keys.iter().zip(keyspace.definitions());
        let Some((_, compiled)) = definitions.find(|(it, _)| std::ptr::eq(*it, definition)) else {
            return Ok(Vec::new());
        };
        if let Ok(only) = compiled.build_named(&[]) {
            return Ok(vec![self.queue(schema, definition, &only)]);
        }
        let Ok(glob) = compiled.glob_named(&[]) else { return Ok(Vec::new()) };
        let owners = Owners::new(keyspace);
        let mut keys = BTreeSet::new();
        // A queue whose jobs all run has no list, but what is derived from it.
        self.client.find(&format!("*{glob}*"), |key| {
            let owner = match keyspace.classify(key.as_bytes()) {
                Some(_) => Some(key),
                None => owners.find(key).map(|(owner, _)| owner),
            };
            let is_own = |key: &&str| keyspace.classify(key.as_bytes()) == Some(compiled.id());
            if let Some(owner) = owner.filter(is_own).filter(|_| keys.len() < MOST) {
                keys.insert(owner.to_owned());
            }
        })?;
        Ok(keys.iter().map(|key| self.queue(schema, definition, key)).collect())
    }

    fn queue(&self, schema: &'s Schema, definition: &'s Definition, key: &str) -> QueueName<'s> {
        let mut places = Vec::new();
        let compiled = schema.compiled.locate(key.as_bytes(), &mut places);
        let params: Vec<MaskedParam> = compiled.map_or_else(Vec::new, |id| {
            let params = schema.compiled.definition(id);
            let params = params.params().iter();
            params.map(|(name, it)| MaskedParam::new(&definition.params, name, &it.ty)).collect()
        });
        let shown = self.mask.defined(key.as_bytes(), &places, &params);
        QueueName { schema, definition, key: key.to_owned(), shown }
    }

    /// How many jobs a queue has. The numbers are not of one moment, and those of keys with another type are missing.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn stats(&mut self, queue: &QueueName<'_>) -> Result<QueueStats, Error> {
        let mut wrong_type = Vec::new();
        let mut count = |command: &str, key: Option<String>, name: String| {
            let Some(key) = key else { return Ok(Some(0)) };
            let args: &[&str] = match command {
                "HEXISTS" => &[command, &key, "paused"],
                _ => &[command, &key],
            };
            match self.number(&key, args) {
                Err(error) if is_wrong_type(&error) => {
                    wrong_type.push(name);
                    Ok(None)
                }
                counted => counted.map(Some),
            }
        };
        let own = queue.definition.name.value.clone();
        let is_stream = queue.definition.key_type.as_deref() == Some(&KeyType::Stream);
        let length = if is_stream { "XLEN" } else { "LLEN" };
        let listed = count(length, Some(queue.key.clone()), own.clone())?;
        let mut beside =
            |command, word: &str| count(command, queue.derived(word), format!("~{word}"));
        let (taken, ready) = (beside("LLEN", "taken")?, beside("ZCARD", "ready")?);
        let (due, running) = (beside("ZCARD", "due")?, beside("ZCARD", "leases")?);
        let ended = beside("ZCARD", "done")?;
        let paused = beside("HEXISTS", "jobs")? == Some(1);
        let dead = match (queue.dead_letters(), queue.dead_name()) {
            (Some(key), Some(name)) => count("LLEN", Some(key), name.to_owned())?,
            _ => None,
        };
        let waiting = listed.zip(taken).zip(ready);
        Ok(QueueStats {
            queue: queue.shown.clone(),
            definition: own,
            waiting: waiting.map(|((listed, taken), ready)| listed + taken + ready),
            due,
            running,
            ended,
            dead,
            paused,
            wrong_type,
        })
    }

    /// Jobs that a queue has a record of, up to so many: those that run, are due, have an id, a priority or a group.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn jobs(&mut self, queue: &QueueName<'_>, most: usize) -> Result<Vec<QueuedJob>, Error> {
        let Some(jobs) = queue.derived("jobs") else { return Ok(Vec::new()) };
        let mut found: Vec<(String, Record)> = Vec::new();
        let mut cursor = "0".to_owned();
        while found.len() < most {
            let args = ["HSCAN", &jobs, &cursor, "MATCH", "m:*", "COUNT", "500"];
            let answer = self.client.ask(&jobs, &args)?;
            let Some((next, pairs)) = page(answer) else { return Err(strange(queue, "HSCAN")) };
            let records = pairs.chunks_exact(2).filter_map(|pair| {
                let ticket = str::from_utf8(&pair[0]).ok()?.strip_prefix("m:")?;
                Some((ticket.to_owned(), Record::parse(&pair[1])?))
            });
            found.extend(records.filter(|(_, record)| record.state != State::Withdrawn));
            if next == "0" {
                break;
            }
            cursor = next;
        }
        found.truncate(most);
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        let until = [self.scores(queue, "leases", &found)?, self.scores(queue, "due", &found)?];
        let jobs = found.into_iter().enumerate().map(|(at, (_, record))| {
            let until = until.iter().find_map(|scores| *scores.get(at)?);
            self.job(&record, until)
        });
        Ok(jobs.collect())
    }

    fn job(&self, record: &Record, until: Option<u64>) -> QueuedJob {
        let given = |text: &str| !text.is_empty() && !text.starts_with('=');
        let mask = |text: &str| self.mask.unknown(text.as_bytes());
        QueuedJob {
            state: match record.state {
                State::Due => "due",
                State::Leased => "running",
                State::Cancelling => "cancelling",
                State::Ended => "ended",
                _ => "waiting",
            },
            id: Some(&*record.id).filter(|id| given(id)).map(mask),
            group: Some(&*record.group).filter(|group| !group.is_empty()).map(mask),
            priority: record.priority,
            attempts: record.attempts,
            crashes: record.crashes,
            created: record.created,
            until,
        }
    }

    /// The scores of tickets in a derived sorted set.
    fn scores(
        &mut self,
        queue: &QueueName<'_>,
        word: &str,
        tickets: &[(String, Record)],
    ) -> Result<Vec<Option<u64>>, Error> {
        let Some(key) = queue.derived(word).filter(|_| !tickets.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut args = vec!["ZMSCORE", &key];
        args.extend(tickets.iter().map(|(ticket, _)| ticket.as_str()));
        let Reply::Array(scores) = self.client.ask(&key, &args)? else {
            return Err(strange(queue, "ZMSCORE"));
        };
        let scores = scores.into_iter().map(|score| match score {
            Reply::Bytes(text) => str::from_utf8(&text).ok()?.parse().ok(),
            _ => None,
        });
        Ok(scores.collect())
    }

    /// The last dead letters, up to so many, the oldest of them first as on the list. `None` if the queue has no `dead_letter`.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn dead(
        &mut self,
        queue: &QueueName<'_>,
        most: usize,
    ) -> Result<Option<Vec<DeadLetter>>, Error> {
        let Some(key) = queue.dead_letters() else { return Ok(None) };
        let mut letters = Vec::new();
        while letters.len() < most {
            let last = -1 - i64::try_from(letters.len()).unwrap_or(i64::MAX);
            let many = i64::try_from(LETTERS.min(most - letters.len())).unwrap_or(1);
            let (first, last) = ((last - many + 1).to_string(), last.to_string());
            let Reply::Array(entries) = self.client.ask(&key, &["LRANGE", &key, &first, &last])?
            else {
                return Err(strange(queue, "LRANGE"));
            };
            if entries.is_empty() {
                break;
            }
            let bytes = |entry| match entry {
                Reply::Bytes(entry) => Ok(entry),
                _ => Err(strange(queue, "LRANGE")),
            };
            let entries: Vec<Vec<u8>> =
                entries.into_iter().rev().map(bytes).collect::<Result<_, _>>()?;
            let notes = self.notes(queue, &key, &entries)?;
            let said = |at: usize, entry: &'_ [u8]| match &notes {
                Some(notes) => notes.get(at).and_then(Option::as_deref).map(said),
                None => Some(said(entry)),
            };
            // From the end on, until they are turned round.
            for (at, entry) in entries.iter().enumerate() {
                letters.push(self.letter(entry.len(), said(at, entry).unwrap_or_default()));
            }
        }
        letters.reverse();
        Ok(Some(letters))
    }

    /// What is noted about dead letters that are values of the queue; `None` if they are objects that say it themselves.
    fn notes(
        &mut self,
        queue: &QueueName<'_>,
        dead: &str,
        entries: &[Vec<u8>],
    ) -> Result<Option<Vec<Option<Vec<u8>>>>, Error> {
        if queue.schema.buries_values(queue.definition).is_none() {
            return Ok(None);
        }
        let prefix = queue.prefix().unwrap_or_default();
        let Some(notes) = derived(prefix, dead, Derived::Letters.word()) else { return Ok(None) };
        let fields = entries.iter().map(|entry| sha1_smol::Sha1::from(entry).digest().to_string());
        let fields: Vec<String> = fields.collect();
        let mut args = vec!["HMGET", &notes];
        args.extend(fields.iter().map(String::as_str));
        let Reply::Array(found) = self.client.ask(&notes, &args)? else {
            return Err(strange(queue, "HMGET"));
        };
        let found = found.into_iter().map(|note| match note {
            Reply::Bytes(note) => Some(note),
            _ => None,
        });
        Ok(Some(found.collect()))
    }

    fn letter(&self, bytes: usize, said: Said) -> DeadLetter {
        let mask = |text: String| self.mask.unknown(text.as_bytes());
        let is_moment = |text: &String| crate::clock::parse_rfc3339(text).is_some();
        DeadLetter {
            error: said.error.map(|error| self.mask.text(error.as_bytes())),
            id: said.id.map(mask),
            attempts: said.attempts,
            failed_at: said.failed_at.filter(is_moment),
            bytes: bytes as u64,
        }
    }

    fn number(&mut self, key: &str, args: &[&str]) -> Result<u64, Error> {
        match self.client.ask(key, args)? {
            Reply::Integer(number) => Ok(u64::try_from(number).unwrap_or(0)),
            other => {
                let command = args.first().copied().unwrap_or_default();
                let got = format!("{command} was answered with {}", other.kind());
                Err(Error::Garbage { address: "the server".to_owned(), got })
            }
        }
    }
}

/// What a worker wrote about a dead letter.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Said {
    id: Option<String>,
    error: Option<String>,
    attempts: Option<u64>,
    failed_at: Option<String>,
}

/// An entry that no worker wrote may be anything, and is known by its length.
fn said(entry: &[u8]) -> Said {
    serde_json::from_slice(entry).ok().unwrap_or_default()
}

impl QueueName<'_> {
    /// A key that is derived from the queue's.
    fn derived(&self, word: &str) -> Option<String> {
        derived(self.prefix()?, &self.key, word)
    }

    /// What the key begins with. Where the prefix has parameters, only the key says which values they have.
    fn prefix(&self) -> Option<&str> {
        let keyspace = &self.schema.compiled;
        let Some(prefix) = keyspace.prefix() else { return Some("") };
        let mut places = Vec::new();
        let id = keyspace.locate(self.key.as_bytes(), &mut places)?;
        let definition = keyspace.definition(id);
        let mut length = 0;
        for part in prefix.parts() {
            length += match part {
                Part::Literal(text) => text.len(),
                Part::Hole(hole) => {
                    let is_it = |(name, _): &(String, _)| *name == hole.name;
                    places.get(definition.params().iter().position(is_it)?)?.len()
                }
            };
        }
        self.key.get(..length)
    }

    /// The definition of its dead letters.
    fn dead_name(&self) -> Option<&str> {
        let Some(Role::Queue(queue)) = self.definition.role.as_deref() else { return None };
        Some(&queue.dead_letter.as_ref()?.value)
    }

    /// The key of its dead letters: parameters of the same name have the same values.
    fn dead_letters(&self) -> Option<String> {
        let name = self.dead_name()?;
        let keyspace = &self.schema.compiled;
        let parsed = keyspace.parse(self.key.as_bytes())?;
        let own = keyspace.definition(parsed.definition);
        let values: Vec<(&str, &str)> = { own.params().iter() }
            .zip(&parsed.values)
            .map(|((name, _), value)| (name.as_str(), value.as_ref()))
            .collect();
        let at = self.schema.keys.iter().position(|key| key.name.value == name)?;
        let dead = keyspace.definitions().nth(at)?;
        let has = |(name, _): &&(&str, &str)| dead.params().iter().any(|(own, _)| own == name);
        let values: Vec<(&str, &str)> = values.iter().filter(has).copied().collect();
        dead.build_named(&values).ok()
    }
}

/// Whether a definition is a queue that workers keep.
fn is_queue(definition: &Definition) -> bool {
    matches!(definition.role.as_deref(), Some(Role::Queue(_)))
        && matches!(definition.key_type.as_deref(), Some(KeyType::List | KeyType::Stream))
}

/// Whether a server refused because a key holds another type.
pub fn is_wrong_type(error: &Error) -> bool {
    matches!(error, Error::Reply { reply, .. } if reply.starts_with("WRONGTYPE"))
}

fn strange(queue: &QueueName<'_>, command: &str) -> Error {
    let got = format!("{command} of `{}` was answered with something else", queue.shown);
    Error::Garbage { address: "the server".to_owned(), got }
}
