//! What is done with one key.

use keyward_schema::model::Convert;
use std::sync::Arc;

/// What is done with one key. Each is one step at the server, which first checks what must hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    /// To another name
    Relocate(Relocation),
    /// Away; its value goes into the journal first
    Remove {
        /// The name under which it must be as well, or it stays
        unless_lone: Option<String>,
        /// What Keyward keeps beside it, which goes with it
        beside: Vec<String>,
    },
    /// Away if none of its old names is there, which count: it is a copy that outlived its original
    Orphan {
        /// The old names
        old: Vec<String>,
        /// What Keyward keeps beside it, which goes with it; without it, it stays for a person to decide
        beside: Option<Vec<String>>,
    },
    /// It is a queue under an old name, or stands beside one: all of it goes once it is empty
    End(OldQueue),
    /// Something, if other names are there or not
    If(Box<Condition>),
    /// Away, and nothing is kept of it
    Discard {
        /// What Keyward keeps beside it, which goes with it
        beside: Vec<String>,
    },
    /// It is a list of dead letters, which leave it
    Unbury(Arc<Grave>),
    /// It names somebody who is forgotten, or may do so
    Forget(Arc<Forgetting>),
    /// None, for this reason
    Stay(Outcome),
    /// It lives no longer than this from now on
    Shorten {
        /// In milliseconds
        ttl: u64,
        /// Which keys are meant
        whose: Ending,
    },
    /// It loses what it has above its bound; that goes into the journal first
    Trim(Trim),
    /// It loses members that name keys which are gone or say otherwise; these go into the journal first
    Prune,
}

/// A queue under an old name, or dead letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OldQueue {
    /// The list or the stream, and what stands beside it
    pub(crate) keys: Vec<String>,
    /// Which of them was found
    pub(crate) place: usize,
    /// The type that it must have, as the server names it
    pub(crate) kind: String,
    /// Whether the phase is `cleanup`, so that it goes
    pub(crate) is_over: bool,
    /// Whether workers take its jobs
    pub(crate) is_served: bool,
}

/// What must hold of other names before something is done with a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    /// A name that must be there, and its type if it must have one
    pub(crate) needs: Option<(String, Option<String>)>,
    /// Names of which none may be there
    pub(crate) unless: Vec<String>,
    pub(crate) then: Change,
}

/// What a member of a set names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// A key that must be there
    Key(String),
    /// A field of a key that must agree, where it is there
    Field(String, String),
    /// A key that cannot be in this set
    Wrong,
}

/// What a collection is trimmed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trim {
    /// The type that it must have, as the server names it; empty for any
    pub(crate) kind: String,
    /// How many entries it may have
    pub(crate) max: u64,
    /// The end that stays, `first` or `last`; empty where none is declared
    pub(crate) keep: &'static str,
}

/// Which keys end earlier than they would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All that end later than they should, or never
    Late,
    /// Those that never end
    Never,
    /// Those that end, but later than in so many milliseconds
    After(u64),
}

/// A key's way to another name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Relocation {
    pub(crate) to: String,
    pub(crate) how: How,
    /// The type that it must have, as the server names it
    pub(crate) kind: Option<Arc<str>>,
    /// The last fences of a lock under both names, which must not go back
    pub(crate) fences: Option<Box<(String, String)>>,
    /// How its value becomes another one
    pub(crate) convert: Option<Convert>,
    /// The indexes by which events find the new name, and for how many milliseconds they remember it longer
    pub(crate) indexes: (Vec<String>, u64),
}

/// What is done with a key that names somebody, or may do so.
#[derive(Debug, PartialEq)]
pub(crate) struct Forgetting {
    pub(crate) definition: String,
    /// What Keyward keeps beside it, which goes with it
    pub(crate) beside: Vec<String>,
    /// What is looked for in its value; nothing if its name says it
    pub(crate) looks: Vec<Look>,
    /// Whether it is a sorted set of keys, of which those leave it that name them
    pub(crate) lists: bool,
}

/// What is looked for in a value.
#[derive(Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) place: Place,
    pub(crate) wanted: Arc<Vec<Vec<u8>>>,
}

/// A place in a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A field without which the hash is not whole
    Field(String),
    /// A field that may be missing
    Optional(String),
    /// The whole value
    Text,
    Set,
    Sorted,
    List,
}

impl Place {
    /// Whether the whole key goes with it.
    pub(crate) fn takes_key(&self) -> bool {
        matches!(self, Place::Field(_) | Place::Text)
    }

