//! Connections to all servers, for keys that are not where another one is.

use crate::error::Error;
use crate::script::Scripts;
use keyward_audit::live::{Primary, Reply, Requests};
use keyward_pattern::slot;

/// Connections to all servers, in one database.
pub(crate) struct Router {
    primaries: Vec<Primary>,
}

impl Router {
    /// Connections of its own beside these.
    pub(crate) fn beside(primaries: &[Primary], db: u64, scripts: &Scripts) -> Result<Self, Error> {
        let mut own = Vec::new();
        for primary in primaries {
            let mut primary = primary.again()?;
            primary.select(db)?;
            scripts.load(&mut primary)?;
            own.push(primary);
        }
        Ok(Router { primaries: own })
    }

    /// The server that has a key.
    pub(crate) fn server(&self, key: &[u8]) -> &str {
        let owner = self.primaries.iter().find(|primary| primary.has(slot(key)));
        owner.map_or("the cluster", |primary| &primary.name)
    }

    /// Sends each request to the server that has its key, all at once, and gives the replies in their order.
    pub(crate) fn ask(&mut self, requests: &[(&[u8], Vec<&[u8]>)]) -> Result<Vec<Reply>, Error> {
        let mut replies: Vec<Option<Reply>> = vec![None; requests.len()];
        let is_at = |primary: &Primary, key: &[u8]| primary.has(slot(key));
        for primary in &mut self.primaries {
            let mut own = Requests::default();
            for (_, args) in requests.iter().filter(|(key, _)| is_at(primary, key)) {
                own.add(args);
            }
            primary.send(&own)?;
        }
        for primary in &mut self.primaries {
            for ((key, _), reply) in requests.iter().zip(&mut replies) {
                if is_at(primary, key) {
                    *reply = Some(primary.reply()?);
                }
            }
        }
        let nobody = || Reply::Error("CLUSTERDOWN no server has the slot".to_owned());
        Ok(replies.into_iter().map(|reply| reply.unwrap_or_else(nobody)).collect())
    }

    /// Waits until all that was sent is on disk; whether the servers can say so.
    pub(crate) fn is_durable(&mut self) -> Result<bool, Error> {
        for primary in &mut self.primaries {
            let answer = primary.command(&[b"WAITAOF", b"1", b"0", b"10000"])?;
            let Reply::Array(counts) = answer else { return Ok(false) };
            if counts.first() != Some(&Reply::Integer(1)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
