//! What only strings have.

use super::handle::Handle;
use super::request::{Calls, Request};
use super::whole::Whole;
use super::write::about;
use crate::kind::Str;
use crate::{Codec, Key};

impl<'s, K: Key, V, C: Codec<V>, L> Handle<'s, K, Str<V, C>, L>
where
    V: Clone + Send + Sync + 'static,
{
    /// The value, which is gone afterwards.
    ///
    /// # Errors
    /// If the server cannot be asked, or if what it held is not what was declared. It is gone then
    /// too.
    pub fn get_and_delete(&self) -> Request<'s, Option<V>> {
        let others = self.names.others.iter().map(|name| about("GETDEL", name).into()).collect();
        let calls = Calls::group(about("GETDEL", &self.names.name), others);
        let calls = Calls { changes: self.changes(), ..calls };
        Request::new(self.core, K::DEFINITION.name, calls, |answers| {
            let mut answers = std::iter::once(answers.first).chain(answers.rest);
            let found = answers.find(|answer| *answer != redis::Value::Nil);
            found.map_or(Ok(None), |answer| <Str<V, C>>::decode(K::DEFINITION, answer))
        })
    }
}
