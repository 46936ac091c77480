//! Fields of a hash whose names are known only when a program runs.

use super::error::Error;
use super::handle::{Handle, understand};
use super::hash::field_error;
use super::request::Request;
use super::write::{Command, Mode, about};
use crate::field::Number;
use crate::kind::{Declared, Hash};
use crate::{FieldErrorKind, FieldValue, Key, OpenFields};
use redis::Value;

impl<'s, K: Key, F: OpenFields<Other: Send + 's>, L> Handle<'s, K, Hash<F>, L> {
    /// A field that the schema does not name; `None` if the hash does not have it.
    ///
    /// # Errors
    /// If the server cannot be asked, if the field does not hold what was declared, or if the schema names it:
    /// then it has a constant of its own.
    pub fn get_other(&self, name: &str) -> Request<'s, Option<F::Other>> {
        if let Err(error) = undeclared::<K, F>(name) {
            return Request::known(self.core, K::NAME, Err(error));
        }
        let ask = |key: &str| {
            let mut cmd = about("HGET", key);
            cmd.arg(name);
            cmd
        };
        let name = name.to_owned();
        self.read_renewing(ask, move |answer| {
            let bytes: Option<Vec<u8>> = understand::<_, K>(answer)?;
            let Some(bytes) = bytes else { return Ok(None) };
            let value = F::Other::from_owned(bytes);
            value.map(Some).ok_or_else(|| field_error::<K>(&name, FieldErrorKind::Malformed))
        })
    }
}

impl<'s, K: Key, F: OpenFields<Other: Send + 's>> Handle<'s, K, Hash<F>, Declared> {
    /// Sets a field that the schema does not name; whether it was set. Where the hash has fields that must be
    /// there, it is set only if there is a hash.
    pub fn set_other(&self, name: &str, value: &F::Other) -> Request<'s, bool> {
        let command = Command::new("HSET").arg(name).arg(value.to_bytes());
        self.change_other(name, command).map(|answer| Ok(answer.is_some()))
    }

    /// Adds to a field that the schema does not name, which counts as zero where it is missing; the sum. `None`
    /// if there is no hash, and a field of it alone would not be one.
    pub fn increment_other(&self, name: &str, by: F::Other) -> Request<'s, Option<F::Other>>
    where
        F::Other: Number + Copy,
    {
        let field = name.to_owned();
        let command = Command::new(F::Other::INCREMENT).arg(name).arg(by.to_bytes());
        self.change_other(name, command).map(move |sum| {
            let Some(sum) = sum else { return Ok(None) };
            let bytes: Vec<u8> = match sum {
                Value::Int(sum) => sum.to_string().into_bytes(),
                other => understand::<_, K>(other)?,
            };
            let sum = F::Other::from_owned(bytes);
            sum.map(Some).ok_or_else(|| field_error::<K>(&field, FieldErrorKind::Malformed))
        })
    }

    /// Removes a field that the schema does not name; whether there was one.
    pub fn remove_other(&self, name: &str) -> Request<'s, bool> {
        let command = Command::new("HDEL").arg(name);
        self.change_other(name, command).map(|answer| Ok(answer == Some(Value::Int(1))))
    }

    fn change_other(&self, name: &str, command: Command) -> Request<'s, Option<Value>> {
        if let Err(error) = undeclared::<K, F>(name) {
            return Request::known(self.core, K::NAME, Err(error));
        }
        let adds = command.0[0] != b"HDEL";
        let mode = if F::REQUIRED.is_empty() && adds { Mode::Part } else { Mode::Present };
        self.write(mode, vec![command])
            .map(|answers| Ok(answers.and_then(|answers| answers.into_iter().next())))
    }
}

fn undeclared<K: Key, F: OpenFields>(name: &str) -> Result<(), Error> {
    if !F::FIELDS.contains(&name) {
        return Ok(());
    }
    let why = "the schema names it: use its constant".to_owned();
    Err(Error::Malformed { definition: K::NAME, field: Some(name.to_owned()), why })
}
