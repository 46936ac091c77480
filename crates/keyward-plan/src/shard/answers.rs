//! What servers answer: values, outcomes of steps, and errors.

use super::Shard;
use crate::change::Outcome;
use crate::error::Error;
use keyward_audit::live::{self, Primary, Reply, Requests};

/// A value that is to be saved.
pub(super) enum Value {
    There { dump: Vec<u8>, ends: i64 },
    Gone,
    TooLarge,
}

impl Shard<'_> {
    /// The values of keys, as DUMP gives them, and when they end.
    pub(super) fn read_values(&mut self, keys: &[Vec<u8>]) -> Result<Vec<Value>, Error> {
        let mut requests = Requests::default();
        for key in keys {
            requests.add(&[b"DUMP", key]);
            requests.add(&[b"PEXPIRETIME", key]);
        }
        self.primary.send(&requests)?;
        let mut values = Vec::new();
        for _ in keys {
            let (dump, ends) = (self.primary.reply()?, self.primary.reply()?);
            values.push(self.value(dump, ends)?);
        }
        Ok(values)
    }

    pub(super) fn value(&self, dump: Reply, ends: Reply) -> Result<Value, Error> {
        Ok(match (dump, ends) {
            (Reply::Bytes(dump), Reply::Integer(ends)) => Value::There { dump, ends },
            (Reply::Skipped, _) => Value::TooLarge,
            // Where a slot moves, the step that follows says so.
            (Reply::Error(reply), _) | (_, Reply::Error(reply)) => {
                settled(&self.primary, &reply).map(|_| Value::Gone)?
            }
            _ => Value::Gone,
        })
    }

    pub(super) fn outcomes(&mut self, requests: &Requests) -> Result<Vec<Outcome>, Error> {
        self.outcomes_of(requests, |reply| match reply {
            Reply::Integer(code) => Outcome::of(*code),
            _ => None,
        })
    }

    pub(super) fn outcomes_of(
        &mut self,
        requests: &Requests,
        read: impl Fn(&Reply) -> Option<Outcome>,
    ) -> Result<Vec<Outcome>, Error> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        self.primary.send(requests)?;
        let mut outcomes = Vec::new();
        for _ in 0..requests.len() {
            let reply = self.primary.reply()?;
            outcomes.push(match (&reply, read(&reply)) {
                (_, Some(outcome)) => outcome,
                (Reply::Error(why), None) => settled(&self.primary, why)?,
                (other, None) => return Err(self.odd(other)),
            });
        }
        Ok(outcomes)
    }

    pub(super) fn odd(&self, reply: &Reply) -> Error {
        let got = format!("a script was answered with {}", reply.kind());
        live::Error::Garbage { address: self.primary.name.clone(), got }.into()
    }
}

/// An error that passes, for which the key is asked about again; every other one ends the pass.
pub(super) fn settled(primary: &Primary, reply: &str) -> Result<Outcome, Error> {
    const PASSING: [&str; 8] = [
        "MOVED",
        "ASK",
        "TRYAGAIN",
        "CLUSTERDOWN",
        "NOSCRIPT",
        "LOADING",
        "READONLY",
        "MASTERDOWN",
    ];
    if PASSING.iter().any(|word| reply.starts_with(word)) {
        return Ok(Outcome::Unsettled);
    }
    if reply.starts_with("OOM") {
        return Err(Error::unfinished(
            format!("{} has no memory left for a copy: {reply}", primary.name),
            "raise `maxmemory`, or remove what is not needed, and apply the plan again",
        ));
    }
    let (address, command) = (primary.name.clone(), "a step of the plan");
    Err(live::Error::Reply { address, command, reply: reply.to_owned() }.into())
}
