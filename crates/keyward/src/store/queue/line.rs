//! One queue: the keys that its scripts touch, and what the schema says about them.

use crate::definition::Definition;
use crate::kind::Queue;
use crate::store::core::Core;
use crate::store::error::Error;
use crate::store::handle::Handle;
use crate::store::linked::Linked;
use crate::store::lua::Lua;
use crate::store::names::Names;
use crate::store::request::Call;
use crate::store::ttl::pick;
use crate::{Key, Keyspace, shared, slot};
use redis::Cmd;
use std::sync::Arc;

/// A queue at a server.
pub(crate) struct Line {
    pub(crate) core: Arc<Core>,
    pub(crate) definition: &'static Definition,
    /// `~jobs`, the list or the stream, and the other derived keys
    keys: [String; 7],
    pub(crate) status: Option<Projection>,
    pub(crate) dead: Option<Linked>,
    /// What is said of dead letters that are the values themselves
    pub(crate) notes: Option<String>,
}

/// How the status of a job is written.
pub(crate) struct Projection {
    pub(crate) definition: &'static Definition,
    /// The fields that are written, each with how a time is spelled: `created_at:t`
    pub(crate) spec: String,
    /// The key of a job's id
    key: KeyOfId,
}

type KeyOfId = Box<dyn Fn(&str) -> Result<String, Error> + Send + Sync>;

impl Projection {
    /// How long a status lives from now on; 0 is for ever.
    pub(crate) fn ttl(&self) -> u64 {
        pick(self.definition.ttl, self.definition.behaviour.jitter).unwrap_or(0)
    }
}

impl<K: Key, V, C, L> Handle<'_, K, Queue<V, C>, L> {
    /// The queue that pushes go to: while it is renamed, that of the name that counts.
    ///
    /// # Errors
    /// If a definition that it names cannot be used, or lies in another slot.
    pub(crate) fn line(&self) -> Result<Line, Error> {
        self.line_at(self.names.pushed())
    }

    /// The queues that jobs are taken from: while it is renamed, those of old names first.
    ///
    /// # Errors
    /// See [`line`](Handle::line).
    pub(crate) fn lines(&self) -> Result<Vec<Line>, Error> {
        self.names.worked().into_iter().map(|name| self.line_at(name)).collect()
    }

    /// The key of a job's status, if the schema has one. `name` is the key of the list or the stream.
    ///
    /// # Errors
    /// If the id does not fit the parameter, or the key lies in another slot.
    pub(crate) fn status_key(&self, name: &str, id: &str) -> Result<Option<String>, Error> {
        let Some(definition) = Self::link("status") else { return Ok(None) };
        let Some(param) = K::DEFINITION.behaviour.job_id else {
            return Err(Error::Settings(format!(
                "`{}` needs a `job_id`: the parameter of `{}` that is the id of a job",
                K::NAME,
                definition.name
            )));
        };
        let Some(linked) = self.linked("status", &[(param, id)])? else { return Ok(None) };
        same_slot(self.core, K::NAME, name, &linked)?;
        Ok(Some(linked.names.name))
    }

    fn line_at(&self, name: &str) -> Result<Line, Error> {
        let Some(core) = self.core.me().upgrade() else { return Err(Error::BreakerOpen) };
        let keys = keys_of(&self.names, name).ok_or_else(|| lonely(K::NAME))?;
        let dead = self.linked("dead_letter", &[])?;
        if let Some(dead) = &dead {
            same_slot(&core, K::NAME, name, dead)?;
        }
        let noted = dead.as_ref().filter(|_| K::DEFINITION.behaviour.dead_as_is);
        let notes = noted
            .map(|dead| dead.names.derived("letters").ok_or_else(|| lonely(dead.definition.name)));
        let status = projection::<K>(&core, &self.key, &self.prefix, name)?;
        Ok(Line { core, definition: K::DEFINITION, keys, status, dead, notes: notes.transpose()? })
    }
}

fn lonely(name: &str) -> Error {
    Error::Settings(format!(
        "`{name}` has a `}}` outside of a hash tag, so that nothing can be kept beside it: change its pattern"
    ))
}

fn keys_of(names: &Names, name: &str) -> Option<[String; 7]> {
    let beside = shared::WORDS.map(|word| names.derived_of(name, word));
    let [jobs, taken, leases, due, ready, done] = beside;
    Some([jobs?, name.to_owned(), taken?, leases?, due?, ready?, done?])
}

