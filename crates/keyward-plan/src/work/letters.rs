//! `plan requeue` and `plan purge`: dead letters of queues.
//!
//! While a queue or its dead letters are renamed, letters are under both names, and jobs are pushed where stores push them:
//! to the old name in `dual-write`, and to the new one later. Workers take from both.

use super::drop::glob_of;
use super::{Work, covering, prefix_of};
use crate::change::{Change, Grave, StatusKey};
use crate::document::Row;
use crate::error::Error;
use crate::order::Buried;
use keyward::shared;
use keyward_fact::KeyType;
use keyward_pattern::{DefinitionId, derived, nearest};
use keyward_schema::model::{
    Definition, Derived, Migration, OnFull, Phase, Queue, Role, Ttl, Value,
};
use keyward_schema::{OldNames, Schema};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The dead letters of a queue, or of all queues of a definition.
pub(super) struct DeadLetters<'s> {
    schema: &'s Schema,
    queue: &'s Definition,
    role: &'s Queue,
    dead: &'s Definition,
    dead_id: DefinitionId,
    /// The status, and the fields that are written there
    status: Option<(&'s Definition, String)>,
    /// The queue, if it was named by its key
    key: Option<String>,
    /// Where its dead letters are, if that is known
    only: Option<String>,
    /// Which all names of dead letters match
    glob: Option<String>,
    /// The names that definitions had before
    names: Option<OldNames<'s>>,
    purges: bool,
    until: u64,
}

impl<'s> DeadLetters<'s> {
    pub(super) fn new(schema: &'s Schema, which: &Buried, purges: bool) -> Result<Self, Error> {
        let (queue, role, key) = named(schema, &which.queue)?;
        let Some(name) = &role.dead_letter else {
            return Err(Error::refused(
                format!("`{}` has no `dead_letter`", *queue.name),
                "name the definition that takes failed jobs: `queue = { dead_letter = \"…\" }`",
            ));
        };
        let (dead, dead_id) = definition(schema, name)?;
        let status = role.status.as_ref().map(|name| definition(schema, name)).transpose()?;
        let status = status.map(|(it, _)| Ok::<_, Error>((it, spec(it)?))).transpose()?;
        if let Some((it, _)) = &status {
            expect_settled(schema, it)?;
        }
        let mut it = DeadLetters {
            schema,
            queue,
            role,
            dead,
            dead_id,
            status,
            key: key.map(str::to_owned),
            only: None,
            glob: Some(glob_of(schema, dead_id, &BTreeMap::new())?),
            names: schema.old_names(),
            purges,
            until: which.until,
        };
        if key.is_none() && it.params(&queue.name) != it.params(&dead.name) {
            return Err(Error::refused(
                format!(
                    "the queues of `{}` share dead letters: `{}` has other parameters",
                    *queue.name, *dead.name
                ),
                "name one queue by its key",
            ));
        }
        it.only = match key {
            Some(key) => Some(it.other(key, &it.dead.name)?),
            // A queue without parameters is known by its definition.
            None => schema.compiled.definition(dead_id).build_named(&[]).ok(),
        };
        let globs = it.old(dead).filter_map(|(number, _)| it.names.as_ref()?.glob(number));
        it.glob = covering(&it.glob.iter().cloned().chain(globs).collect::<Vec<_>>());
        // The keys beside a queue need a name that they can be built from.
        if let Some(key) = &it.only
            && it.grave(key, key).is_none()
        {
            return Err(Error::refused(
                format!("nothing can be kept beside a queue of `{}`", *queue.name),
                "a `}` in its pattern must be part of a hash tag",
            ));
        }
        Ok(it)
    }

