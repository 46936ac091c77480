//! Whom a plan forgets. The value is given to each command, and never part of a file: a plan has a salted hash of it.

use crate::error::Error;
use crate::make::id;
use serde::{Deserialize, Serialize};

/// A hash of an id of eight digits is found by trial; each trial costs this many rounds.
const ROUNDS: usize = 20_000;

/// A person or tenant that is forgotten: the parameter, and a salted hash of its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The parameter: `user_id`, or `user.id` where other definitions use its name for something else
    pub param: String,
    /// What the hash begins with
    pub salt: String,
    /// The hash of the value
    pub hash: String,
}

impl Subject {
    /// The subject with this value.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new(param: &str, value: &str) -> Result<Self, Error> {
        let salt = id()?;
        Ok(Subject { param: param.to_owned(), hash: hash(&salt, value), salt })
    }

    /// The value, if it is the one that was planned.
    pub(crate) fn expect<'v>(&self, given: Option<&'v (String, String)>) -> Result<&'v str, Error> {
        let Some((param, value)) = given else {
            return Err(Error::refused(
                format!("the plan does not have the value of `{}`", self.param),
                format!("give it again: `--subject {}=…`", self.param),
            ));
        };
        if *param == self.param && hash(&self.salt, value) == self.hash {
            return Ok(value);
        }
        Err(Error::refused(
            format!("the plan forgets another `{}`", self.param),
            "give the value that it was planned with: `--subject`",
        ))
    }

    /// The definition that the parameter is of, if that was given, and its name.
    pub(crate) fn parts(&self) -> (Option<&str>, &str) {
        match self.param.split_once('.') {
            Some((definition, param)) => (Some(definition), param),
            None => (None, &self.param),
        }
    }
}

fn hash(salt: &str, value: &str) -> String {
    let mut sha = sha1_smol::Sha1::from(salt);
    sha.update(value.as_bytes());
    for _ in 0..ROUNDS {
        sha = sha1_smol::Sha1::from(sha.digest().bytes());
    }
    sha.digest().to_string()
}