fn projection<K: Key>(
    core: &Arc<Core>,
    key: &K,
    prefix: &<K::Keyspace as Keyspace>::Prefix,
    name: &str,
) -> Result<Option<Projection>, Error> {
    let Some(definition) = Handle::<K, (), ()>::link("status") else { return Ok(None) };
    let spec = spec(definition)?;
    let (core, key, prefix) = (core.clone(), key.clone(), prefix.clone());
    let name = name.to_owned();
    let key_of = move |id: &str| {
        let queue = Handle::<K, Queue<(), ()>, ()>::new(&core, key.clone(), &prefix);
        queue.status_key(&name, id)?.ok_or_else(|| Error::Settings(K::NAME.to_owned()))
    };
    Ok(Some(Projection { definition, spec, key: Box::new(key_of) }))
}

fn spec(status: &'static Definition) -> Result<String, Error> {
    let fields: Vec<_> =
        status.fields.iter().map(|field| (field.name, field.kind, field.optional)).collect();
    shared::spec(status.key_type, &fields).map_err(|why| {
        Error::Settings(format!("`{}` cannot hold the status of a job: {why}", status.name))
    })
}

fn same_slot(core: &Core, name: &str, list: &str, other: &Linked) -> Result<(), Error> {
    if !core.is_cluster() || slot(list.as_bytes()) == slot(other.names.name.as_bytes()) {
        return Ok(());
    }
    Err(Error::Settings(format!(
        "`{name}` and `{}` are in different slots: give their patterns the same hash tag, as in `{{#job_type}}`",
        other.definition.name
    )))
}

impl Line {
    /// The key of the list or the stream.
    pub(crate) fn name(&self) -> &str {
        &self.keys[1]
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.definition.key_type == Some("stream")
    }

    /// The script for lists or for streams.
    pub(crate) fn suited(&self, [list, stream]: &'static [Lua; 2]) -> &'static Lua {
        if self.is_stream() { stream } else { list }
    }

    /// The keys of the dead letters: their notes where they have some, and they themselves.
    pub(crate) fn dead_keys(&self) -> impl Iterator<Item = &str> {
        let dead = self.dead.iter().map(|dead| dead.names.name.as_str());
        self.notes.iter().map(String::as_str).chain(dead)
    }

    pub(crate) fn taken(&self) -> &str {
        &self.keys[2]
    }

    pub(crate) fn keys(&self) -> &[String; 7] {
        &self.keys
    }

    /// A call of a script about the queue, and about other keys of its slot.
    pub(crate) fn call(
        &self,
        script: &'static Lua,
        more: &[&str],
        args: impl FnOnce(&mut Cmd),
    ) -> Call {
        let mut keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        keys.extend(more);
        script.call(&keys, args)
    }

    /// The key of a job's status, with its spec and its TTL, where the schema has one and the job an id.
    ///
    /// # Errors
    /// If the id does not fit the parameter.
    pub(crate) fn status_of(&self, id: &str) -> Result<StatusKey<'_>, Error> {
        match &self.status {
            Some(status) if is_given(id) => Ok(StatusKey {
                key: Some((status.key)(id)?),
                spec: &status.spec,
                ttl: status.ttl(),
            }),
            _ => Ok(StatusKey { key: None, spec: "", ttl: 0 }),
        }
    }

    /// The same where nothing may stop a job from ending: without a key if the id does not fit, as after a change of the
    /// schema.
    pub(crate) fn status_if_any(&self, id: &str) -> StatusKey<'_> {
        self.status_of(id).unwrap_or_else(|error| {
            self.core.failures.note(self.definition.name, &error);
            StatusKey { key: None, spec: "", ttl: 0 }
        })
    }

    /// Notes that a status could not be written although the job was changed.
    pub(crate) fn note_status(&self, failed: Option<&str>) {
        let (Some(why), Some(status)) = (failed, &self.status) else { return };
        let name = status.definition.name;
        self.core.failures.note(name, &Error::from_script(why).about(name));
    }

    pub(crate) fn error(&self, error: Error) -> Error {
        error.about(self.definition.name)
    }
}

/// Where a job's status stands; without a key nothing is written.
pub(crate) struct StatusKey<'l> {
    pub(crate) key: Option<String>,
    pub(crate) spec: &'l str,
    pub(crate) ttl: u64,
}

/// Whether an application gave this id: one that begins with `=` stands for a payload.
pub(crate) fn is_given(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('=')
}