    fn params(&self, definition: &str) -> BTreeSet<&str> {
        let id = self.schema.compiled.find(definition);
        let params = id.map_or(&[][..], |id| self.schema.compiled.definition(id).params());
        params.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The key of another definition: parameters of the same name have the same values.
    fn other(&self, key: &str, definition: &str) -> Result<String, Error> {
        self.other_with(key, definition, None)
    }

    fn other_with(
        &self,
        key: &str,
        definition: &str,
        more: Option<(&str, &str)>,
    ) -> Result<String, Error> {
        let compiled = &self.schema.compiled;
        let unknown = || Error::refused("a queue has another key", "run `keyward check`");
        let parsed = compiled.parse(key.as_bytes()).ok_or_else(unknown)?;
        let names = compiled.definition(parsed.definition).params().iter();
        let own: Vec<(&str, &str)> = names
            .map(|(name, _)| name.as_str())
            .zip(parsed.values.iter().map(|it| &**it))
            .collect();
        let other = compiled.definition(compiled.find(definition).ok_or_else(unknown)?);
        let has = |name: &str| other.params().iter().any(|(it, _)| it == name);
        let own = own.into_iter().filter(|(name, _)| more.is_none_or(|(it, _)| it != *name));
        let values: Vec<(&str, &str)> = own.chain(more).filter(|(name, _)| has(name)).collect();
        other.build_named(&values).map_err(|_| {
            Error::refused(
                format!("`{}` has no key of `{definition}` for these values", *self.queue.name),
                "give both patterns the same parameters, of the same types",
            )
        })
    }

    /// The renames of a definition that stores know of, with their numbers.
    fn old(&self, definition: &Definition) -> impl Iterator<Item = (usize, &'s Migration)> {
        let all = self.names.iter().flat_map(|names| names.renames.iter().enumerate());
        let own = all.filter(|(_, (_, rename))| {
            *rename.definition == *definition.name && rename.is_known_to_stores()
        });
        own.map(|(number, (migration, _))| (number, *migration))
    }

    /// The old names of a key of a definition, with their phases.
    fn old_names(&self, definition: &Definition, own: &str) -> Vec<(Phase, String)> {
        let name = |(number, migration): (usize, &Migration)| {
            let old = self.names.as_ref()?.old_name(number, own.as_bytes()).ok()?;
            Some((migration.phase.value, old))
        };
        self.old(definition).filter_map(name).collect()
    }

    /// What the dead letters of a key are called in the schema; `None` if it is not one of dead letters.
    fn own_name(&self, key: &str) -> Option<String> {
        if self.schema.compiled.classify(key.as_bytes()) == Some(self.dead_id) {
            return Some(key.to_owned());
        }
        let found = self.names.as_ref()?.new_name(key.as_bytes(), &[])?;
        let is_ours = *found.rename.definition == *self.dead.name;
        found.key.ok().filter(|_| is_ours && found.rename.is_known_to_stores())
    }

    /// What is to be done with dead letters: `own` is what the schema calls them, and `dead` their key.
    fn grave(&self, own: &str, dead: &str) -> Option<Grave> {
        let own = match &self.key {
            Some(key) => key.clone(),
            None => self.other(own, &self.queue.name).ok()?,
        };
        let prefix = prefix_of(self.schema, &own);
        let old = self.old_names(self.queue, &own);
        let first = old.iter().find(|(phase, _)| *phase == Phase::DualWrite);
        let queue = first.map_or(&own, |(_, name)| name).clone();
        let [jobs, taken, leases, due, ready, done] =
            shared::WORDS.map(|word| derived(&prefix, &queue, word));
        let keys = [jobs?, queue, taken?, leases?, due?, ready?, done?];
        let names = std::iter::once(own).chain(old.into_iter().map(|(_, name)| name)).collect();
        let notes = match self.schema.buries_values(self.queue) {
            Some(_) => Some(derived(&prefix, dead, Derived::Letters.word())?),
            None => None,
        };
        let max = self.queue.max_len.as_ref().and_then(|max| i64::try_from(max.value).ok());
        let refuses = self.queue.on_full == OnFull::Refuse;
        let bound = max.map_or(0, |max| if refuses { max } else { -max });
        let is_stream = self.queue.key_type.as_deref() == Some(&KeyType::Stream);
        let (purges, until) = (self.purges, self.until);
        Some(Grave { purges, keys, names, notes, is_stream, bound, until })
    }
}

/// The queue that a name means, and its key if that is the name.
fn named<'s, 'n>(
    schema: &'s Schema,
    name: &'n str,
) -> Result<(&'s Definition, &'s Queue, Option<&'n str>), Error> {
    let queue = |it: &'s Definition| match it.role.as_deref() {
        Some(Role::Queue(queue)) => Some((it, &**queue)),
        _ => None,
    };
    if let Some((it, queue)) = schema.keys.iter().find(|it| *it.name == *name).and_then(queue) {
        return Ok((it, queue, None));
    }
    let found = schema.compiled.classify(name.as_bytes());
    let found = found.and_then(|id| schema.keys.get(id.index())).and_then(queue);
    if let Some((it, queue)) = found {
        return Ok((it, queue, Some(name)));
    }
    let all = schema.keys.iter().filter(|it| queue(it).is_some());
    let near = nearest(name, all.map(|it| it.name.as_str()));
    let help = near.map_or_else(
        || "name a definition with the role `queue`, or the key of one queue".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Err(Error::refused(format!("no queue has the name or the key `{name}`"), help))
}

fn definition<'s>(schema: &'s Schema, name: &str) -> Result<(&'s Definition, DefinitionId), Error> {
    let found = schema.compiled.find(name);
    let found = found.and_then(|id| Some((schema.keys.get(id.index())?, id)));
    found.ok_or_else(|| {
        Error::refused(format!("the schema has no definition `{name}`"), "run `keyward check`")
    })
}

