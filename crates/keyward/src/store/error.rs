//! What can go wrong between an application and its server.

use std::fmt;
use std::sync::Arc;

/// Why a store could not do what it was asked. No cache operation that has a fallback returns it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    /// The server cannot be reached, or does not answer in time. Nothing was changed, unless the call does no harm a second
    /// time, such as a push with an id: repeat it
    Unavailable(Cause),
    /// The answer to a call that changes something was lost: it may or may not have happened. It is not
    /// sent again, since a count or a push would then happen twice. Read the value to learn more, or
    /// repeat the call if doing it twice does no harm
    Unknown(Cause),
    /// The server has not answered lately, and is not asked for a while
    BreakerOpen,
    /// The server refused
    Refused {
        /// The definition, if it was about one
        definition: Option<&'static str>,
        /// The first word of its answer: `OOM`, `NOPERM`, `READONLY`
        code: String,
        /// The rest of it
        message: String,
    },
    /// Another type stands under the key than was declared
    WrongType {
        /// The definition
        definition: &'static str,
    },
    /// What stands under the key is not what was declared
    Malformed {
        /// The definition
        definition: &'static str,
        /// The field of a hash, if it is about one
        field: Option<String>,
        /// What is wrong
        why: String,
    },
    /// A collection has reached the schema's `max_len`, and what does not fit is refused
    Full {
        /// The definition
        definition: &'static str,
        /// The bound
        max_len: u64,
    },
    /// What was revoked cannot be used or made again: a session, or a family of refresh tokens
    Revoked {
        /// The definition
        definition: &'static str,
    },
    /// A refresh token was used again after its successor had been given out: somebody else has it. What came after it was
    /// revoked
    Reused {
        /// The definition
        definition: &'static str,
    },
    /// A lock was lost before the work was done: it could not be renewed in time, or somebody else released it
    Lost {
        /// The definition
        definition: &'static str,
    },
    /// Fewer replicas confirmed a lock in time than the schema's `replicas` asks for. It was released again
    Unreplicated {
        /// The definition
        definition: &'static str,
        /// How many the schema asks for
        wanted: u64,
        /// How many confirmed it
        confirmed: u64,
    },
    /// While a migration lasts, the key's names are in different slots of a cluster: a change that depends on what is
    /// there cannot be made under both in one step. Write the value whole, or wait for the phase `cleanup`
    CrossesSlots {
        /// The definition
        definition: &'static str,
    },
    /// A URL, a binding or another setting that cannot be used
    Settings(String),
}

/// How a server says that it cannot count.
const NO_NUMBER: &str = "value is not an integer";

/// What servers answer that are there and cannot do anything for the moment.
const NOT_READY: [&str; 8] = [
    "LOADING",
    "READONLY",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "BUSY",
    "MISCONF",
    "NOREPLICAS",
];