    /// As the script names it, and the field.
    pub(crate) fn words(&self) -> (&'static str, &str) {
        match self {
            Place::Field(field) => ("field", field),
            Place::Optional(field) => ("optional", field),
            Place::Text => ("text", ""),
            Place::Set => ("set", ""),
            Place::Sorted => ("zset", ""),
            Place::List => ("list", ""),
        }
    }
}

/// The dead letters of one queue.
#[derive(Debug, PartialEq)]
pub(crate) struct Grave {
    /// Whether they are removed, and not pushed again
    pub(crate) purges: bool,
    /// The queue: `~jobs`, the list or the stream, and the other keys that its scripts expect
    pub(crate) keys: [String; 7],
    /// The name of the queue in the schema, and its old ones while it is renamed
    pub(crate) names: Vec<String>,
    /// Where it is noted why jobs failed, if their letters are the values themselves
    pub(crate) notes: Option<String>,
    pub(crate) is_stream: bool,
    /// The most jobs that may wait; negative if older ones go then, and 0 without a bound
    pub(crate) bound: i64,
    /// Letters of jobs that failed later stay
    pub(crate) until: u64,
}

impl Grave {
    /// The key of the list or the stream.
    pub(crate) fn queue(&self) -> &str {
        &self.keys[1]
    }

    /// Its name in the schema.
    pub(crate) fn own(&self) -> &str {
        self.names.first().map_or(self.queue(), String::as_str)
    }

    /// Whether a letter says that it is of this queue.
    pub(crate) fn is_of(&self, queue: &str) -> bool {
        self.names.iter().any(|name| name == queue)
    }
}

/// Where the status of a job is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatusKey {
    pub(crate) key: String,
    /// The fields, as the scripts of a queue read them
    pub(crate) spec: String,
    /// In milliseconds; 0 is for ever
    pub(crate) ttl: u64,
}

/// What is left under the old name, and what may stand under the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// The old name counts: its value replaces what the new one has
    Over,
    /// The new name counts: it gets a value only where it has none
    Absent,
    /// The old name is given up; the new one must be free
    Rename,
}

impl How {
    pub(crate) fn word(self) -> &'static str {
        match self {
            How::Over => "over",
            How::Absent => "absent",
            How::Rename => "rename",
        }
    }
}

/// What became of one key, or would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It is not there any more
    Gone,
    /// It was changed, or would be
    Done,
    /// It is already as it should be
    Same,
    /// Another key has its new name
    Taken,
    /// It has another type than its definition
    WrongType,
    /// The new name, which counts, has another value
    Differs,
    /// It stands under its old name alone
    Lone,
    /// What it would replace or remove must go into the journal first, or has changed since it did
    Unsaved,
    /// It is too large to be kept in the journal
    TooLarge,
    /// Its new name cannot be built from its old one
    Nowhere,
    /// It is above its bound, and no end of it may be trimmed
    NoEnd,
    /// The phase of its migration still uses this old name
    InUse,
    /// The dead letter holds no job that could be pushed
    NoJob,
    /// The job failed after the plan was made
    Later,
    /// A job with its id waits, runs or is retained
    Held,
    /// The queue is full
    Full,
    /// It is a queue that has jobs, which nobody takes
    Holds,
    /// It is a queue that has jobs, which workers take under both names
    Served,
    /// It is a queue without jobs, which the phase still uses
    Drained,
    /// It stands beside a queue that another of its keys was counted for
    Beside,
    /// Another old name of the same key counts
    Superseded,
    /// Its old name is not spelled as old names are
    Misspelt,
    /// It looks like an old name, and cannot be read as one
    Unread,
    /// The server could not say now: a slot moves, or a primary changes
    Unsettled,
}

impl Outcome {
    /// As scripts answer.
    pub(crate) fn of(code: i64) -> Option<Self> {
        Some(match code {
            0 => Outcome::Gone,
            1 => Outcome::Done,
            2 => Outcome::Same,
            3 => Outcome::Taken,
            4 => Outcome::WrongType,
            5 => Outcome::Unsaved,
            6 => Outcome::Differs,
            7 => Outcome::Lone,
            8 => Outcome::NoEnd,
            9 => Outcome::Holds,
            10 => Outcome::Beside,
            _ => return None,
        })
    }

    /// Whether a person must decide what becomes of it.
    pub(crate) fn is_conflict(self) -> bool {
        matches!(
            self,
            Outcome::Taken
                | Outcome::WrongType
                | Outcome::Lone
                | Outcome::Misspelt
                | Outcome::TooLarge
                | Outcome::Nowhere
                | Outcome::InUse
                | Outcome::NoEnd
                | Outcome::NoJob
                | Outcome::Held
                | Outcome::Full
                | Outcome::Holds
        )
    }
}