/// While it is renamed, a status would be under two names, and a plan writes only one.
fn expect_settled(schema: &Schema, definition: &Definition) -> Result<(), Error> {
    let running = schema.migrations.iter().filter(|it| *it.phase != Phase::Cleanup);
    let mut renames = running.flat_map(|it| &it.renames);
    if renames.any(|it| *it.definition == *definition.name && it.is_known_to_stores()) {
        return Err(Error::refused(
            format!("`{}` is being renamed, and a status has one name", *definition.name),
            "end the migration first",
        ));
    }
    Ok(())
}

/// The fields of a status that are written.
fn spec(status: &Definition) -> Result<String, Error> {
    let kind = |value: &Value| match value {
        Value::Unix => "unix",
        Value::UnixMs => "unix_ms",
        _ => "",
    };
    let fields: Vec<_> = status
        .fields
        .iter()
        .map(|it| (it.name.as_str(), kind(&it.value.value), it.optional))
        .collect();
    let key_type = status.key_type.as_ref().map(|it| it.name());
    shared::spec(key_type, &fields).map_err(|why| {
        let why = format!("`{}` cannot hold the status of a job: {why}", *status.name);
        Error::refused(why, "change its fields")
    })
}

/// How long a status lives, in milliseconds; 0 is for ever.
fn ttl(status: &Definition) -> Result<u64, Error> {
    let millis = match status.ttl.as_deref() {
        None | Some(Ttl::None) => None,
        Some(ttl @ Ttl::By { .. }) => ttl.shortest(),
        Some(ttl) => ttl.longest(),
    };
    let Some(millis) = millis.map(keyward_fact::Duration::as_millis) else { return Ok(0) };
    let percent = status.jitter.as_ref().map_or(0.0, |it| it.clamp(0.0, 100.0));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1000")]
    let thousandths = (percent * 10.0) as u64;
    let most = millis.saturating_mul(thousandths) / 1000;
    let random = crate::make::random()? % (most + 1);
    Ok((millis - random).max(1))
}

impl Work for DeadLetters<'_> {
    fn rows(&self) -> Vec<Row> {
        let action = if self.purges { "purge" } else { "requeue" };
        let to = (!self.purges).then(|| self.queue.pattern.as_str().to_owned());
        vec![Row {
            to,
            destructive: self.purges,
            not_undoable: !self.purges,
            ..Row::new(action, &self.queue.name, self.dead.pattern.as_str())
        }]
    }

    fn pick(&self, _: Option<u64>, key: &[u8]) -> Option<(usize, Change)> {
        let key = std::str::from_utf8(key).ok()?;
        let own = self.own_name(key)?;
        if self.only.as_ref().is_some_and(|only| *only != own) {
            return None;
        }
        Some((0, Change::Unbury(Arc::new(self.grave(&own, key)?))))
    }

    fn known(&self) -> Option<Vec<String>> {
        let only = self.only.clone()?;
        let old = self.old_names(self.dead, &only).into_iter().map(|(_, name)| name);
        Some(old.chain([only.clone()]).collect())
    }

    fn glob(&self) -> Option<String> {
        self.glob.clone()
    }

    fn status(&self, queue: &str, id: &str) -> Result<Option<StatusKey>, Error> {
        let Some((status, spec)) = &self.status else { return Ok(None) };
        let param = self.role.job_id.as_ref().map(|it| (it.as_str(), id));
        let key = self.other_with(queue, &status.name, param)?;
        Ok(Some(StatusKey { key, spec: spec.clone(), ttl: ttl(status)? }))
    }

    fn definitions(&self) -> BTreeSet<String> {
        let status = self.status.as_ref().map(|(it, _)| it.name.value.clone());
        [self.queue.name.value.clone(), self.dead.name.value.clone()]
            .into_iter()
            .chain(status)
            .collect()
    }
}
