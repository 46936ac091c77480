//! Sets.

use super::handle::{Handle, malformed, understand};
use super::request::Request;
use super::write::{Command, Mode, about};
use crate::kind::{Declared, Set};
use crate::{Codec, Key};
use redis::Value;

impl<'s, K: Key, M, C: Codec<M>, L> Handle<'s, K, Set<M, C>, L> {
    /// Whether it has this member.
    pub fn contains(&self, member: &M) -> Request<'s, bool> {
        let member = match C::encode(member) {
            Ok(member) => member,
            Err(why) => return Request::known(self.core, K::NAME, Err(malformed::<K>(why))),
        };
        let ask = |name: &str| {
            let mut cmd = about("SISMEMBER", name);
            cmd.arg(&member);
            cmd
        };
        self.read_renewing(ask, |answer| understand::<_, K>(answer))
    }

    /// How many members there are.
    pub fn len(&self) -> Request<'s, u64> {
        self.read("SCARD", |_| {})
    }
}

impl<'s, K: Key, M, C: Codec<M>> Handle<'s, K, Set<M, C>, Declared> {
    /// Adds members; how many are new. What does not fit is refused: a set has no order to
    /// trim it by.
    pub fn add<'m>(&self, members: impl IntoIterator<Item = &'m M>) -> Request<'s, u64>
    where
        M: 'm,
    {
        self.change(Mode::Part, "SADD", members)
    }

    /// Removes members; how many were there.
    pub fn remove<'m>(&self, members: impl IntoIterator<Item = &'m M>) -> Request<'s, u64>
    where
        M: 'm,
    {
        self.change(Mode::Present, "SREM", members)
    }

    fn change<'m>(
        &self,
        mode: Mode,
        command: &str,
        members: impl IntoIterator<Item = &'m M>,
    ) -> Request<'s, u64>
    where
        M: 'm,
    {
        let members: Result<Vec<Vec<u8>>, String> = members.into_iter().map(C::encode).collect();
        let members = match members {
            Ok(members) if members.is_empty() => return Request::known(self.core, K::NAME, Ok(0)),
            Ok(members) => members,
            Err(why) => return Request::known(self.core, K::NAME, Err(malformed::<K>(why))),
        };
        let commands = members.chunks(1000).map(|chunk| Command::new(command).arg(chunk)).collect();
        self.write(mode, commands).map(|answers| {
            let counts = answers.unwrap_or_default().into_iter();
            Ok(counts
                .filter_map(
                    |it| if let Value::Int(it) = it { u64::try_from(it).ok() } else { None },
                )
                .sum())
        })
    }
}
