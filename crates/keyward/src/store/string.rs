//! Strings.

use super::error::Error;
use super::handle::Handle;
use crate::kind::{Declared, Str};
use crate::{Codec, Key};
use redis::Cmd;

impl<K: Key, V, C: Codec<V>, L> Handle<'_, K, Str<V, C>, L> {
    /// The value; `None` if there is none.
    ///
    /// # Errors
    /// If the server cannot be asked, or if what it holds is not what was declared.
    pub async fn get(&self) -> Result<Option<V>, Error> {
        let bytes: Option<Vec<u8>> = match self.sliding() {
            Some(ttl) => self.ask("GETEX", |cmd| _ = cmd.arg("PX").arg(ttl)).await?,
            None => self.ask("GET", |_| {}).await?,
        };
        bytes.map(|bytes| self.decode(&bytes)).transpose()
    }

    /// The value, which is gone afterwards.
    pub async fn get_and_delete(&self) -> Result<Option<V>, Error> {
        let bytes: Option<Vec<u8>> = self.ask("GETDEL", |_| {}).await?;
        bytes.map(|bytes| self.decode(&bytes)).transpose()
    }

    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<V, Error> {
        C::decode(bytes).map_err(|why| self.malformed(why))
    }
}

impl<K: Key, V, C: Codec<V>> Handle<'_, K, Str<V, C>, Declared> {
    /// Writes the value with its TTL, in one step.
    pub async fn set(&self, value: &V) -> Result<(), Error> {
        let (bytes, ttl) = (self.encode(value)?, self.ttl());
        self.ask("SET", |cmd| value_and_ttl(cmd, &bytes, ttl)).await
    }

    /// The same, unless there is a value already; whether it was written.
    pub async fn set_if_absent(&self, value: &V) -> Result<bool, Error> {
        let (bytes, ttl) = (self.encode(value)?, self.ttl());
        let written: Option<String> = self
            .ask("SET", |cmd| {
                value_and_ttl(cmd, &bytes, ttl);
                cmd.arg("NX");
            })
            .await?;
        Ok(written.is_some())
    }

    pub(crate) fn encode(&self, value: &V) -> Result<Vec<u8>, Error> {
        C::encode(value).map_err(|why| self.malformed(why))
    }
}

fn value_and_ttl(cmd: &mut Cmd, bytes: &[u8], ttl: Option<u64>) {
    cmd.arg(bytes);
    if let Some(ttl) = ttl {
        cmd.arg("PX").arg(ttl);
    }
}
