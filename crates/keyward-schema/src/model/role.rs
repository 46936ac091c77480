//! What a definition is for beyond storage.

use crate::span::Spanned;
use keyward_fact::Duration;

/// What a definition is for beyond storage.
#[derive(Debug, Clone)]
pub enum Role {
    /// A number that is counted up and down
    Counter(Counter),
    /// A counter with a bound
    Quota(Quota),
    /// A limit on how often something may happen
    RateLimit(RateLimit),
    /// A lock
    Lock(Lock),
    /// A queue of jobs
    Queue(Box<Queue>),
    /// A person's session
    Session(SessionRole),
    /// A way to find other keys
    Index(Index),
    /// A switch
    Flag(Flag),
    /// A board ordered by score
    Ranking(Ranking),
    /// A token that is exchanged for its successor
    RefreshToken(RefreshToken),
}

impl Role {
    /// The words of all roles, in the order of the enum.
    pub const NAMES: [&'static str; 10] = [
        "counter",
        "quota",
        "rate_limit",
        "lock",
        "queue",
        "session",
        "index",
        "flag",
        "ranking",
        "refresh_token",
    ];

    /// The word in a schema.
    pub fn name(&self) -> &'static str {
        match self {
            Role::Counter(_) => Role::NAMES[0],
            Role::Quota(_) => Role::NAMES[1],
            Role::RateLimit(_) => Role::NAMES[2],
            Role::Lock(_) => Role::NAMES[3],
            Role::Queue(_) => Role::NAMES[4],
            Role::Session(_) => Role::NAMES[5],
            Role::Index(_) => Role::NAMES[6],
            Role::Flag(_) => Role::NAMES[7],
            Role::Ranking(_) => Role::NAMES[8],
            Role::RefreshToken(_) => Role::NAMES[9],
        }
    }
}

impl Role {
    /// Whether its keys cannot be renamed: nothing moves yet what belongs to them and stands beside them.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Role::Session(_) | Role::RefreshToken(_) | Role::Index(_))
    }
}

impl Role {
    /// The definitions that its options name, by option.
    pub fn links(&self) -> Vec<(&'static str, &Spanned<String>)> {
        let named = match self {
            Role::Queue(queue) => {
                vec![("dead_letter", &queue.dead_letter), ("status", &queue.status)]
            }
            Role::Session(session) => {
                vec![("index", &session.index), ("revoked", &session.revoked)]
            }
            Role::Index(index) => {
                let reverse = index.reverse.as_ref().map(|reverse| ("reverse", reverse));
                return [("of", &index.of)].into_iter().chain(reverse).collect();
            }
            Role::Flag(flag) => vec![("override", &flag.overridden_by)],
            _ => Vec::new(),
        };
        named.into_iter().filter_map(|(what, name)| Some((what, name.as_ref()?))).collect()
    }
}

/// `counter = {}`
#[derive(Debug, Clone, Default)]
pub struct Counter {
    /// Whether it may fall below zero
    pub negative: bool,
}

/// `quota = { limit = 100, window = "1d" }`
#[derive(Debug, Clone)]
pub struct Quota {
    /// The most that may be used
    pub limit: Spanned<Limit>,
    /// When it starts again
    pub window: Option<Spanned<Duration>>,
}

/// The bound of a quota or a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Always the same
    Fixed(u64),
    /// `"caller"`: the application knows
    Caller,
}

/// `rate_limit = { limit = 10, window = "60s" }`
#[derive(Debug, Clone)]
pub struct RateLimit {
    /// How often
    pub limit: Spanned<Limit>,
    /// In which time
    pub window: Spanned<Duration>,
    /// How it is counted
    pub algorithm: Algorithm,
    /// What to answer while the server is unreachable
    pub on_outage: OnOutage,
}

/// How a rate limit is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// `fixed-window`; the default
    FixedWindow,
    /// `sliding-window`
    SlidingWindow,
    /// `gcra`
    Gcra,
}

/// What a limit answers while the server is unreachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOutage {
    /// Allow; the default
    Open,
    /// Refuse
    Closed,
}

/// `lock = { fair = true, holders = 3, replicas = 1 }`
#[derive(Debug, Clone, Default)]
pub struct Lock {
    /// Whether it goes to whoever has waited longest
    pub fair: bool,
    /// How many may hold it at once, if more than one
    pub holders: Option<Spanned<u64>>,
    /// How many replicas must confirm a grant
    pub replicas: Option<Spanned<u64>>,
}

