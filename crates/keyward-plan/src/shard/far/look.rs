//! Both sides of a key that is far from its new name, and what is to be done with it.

use super::super::near::relocation;
use super::super::{Shard, Task, Value, settled};
use super::Found;
use crate::change::{How, Outcome};
use crate::content::Content;
use crate::error::Error;
use crate::script::digest;
use keyward_audit::live::{Reply, Requests};

impl Shard<'_> {
    /// Reads both sides, and decides what is to be done. Versions are read first: what is newer than they say by then
    /// has ended the lease.
    pub(super) fn look_far(&mut self, tasks: Vec<Task>) -> Result<Vec<Found>, Error> {
        let newer = self.newer(&tasks)?;
        let keys: Vec<Vec<u8>> = tasks.iter().map(|task| task.key.clone()).collect();
        let kinds = self.kinds(&keys)?;
        let values = self.read_values(&keys)?;
        let mut contents = Vec::new();
        for (task, kind) in tasks.iter().zip(&kinds) {
            contents.push(match relocation(task).and_then(|it| it.convert) {
                Some(convert) => {
                    let content = self.content(&task.key, kind)?;
                    content.and_then(|content| content.convert(convert, self.pass.now))
                }
                None => None,
            });
        }
        let targets = self.targets(&tasks)?;
        let mut all = Vec::new();
        let sides = tasks.into_iter().zip(kinds).zip(values.into_iter().zip(targets));
        for ((((task, kind), (value, target)), converted), newer) in sides.zip(contents).zip(newer)
        {
            let Value::There { dump, ends } = value else {
                let outcome =
                    if let Value::TooLarge = value { Outcome::TooLarge } else { Outcome::Gone };
                let (source, dump) = (String::new(), Vec::new());
                all.push(Found {
                    task,
                    source,
                    ends: -1,
                    dump,
                    converted: None,
                    target,
                    outcome,
                    deleted: false,
                    placed: Vec::new(),
                });
                continue;
            };
            let source = digest(&dump, ends);
            let (outcome, deleted, placed) = (Outcome::Done, false, Vec::new());
            let mut found =
                Found { task, source, ends, dump, converted, target, outcome, deleted, placed };
            found.outcome = self.judge(&found, &kind)?;
            if found.outcome == Outcome::Done && matches!(found.target, Value::Gone) {
                match newer {
                    Some(newer) => found.deleted = newer,
                    None => found.outcome = Outcome::Unsettled,
                }
            }
            all.push(found);
        }
        Ok(all)
    }

    fn judge(&mut self, found: &Found, kind: &str) -> Result<Outcome, Error> {
        let Some(it) = relocation(&found.task) else { return Ok(Outcome::Gone) };
        if it.convert.is_some() {
            if found.converted.as_ref().is_none_or(Content::is_nothing) {
                return Ok(Outcome::WrongType);
            }
        } else if it.kind.as_deref().is_some_and(|wanted| wanted != kind) {
            return Ok(Outcome::WrongType);
        }
        let Value::There { dump, ends } = &found.target else {
            return Ok(if let Value::TooLarge = found.target {
                Outcome::TooLarge
            } else {
                Outcome::Done
            });
        };
        let same = *ends == found.ends
            && match (&found.converted, it.kind.as_deref()) {
                (Some(wanted), Some(kind)) => {
                    let there = self.content_at(&it.to, kind)?;
                    there.is_some_and(|there| wanted.is_same(&there))
                }
                _ if *dump == found.dump => true,
                // The members of a set or a hash have no order, so that equal ones may be stored differently.
                _ => {
                    let (key, to) = (found.task.key.clone(), it.to.clone());
                    let here = self.content(&key, kind)?;
                    here.is_some() && here == self.content_at(&to, kind)?
                }
            };
        Ok(match (same, it.how) {
            (true, How::Rename) | (false, How::Over) => Outcome::Done,
            (true, _) => Outcome::Same,
            (false, How::Absent) => Outcome::Differs,
            (false, How::Rename) => Outcome::Taken,
        })
    }

    /// The types of keys, as the server names them.
    pub(in crate::shard) fn kinds(&mut self, keys: &[Vec<u8>]) -> Result<Vec<String>, Error> {
        let mut requests = Requests::default();
        for key in keys {
            requests.add(&[b"TYPE", key]);
        }
        self.primary.send(&requests)?;
        let mut kinds = Vec::new();
        for _ in keys {
            kinds.push(match self.primary.reply()? {
                Reply::Status(kind) => kind,
                Reply::Error(reply) => settled(&self.primary, &reply).map(|_| String::new())?,
                _ => String::new(),
            });
        }
        Ok(kinds)
    }

    /// What stands under the new names.
    fn targets(&mut self, tasks: &[Task]) -> Result<Vec<Value>, Error> {
        let names: Vec<&[u8]> =
            tasks.iter().filter_map(|task| Some(relocation(task)?.to.as_bytes())).collect();
        let requests = names.iter().flat_map(|name| {
            let of = |command: &'static [u8]| (*name, vec![command, *name]);
            [of(b"DUMP"), of(b"PEXPIRETIME")]
        });
        let requests: Vec<_> = requests.collect();
        let mut replies = self.router()?.ask(&requests)?.into_iter();
        let mut values = Vec::new();
        while let (Some(dump), Some(ends)) = (replies.next(), replies.next()) {
            values.push(self.value(dump, ends)?);
        }
        Ok(values)
    }

    /// The content of an old value; `None` if it is not of a type that is converted.
    fn content(&mut self, key: &[u8], kind: &str) -> Result<Option<Content>, Error> {
        let Some(command) = reading(kind, key) else { return Ok(None) };
        Ok(Content::read(kind, self.primary.command(&command)?))
    }

    /// The content of a new value.
    fn content_at(&mut self, key: &str, kind: &str) -> Result<Option<Content>, Error> {
        let Some(command) = reading(kind, key.as_bytes()) else { return Ok(None) };
        let reply = self.router()?.ask(&[(key.as_bytes(), command)])?.pop();
        Ok(reply.and_then(|reply| Content::read(kind, reply)))
    }
}

/// The command that reads a value of this type.
fn reading<'k>(kind: &str, key: &'k [u8]) -> Option<Vec<&'k [u8]>> {
    let (command, args) = Content::reading(kind)?.split_first()?;
    Some([*command, key].into_iter().chain(args.iter().copied()).collect())
}
