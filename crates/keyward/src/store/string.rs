//! What only strings have.

use super::handle::Handle;
use super::lua::{Lua, lua};
use super::request::{Call, Calls, Request};
use super::whole::sealed::Stored as _;
use crate::kind::Str;
use crate::{Codec, Key};

static TAKE: Lua = lua!("lua/take.lua");

impl<'s, K: Key, V, C: Codec<V>, L> Handle<'s, K, Str<V, C>, L>
where
    V: Clone + Send + Sync + 'static,
{
    /// The value, which is gone afterwards, with all that Keyward has derived from it. A load that has
    /// begun does not put it back.
    ///
    /// # Errors
    /// If the server cannot be asked, or if what it held is not what was declared. It is gone then
    /// too.
    pub fn get_and_delete(&self) -> Request<'s, Option<V>> {
        let others = self.names.others.iter().map(|name| self.taking(name)).collect();
        let copies = self.names.others.len() - self.names.fallbacks().len();
        let calls = Calls::group(self.taking(&self.names.name), others);
        let calls = Calls { changes: self.changes(), ..calls };
        Request::new(self.core, K::DEFINITION, calls, move |answers| {
            let rest = answers.rest.into_iter().skip(copies);
            let mut answers = std::iter::once(answers.first).chain(rest);
            let found = answers.find(|answer| *answer != redis::Value::Nil);
            found.map_or(Ok(None), |answer| <Str<V, C>>::decode(K::DEFINITION, answer))
        })
    }
    fn taking(&self, name: &str) -> Call {
        let beside = super::emit::BESIDE.map(|word| self.names.derived_of(name, word));
        // On a cluster an index is on another node, and keeps the name until its time is over.
        let indexes = if self.core.is_cluster() { &[][..] } else { &self.indexes };
        let mut keys = vec![name];
        keys.extend(beside.iter().flatten().map(String::as_str));
        keys.extend(indexes.iter().map(String::as_str));
        TAKE.call(&keys, |cmd| _ = cmd.arg(indexes.len()).arg(self.names.own()))
    }
}
