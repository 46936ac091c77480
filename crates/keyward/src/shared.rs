//! What the store and `keyward plan` share, so that there is one algorithm: what pushes a dead letter again, and what
//! notes a key in an index. It needs neither a client nor a runtime.

/// A script with what all scripts of a queue share.
macro_rules! script {
    ($($file:literal),+) => {
        concat!(
            "#!lua\n",
            include_str!("store/lua/moment.lua"),
            include_str!("store/queue/record.lua"),
            $(include_str!(concat!("store/queue/", $file))),+
        )
    };
}

/// Adds jobs, to a list and to a stream.
pub const PUSH: [&str; 2] = [
    script!("list.lua", "unbury.lua", "push.lua"),
    script!("stream.lua", "unbury.lua", "push.lua"),
];

/// Reads dead letters with their notes.
pub const LETTERS: &str =
    concat!("#!lua flags=no-writes\n", include_str!("store/queue/letters.lua"));

/// The function `unbury(dead, notes, letter)`, which removes a dead letter.
pub const UNBURY: &str = include_str!("store/queue/unbury.lua");

/// Notes in an index that a key may exist until its time is over. KEYS: index. ARGV: key, ms from now (0: for ever).
pub const INDEX: &str = include_str!("store/lua/index.lua");

/// The words of the derived keys, in the order in which the scripts expect them around the queue's own.
pub const WORDS: [&str; 6] = ["jobs", "taken", "leases", "due", "ready", "done"];

/// What a dead letter, or the note about one, says.
#[derive(Debug, Default)]
#[cfg_attr(feature = "json", derive(serde::Deserialize))]
#[cfg_attr(feature = "json", serde(default))]
pub struct Said {
    #[cfg(feature = "json")]
    job: Option<Box<serde_json::value::RawValue>>,
    text: Option<String>,
    hex: Option<String>,
    pub id: Option<String>,
    pub error: Option<String>,
    pub attempts: Option<u64>,
    pub queue: Option<String>,
    pub failed_at: Option<String>,
}

impl Said {
    #[cfg(feature = "json")]
    pub fn read(entry: &[u8]) -> Option<Self> {
        serde_json::from_slice(entry).ok()
    }

    #[cfg(not(feature = "json"))]
    pub fn read(_entry: &[u8]) -> Option<Self> {
        None
    }

    /// What was pushed, if the letter holds it.
    pub fn payload(&self, is_stream: bool) -> Option<Vec<u8>> {
        #[cfg(feature = "json")]
        if let Some(job) = &self.job {
            if is_stream {
                let fields: serde_json::Map<String, serde_json::Value> =
                    serde_json::from_str(job.get()).ok()?;
                let fields =
                    fields.iter().map(|(name, value)| Some((name.as_str(), value.as_str()?)));
                return Some(crate::entry::spell(fields.collect::<Option<Vec<_>>>()?));
            }
            return Some(job.get().as_bytes().to_vec());
        }
        #[cfg(not(feature = "json"))]
        let _ = is_stream;
        if let Some(text) = &self.text {
            return Some(text.clone().into_bytes());
        }
        let hex = self.hex.as_deref()?.as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        hex.chunks(2).map(byte).collect()
    }
}

/// Why a payload cannot be added to a stream, if it cannot.
pub fn unfit(payload: &[u8]) -> Option<String> {
    crate::entry::unfit(payload)
}

/// The fields of a status that a queue writes. A field with another name is the application's.
const FIELDS: [&str; 9] = [
    "status",
    "created_at",
    "updated_at",
    "started_at",
    "completed_at",
    "error",
    "attempts",
    "progress",
    "result",
];

/// Those of them that are written with every change. The others come and go, and must be optional.
const ALWAYS: [&str; 4] = ["status", "created_at", "updated_at", "attempts"];

/// A field of a status: its name, what it holds in the words of a schema, and whether it is optional.
pub type StatusField<'f> = (&'f str, &'f str, bool);

/// The fields that are written, each with how a time is spelled: `created_at:t`; or why a definition cannot hold the
/// status of a job.
///
/// # Errors
/// If it is not a hash with a field `status`, or has a field that is neither written nor optional.
pub fn spec(key_type: Option<&str>, fields: &[StatusField<'_>]) -> Result<String, String> {
    let unwritten = |(name, _, optional): &&StatusField<'_>| !optional && !ALWAYS.contains(name);
    if key_type != Some("hash") {
        Err("it is not a hash".to_owned())
    } else if let Some((name, ..)) = fields.iter().find(unwritten) {
        Err(format!("its field `{name}` is not always written: make it optional"))
    } else if !fields.iter().any(|(name, ..)| *name == "status") {
        Err("it has no field `status`".to_owned())
    } else {
        let known = fields.iter().filter(|(name, ..)| FIELDS.contains(name));
        let spelled = known.map(|(name, kind, _)| match *kind {
            "unix" => format!("{name}:u"),
            "unix_ms" => format!("{name}:m"),
            _ => format!("{name}:t"),
        });
        Ok(spelled.collect::<Vec<_>>().join(" "))
    }
}