/// `queue = { dead_letter = "…", status = "…", job_id = "…" }`
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// The definition that takes failed jobs
    pub dead_letter: Option<Spanned<String>>,
    /// The definition that holds a job's status
    pub status: Option<Spanned<String>>,
    /// The parameter of `status` that is the job's id
    pub job_id: Option<Spanned<String>>,
    /// How long a job belongs to a worker that is not heard of
    pub lease: Option<Spanned<Duration>>,
    /// How long an attempt may take
    pub timeout: Option<Spanned<Duration>>,
    /// How often a job is tried before it is dead
    pub max_attempts: Option<Spanned<u64>>,
    /// How often the worker of a job may be lost before the job is dead
    pub max_crashes: Option<Spanned<u64>>,
    /// The pause after the first failure
    pub backoff: Option<Spanned<Duration>>,
    /// The longest pause between two attempts
    pub max_backoff: Option<Spanned<Duration>>,
    /// How long a job is remembered after it is done
    pub retain: Option<Spanned<Duration>>,
    /// How many jobs of a group run at once
    pub per_group: Option<Spanned<u64>>,
}

impl Queue {
    /// How long a job belongs to a worker that is not heard of.
    pub fn lease(&self) -> Duration {
        self.lease.as_ref().map_or(Duration::from_secs(30), |it| it.value)
    }

    /// How often a job is tried before it is dead.
    pub fn max_attempts(&self) -> u64 {
        self.max_attempts.as_ref().map_or(5, |it| it.value)
    }

    /// How often the worker of a job may be lost before the job is dead.
    pub fn max_crashes(&self) -> u64 {
        self.max_crashes.as_ref().map_or(3, |it| it.value)
    }

    /// The pause after the first failure.
    pub fn backoff(&self) -> Duration {
        self.backoff.as_ref().map_or(Duration::from_secs(1), |it| it.value)
    }

    /// The longest pause between two attempts.
    pub fn max_backoff(&self) -> Duration {
        let default = Duration::from_secs(600).max(self.backoff());
        self.max_backoff.as_ref().map_or(default, |it| it.value)
    }
}

/// `session = { index = "…", revoked = "…", max_age = "30d", touched = "last_active" }`
#[derive(Debug, Clone, Default)]
pub struct SessionRole {
    /// The parameter that is the session's id, where the pattern has several
    pub id: Option<Spanned<String>>,
    /// When it ends however often it is used
    pub max_age: Option<Spanned<Duration>>,
    /// The field that holds when it was last used
    pub touched: Option<Spanned<String>>,
    /// The definition that lists a person's sessions
    pub index: Option<Spanned<String>>,
    /// The definition that marks a session as revoked
    pub revoked: Option<Spanned<String>>,
}

/// `index = { of = "…", by = "…", reverse = "…" }`
#[derive(Debug, Clone)]
pub struct Index {
    /// The definition whose keys are found
    pub of: Spanned<String>,
    /// The parameter or field by which they are found
    pub by: Option<Spanned<String>>,
    /// The definition that refers back
    pub reverse: Option<Spanned<String>>,
}

/// `flag = { override = "…", default = true }`
#[derive(Debug, Clone, Default)]
pub struct Flag {
    /// The definition that overrides it for one user
    pub overridden_by: Option<Spanned<String>>,
    /// Whether it is on if nothing is stored
    pub default: bool,
}

impl Flag {
    /// Words that mean on and off.
    const WORDS: [(&'static str, bool); 10] = [
        ("enabled", true),
        ("disabled", false),
        ("on", true),
        ("off", false),
        ("true", true),
        ("false", false),
        ("yes", true),
        ("no", false),
        ("1", true),
        ("0", false),
    ];

    /// Whether a word means on or off; `None` if it means neither.
    pub fn meaning(word: &str) -> Option<bool> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, on)| *on)
    }
}

/// `ranking = { ties = "first" }`
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    /// Who ranks higher of those with the same score
    pub ties: Option<Spanned<Ties>>,
}

/// Who ranks higher of those with the same score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// Who reached it first
    First,
    /// Who reached it last
    Last,
}

/// `refresh_token = { reuse_grace = "10s", touched = "last_used" }`
#[derive(Debug, Clone)]
pub struct RefreshToken {
    /// How long a token that was used is answered with its successor
    pub reuse_grace: Duration,
    /// The field that holds when its predecessor was used
    pub touched: Option<Spanned<String>>,
}