impl Error {
    /// Whether there is no answer, or the server is not ready to do what it was asked: it loads, or is not
    /// a primary any more. Then it says nothing about the data, and later it may answer. An
    /// [`Unknown`](Error::Unknown) change may have happened all the same.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Error::Unavailable(_)
            | Error::Unknown(_)
            | Error::BreakerOpen
            | Error::Unreplicated { .. } => true,
            Error::Refused { code, .. } => NOT_READY.contains(&code.as_str()),
            _ => false,
        }
    }

    /// What went wrong in one word, as metrics have it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Error::Unavailable(_) => "unavailable",
            Error::Unknown(_) => "unknown",
            Error::BreakerOpen => "breaker_open",
            Error::Refused { .. } => "refused",
            Error::WrongType { .. } => "wrong_type",
            Error::Malformed { .. } => "malformed",
            Error::Full { .. } => "full",
            Error::Revoked { .. } => "revoked",
            Error::Reused { .. } => "reused",
            Error::Lost { .. } => "lost",
            Error::Unreplicated { .. } => "unreplicated",
            Error::CrossesSlots { .. } => "crosses_slots",
            Error::Settings(_) => "settings",
        }
    }

    /// From an answer of the client library; no type of it is part of ours.
    pub(crate) fn from_redis(error: &redis::RedisError) -> Self {
        let lost = error.is_io_error()
            || error.is_timeout()
            || error.is_connection_dropped()
            || error.is_connection_refusal();
        match error.code() {
            Some(code) if !lost => Error::Refused {
                definition: None,
                code: code.to_owned(),
                message: error.detail().unwrap_or_default().to_owned(),
            },
            _ => Error::Unavailable(Cause::new(error.clone())),
        }
    }

    /// The same error after something was changed, or may have been.
    pub(crate) fn after_a_change(self) -> Self {
        match self {
            Error::Unavailable(cause) => Error::Unknown(cause),
            Error::BreakerOpen => Error::Unknown(self.to_string().into()),
            other => other,
        }
    }

    /// From an error that a script has caught.
    pub(crate) fn from_script(why: &str) -> Self {
        let (code, message) = why.split_once(' ').unwrap_or((why, ""));
        Error::Refused { definition: None, code: code.to_owned(), message: message.to_owned() }
    }

    /// The same error about a definition, where the server has refused.
    pub(crate) fn about(self, definition: &'static str) -> Self {
        match self {
            Error::Refused { code, .. } if code == "WRONGTYPE" => Error::WrongType { definition },
            Error::Refused { message, .. } if message.starts_with(NO_NUMBER) => Error::Malformed {
                definition,
                field: None,
                why: "it is not a whole number".to_owned(),
            },
            Error::Refused { definition: None, code, message } => {
                Error::Refused { definition: Some(definition), code, message }
            }
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unavailable(cause) => write!(f, "the server does not answer: {cause}"),
            Error::Unknown(cause) => write!(
                f,
                "the answer was lost, and the change may or may not have happened: {cause}"
            ),
            Error::BreakerOpen => {
                f.write_str("the server has not answered lately and is given a rest")
            }
            Error::Refused { definition: None, code, message } => {
                write!(f, "the server refused: {code} {message}")
            }
            Error::Refused { definition: Some(definition), code, message } => {
                write!(f, "the server refused a command about `{definition}`: {code} {message}")
            }
            Error::WrongType { definition } => {
                write!(f, "the key of `{definition}` holds another type than was declared")
            }
            Error::Malformed { definition, field: None, why } => {
                write!(f, "the value of `{definition}` is not what was declared: {why}")
            }
            Error::Malformed { definition, field: Some(field), why } => {
                write!(f, "the field `{field}` of `{definition}` is not what was declared: {why}")
            }
            Error::Full { definition, max_len } => {
                write!(f, "`{definition}` holds at most {max_len} elements, and is full")
            }
            Error::Revoked { definition } => write!(f, "the key of `{definition}` was revoked"),
            Error::Reused { definition } => write!(
                f,
                "a key of `{definition}` was used twice, and what came after it was revoked"
            ),
            Error::Lost { definition } => {
                write!(f, "the lock `{definition}` was lost before the work was done")
            }
            Error::Unreplicated { definition, wanted, confirmed } => write!(
                f,
                "the lock `{definition}` needs {wanted} replicas, and {confirmed} confirmed it in time"
            ),
            Error::CrossesSlots { definition } => write!(
                f,
                "`{definition}` is being renamed from one slot to another, and this change depends on what is there: \
                 write the value whole, or wait for the phase `cleanup`"
            ),
            Error::Settings(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Unavailable(cause) | Error::Unknown(cause) => cause.source(),
            _ => None,
        }
    }
}

/// Why a server could not be asked, or its answer was lost.
#[derive(Debug, Clone)]
pub struct Cause {
    why: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Cause {
    fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Cause { why: error.to_string(), source: Some(Arc::new(error)) }
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl From<String> for Cause {
    fn from(why: String) -> Self {
        Cause { why, source: None }
    }
}

impl From<&str> for Cause {
    fn from(why: &str) -> Self {
        why.to_owned().into()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}
