//! Lists.

use super::handle::{Handle, malformed, understand};
use super::request::Request;
use super::write::{Command, Mode, about};
use crate::definition::Keep;
use crate::kind::{Declared, List};
use crate::{Codec, Definition, Error, Key};
use redis::Value;

/// The length to which a collection is trimmed, if it is.
pub(crate) fn trimmed_to(definition: &'static Definition) -> Option<i64> {
    let max = definition.behaviour.max_len.filter(|_| !definition.behaviour.refuse_when_full)?;
    i64::try_from(max).ok()
}

impl<'s, K: Key, V, C: Codec<V>, L> Handle<'s, K, List<V, C>, L>
where
    V: Send + 's,
{
    /// The items from one place to another, both included; negative places count from the end: `0, -1`
    /// is all of them.
    pub fn range(&self, first: i64, last: i64) -> Request<'s, Vec<V>> {
        let ask = |name: &str| {
            let mut cmd = about("LRANGE", name);
            cmd.arg(first).arg(last);
            cmd
        };
        self.read_renewing(ask, |answer| {
            let items: Vec<Vec<u8>> = understand::<_, K>(answer)?;
            items.iter().map(|bytes| decode::<K, V, C>(bytes)).collect()
        })
    }

    /// How many items there are.
    pub fn len(&self) -> Request<'s, u64> {
        self.read("LLEN", |_| {})
    }
}

impl<'s, K: Key, V, C: Codec<V>> Handle<'s, K, List<V, C>, Declared>
where
    V: Send + 's,
{
    /// Puts items at the end; how many there are then. Where the list is full, the first ones go. With
    /// `on_full = "refuse"` or `keep = "first"` what does not fit is refused.
    pub fn push_back<'v>(&self, items: impl IntoIterator<Item = &'v V>) -> Request<'s, u64>
    where
        V: 'v,
    {
        self.push("RPUSH", items, Keep::Last)
    }

    /// Puts items in front, one after the other; how many there are then. Where the list is full, the
    /// last ones go. With `on_full = "refuse"` or `keep = "last"` what does not fit is refused.
    pub fn push_front<'v>(&self, items: impl IntoIterator<Item = &'v V>) -> Request<'s, u64>
    where
        V: 'v,
    {
        self.push("LPUSH", items, Keep::First)
    }

    /// Takes the first item.
    pub fn pop_front(&self) -> Request<'s, Option<V>> {
        self.pop("LPOP")
    }

    /// Takes the last item.
    pub fn pop_back(&self) -> Request<'s, Option<V>> {
        self.pop("RPOP")
    }

    fn push<'v>(
        &self,
        command: &str,
        items: impl IntoIterator<Item = &'v V>,
        end: Keep,
    ) -> Request<'s, u64>
    where
        V: 'v,
    {
        let items: Result<Vec<Vec<u8>>, String> = items.into_iter().map(C::encode).collect();
        let items = match items {
            Ok(items) if items.is_empty() => return self.len(),
            Ok(items) => items,
            Err(why) => return Request::known(self.core, K::NAME, Err(malformed::<K>(why))),
        };
        let mut commands: Vec<Command> =
            items.chunks(1000).map(|chunk| Command::new(command).arg(chunk)).collect();
        let behaviour = &K::DEFINITION.behaviour;
        // What was pushed must not be what is trimmed.
        let refuse = behaviour.refuse_when_full || behaviour.keep.is_some_and(|keep| keep != end);
        commands.extend(trimmed_to(K::DEFINITION).filter(|_| !refuse).map(|max| match end {
            Keep::First => Command::new("LTRIM").arg(0).arg(max - 1),
            Keep::Last => Command::new("LTRIM").arg(-max).arg(-1),
        }));
        commands.push(Command::new("LLEN"));
        self.write_with(Mode::Part, commands, behaviour.keep_ttl, refuse).map(|answers| {
            let len = answers.and_then(|mut answers| answers.pop());
            understand::<_, K>(len.unwrap_or(Value::Int(0)))
        })
    }

    fn pop(&self, command: &str) -> Request<'s, Option<V>> {
        self.write(Mode::Present, vec![Command::new(command)]).map(|answers| {
            let item = answers.and_then(|answers| answers.into_iter().next());
            let bytes: Option<Vec<u8>> = understand::<_, K>(item.unwrap_or(Value::Nil))?;
            bytes.map(|bytes| decode::<K, V, C>(&bytes)).transpose()
        })
    }
}

fn decode<K: Key, V, C: Codec<V>>(bytes: &[u8]) -> Result<V, Error> {
    C::decode(bytes).map_err(malformed::<K>)
}
