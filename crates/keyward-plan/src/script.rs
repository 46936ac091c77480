//! The steps at the server, each a script that checks what must hold and changes one key.

use keyward::{mutant, shared};
use keyward_audit::live::{Error, Primary, Reply, Requests};
use std::borrow::Cow;

/// A script, known by its digest.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    text: Cow<'static, str>,
    digest: String,
}

/// All of them.
#[derive(Debug, Clone)]
pub(crate) struct Scripts {
    pub(crate) relocate: Script,
    pub(crate) rename: Script,
    pub(crate) remove: Script,
    pub(crate) end: Script,
    pub(crate) shorten: Script,
    pub(crate) back: Script,
    pub(crate) bring: Script,
    pub(crate) restore: Script,
    pub(crate) lengthen: Script,
    pub(crate) place: Script,
    pub(crate) unmake: Script,
    pub(crate) unlease: Script,
    pub(crate) trim: Script,
    pub(crate) untrim: Script,
    pub(crate) prune: Script,
    pub(crate) rejoin: Script,
    /// The store's own, for a list and for a stream
    pub(crate) push: [Script; 2],
    /// The store's own
    pub(crate) letters: Script,
    pub(crate) purge: Script,
    pub(crate) bury: Script,
    pub(crate) forget: Script,
    /// The store's own
    pub(crate) index: Script,
    pub(crate) read: Script,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        let own = |text| Script::new(mutant::text(text));
        Scripts {
            relocate: own(concat!(include_str!("lua/same.lua"), include_str!("lua/relocate.lua"))),
            rename: own(include_str!("lua/rename.lua")),
            remove: own(include_str!("lua/remove.lua")),
            end: own(include_str!("lua/end.lua")),
            shorten: own(include_str!("lua/shorten.lua")),
            back: own(concat!(include_str!("lua/same.lua"), include_str!("lua/back.lua"))),
            bring: own(include_str!("lua/bring.lua")),
            restore: own(concat!(include_str!("lua/same.lua"), include_str!("lua/restore.lua"))),
            lengthen: own(include_str!("lua/lengthen.lua")),
            place: own(include_str!("lua/place.lua")),
            unmake: own(include_str!("lua/unmake.lua")),
            unlease: own(include_str!("lua/unlease.lua")),
            trim: own(include_str!("lua/trim.lua")),
            untrim: own(include_str!("lua/untrim.lua")),
            prune: own(include_str!("lua/prune.lua")),
            rejoin: own(include_str!("lua/rejoin.lua")),
            push: shared::PUSH.map(own),
            letters: own(shared::LETTERS),
            purge: Script::new(
                [shared::UNBURY, mutant::text(include_str!("lua/purge.lua"))].concat(),
            ),
            bury: own(include_str!("lua/bury.lua")),
            forget: own(include_str!("lua/forget.lua")),
            index: own(shared::INDEX),
            read: own(include_str!("lua/read.lua")),
        }
    }

    /// Makes a server know them.
    pub(crate) fn load(&self, primary: &mut Primary) -> Result<(), Error> {
        let all = [
            &self.relocate,
            &self.rename,
            &self.remove,
            &self.end,
            &self.shorten,
            &self.back,
            &self.bring,
            &self.restore,
            &self.lengthen,
            &self.place,
            &self.unmake,
            &self.unlease,
            &self.trim,
            &self.untrim,
            &self.prune,
            &self.rejoin,
            &self.push[0],
            &self.push[1],
            &self.letters,
            &self.purge,
            &self.bury,
            &self.forget,
            &self.index,
            &self.read,
        ];
        for script in all {
            let answer = primary.command(&[b"SCRIPT", b"LOAD", script.text.as_bytes()])?;
            if let Reply::Error(reply) = answer {
                let address = primary.name.clone();
                return Err(Error::Reply { address, command: "SCRIPT LOAD", reply });
            }
        }
        Ok(())
    }
}

impl Script {
    fn new(text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        Script { digest: sha1_smol::Sha1::from(&*text).digest().to_string(), text }
    }

    /// The beginning of a call that changes something, up to its keys.
    pub(crate) fn command(&self, keys: usize) -> Vec<Vec<u8>> {
        vec![b"EVALSHA".to_vec(), self.digest.clone().into_bytes(), keys.to_string().into_bytes()]
    }

    /// Adds a call to what is sent. Only one that changes nothing may be sent as such.
    pub(crate) fn call(&self, requests: &mut Requests, act: bool, keys: &[&[u8]], args: &[&[u8]]) {
        let count = keys.len().to_string();
        let command: &[u8] = if act { b"EVALSHA" } else { b"EVALSHA_RO" };
        let mut all: Vec<&[u8]> = vec![command, self.digest.as_bytes(), count.as_bytes()];
        all.extend_from_slice(keys);
        all.extend_from_slice(args);
        requests.add(&all);
    }
}

/// The digest by which scripts know a value again: of what DUMP gives, and of when the key ends.
pub(crate) fn digest(dump: &[u8], ends: i64) -> String {
    let mut sha = sha1_smol::Sha1::from(dump);
    sha.update(ends.to_string().as_bytes());
    sha.digest().to_string()
}
