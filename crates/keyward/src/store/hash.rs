//! Hashes: single fields, several at once, and sums.

use super::error::Error;
use super::handle::{Handle, understand};
use super::request::Request;
use super::write::{Command, Mode, about};
use crate::field::{Change, Field, Number};
use crate::kind::{Declared, Hash, Plain};
use crate::{Codec, FieldError, FieldErrorKind, FieldValue, Fields, Key};
use redis::Value;

impl<'s, K: Key, F: Fields, L> Handle<'s, K, Hash<F>, L> {
    /// One field; `None` if the hash does not have it.
    ///
    /// # Errors
    /// If the server cannot be asked, or if the field does not hold what was declared.
    pub fn get_field<V: Send + 's, C: Codec<V>>(
        &self,
        field: Field<F, V, C>,
    ) -> Request<'s, Option<V>> {
        let name = field.name();
        let ask = |key: &str| {
            let mut cmd = about("HGET", key);
            cmd.arg(name);
            cmd
        };
        self.read_renewing(ask, move |answer| {
            let bytes: Option<Vec<u8>> = understand::<_, K>(answer)?;
            let value = bytes.map(|bytes| C::decode(&bytes)).transpose();
            value.map_err(|_| field_error::<K>(name, FieldErrorKind::Malformed))
        })
    }

    /// How many fields there are.
    pub fn len(&self) -> Request<'s, u64> {
        self.read("HLEN", |_| {})
    }
}

impl<'s, K: Key, F: Fields> Handle<'s, K, Hash<F>, Declared> {
    /// Sets one field; whether it was written.
    ///
    /// A hash that is not there is made only if it has no other field that must be there: half a
    /// hash could not be read back.
    pub fn set_field<V, C: Codec<V>>(&self, field: Field<F, V, C>, value: &V) -> Request<'s, bool> {
        self.update([field.to(value)])
    }

    /// Sets several fields in one step, and leaves the others alone; whether they were written. The TTL
    /// starts again, unless all of these fields have `on_write = "keep"`.
    ///
    /// A hash that is not there is made only if all fields that must be there are among them.
    pub fn update(&self, changes: impl IntoIterator<Item = Change<F>>) -> Request<'s, bool> {
        let changes = match changes_of::<K, F>(changes) {
            Ok(changes) => changes,
            Err(error) => return Request::known(self.core, K::NAME, Err(error)),
        };
        let FieldChanges { commands, keep_ttl, .. } = changes;
        if commands.is_empty() {
            return Request::known(self.core, K::NAME, Ok(false));
        }
        let mode = if changes.complete { Mode::Part } else { Mode::Present };
        let refuse = K::DEFINITION.behaviour.refuse_when_full;
        self.write_with(mode, commands, keep_ttl, refuse).map(|answers| Ok(answers.is_some()))
    }

    /// Adds to a field, which counts as zero where it is missing; the sum. `None` if there is no
    /// hash, and a field of it alone would not be one.
    pub fn increment<N>(&self, field: Field<F, N, Plain>, by: N) -> Request<'s, Option<N>>
    where
        N: Number + FieldValue + Copy + Send + 's,
    {
        let name = field.name();
        let alone = F::REQUIRED.iter().all(|required| *required == name);
        let mode = if alone { Mode::Part } else { Mode::Present };
        let mut commands = vec![Command::new(N::INCREMENT).arg(name).arg(by.to_bytes())];
        commands.extend(field_ttls::<F>(std::iter::once(name.as_bytes())));
        let (keep_ttl, refuse) =
            (F::KEEPS_TTL.contains(&name), K::DEFINITION.behaviour.refuse_when_full);
        self.write_with(mode, commands, keep_ttl, refuse).map(move |answers| {
            let Some(sum) = answers.and_then(|answers| answers.into_iter().next()) else {
                return Ok(None);
            };
            let bytes: Vec<u8> = match sum {
                Value::Int(sum) => sum.to_string().into_bytes(),
                other => understand::<_, K>(other)?,
            };
            let sum = N::from_bytes(&bytes);
            sum.map(Some).ok_or_else(|| field_error::<K>(name, FieldErrorKind::Malformed))
        })
    }
}

/// What becomes of several fields.
pub(crate) struct FieldChanges {
    pub(crate) commands: Vec<Command>,
    /// Whether a TTL that is running stays
    pub(crate) keep_ttl: bool,
    /// Whether these fields alone are a whole hash
    pub(crate) complete: bool,
    /// The fields that change
    pub(crate) names: Vec<&'static str>,
}

/// The commands that change fields.
pub(crate) fn changes_of<K: Key, F: Fields>(
    changes: impl IntoIterator<Item = Change<F>>,
) -> Result<FieldChanges, Error> {
    let (mut set, mut removed) = (Command::new("HSET"), Command::new("HDEL"));
    let (mut written, mut names) = (Vec::new(), Vec::new());
    let mut keep_ttl = true;
    for change in changes {
        let name = change.name;
        keep_ttl &= F::KEEPS_TTL.contains(&name);
        names.push(name);
        match change.value {
            Ok(Some(bytes)) => {
                set = set.arg(name).arg(bytes);
                written.push(name);
            }
            Ok(None) if F::REQUIRED.contains(&name) => {
                return Err(field_error::<K>(name, FieldErrorKind::Missing));
            }
            Ok(None) => removed = removed.arg(name),
            Err(why) => return Err(field_error::<K>(name, FieldErrorKind::Unwritable(why))),
        }
    }
    let complete = F::REQUIRED.iter().all(|name| written.contains(name)) && !written.is_empty();
    let mut commands: Vec<Command> =
        [set, removed].into_iter().filter(|command| command.0.len() > 1).collect();
    commands.extend(field_ttls::<F>(written.iter().map(|name| name.as_bytes())));
    Ok(FieldChanges { commands, keep_ttl, complete, names })
}

pub(crate) fn field_error<K: Key>(field: &str, kind: FieldErrorKind) -> Error {
    FieldError::new(K::NAME, field, kind).into()
}

/// The commands that give fields their own TTLs.
pub(crate) fn field_ttls<'n, F: Fields>(
    names: impl Iterator<Item = &'n [u8]>,
) -> impl Iterator<Item = Command> {
    let with = |name: &'n [u8]| F::TTLS.iter().find(|(known, _)| known.as_bytes() == name);
    names
        .filter_map(with)
        .map(|(name, ttl)| Command::new("HPEXPIRE").arg(*ttl).arg("FIELDS").arg(1).arg(*name))
}

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Self {
        let why = match error.kind {
            FieldErrorKind::Missing => "it is missing".to_owned(),
            FieldErrorKind::Unknown => "the schema does not know it".to_owned(),
            FieldErrorKind::Malformed => "its bytes are not a value of its type".to_owned(),
            FieldErrorKind::Unwritable(why) => format!("it cannot be written: {why}"),
        };
        Error::Malformed { definition: error.definition, field: Some(error.field), why }
    }
}
