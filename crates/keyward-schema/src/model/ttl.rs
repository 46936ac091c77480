//! How long a key lives.

use keyward_fact::Duration;
use std::fmt;

/// How long a key lives.
#[derive(Debug, Clone, PartialEq)]
pub enum Ttl {
    /// `"none"`: it never expires
    None,
    /// `"7d"`
    Fixed(Duration),
    /// `"1m..5m"`: a write picks inside
    Range(Duration, Duration),
    /// `{ by = "window" }`: by the word in a parameter
    By {
        /// The parameter
        param: String,
        /// The TTL for each of its words
        values: Vec<(String, Duration)>,
    },
    /// `{ caller = true, max = "24h" }`: the application knows
    Caller {
        /// The bound
        max: Option<Duration>,
    },
}

impl Ttl {
    /// The longest a key may live; `None` if there is no bound.
    pub fn longest(&self) -> Option<Duration> {
        match self {
            Ttl::None => None,
            Ttl::Fixed(ttl) | Ttl::Range(_, ttl) => Some(*ttl),
            Ttl::By { values, .. } => values.iter().map(|(_, ttl)| *ttl).max(),
            Ttl::Caller { max } => *max,
        }
    }

    /// The shortest TTL that a write may set; `None` if it never expires or only the caller knows.
    pub fn shortest(&self) -> Option<Duration> {
        match self {
            Ttl::None | Ttl::Caller { .. } => None,
            Ttl::Fixed(ttl) | Ttl::Range(ttl, _) => Some(*ttl),
            Ttl::By { values, .. } => values.iter().map(|(_, ttl)| *ttl).min(),
        }
    }

    /// Whether keys expire at all.
    pub fn expires(&self) -> bool {
        *self != Ttl::None
    }
}

/// For people; a duration or a range as it is written.
impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ttl::None => f.write_str("none"),
            Ttl::Fixed(ttl) => write!(f, "{ttl}"),
            Ttl::Range(from, to) => write!(f, "{from}..{to}"),
            Ttl::By { param, values } => {
                write!(f, "by `{param}`")?;
                for (number, (word, ttl)) in values.iter().enumerate() {
                    write!(f, "{} {word} {ttl}", if number == 0 { ":" } else { "," })?;
                }
                Ok(())
            }
            Ttl::Caller { max: None } => f.write_str("given by the caller"),
            Ttl::Caller { max: Some(max) } => write!(f, "given by the caller, at most {max}"),
        }
    }
}
