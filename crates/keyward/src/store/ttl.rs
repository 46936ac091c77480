//! How long a write makes a key live.

use crate::{Definition, Ttl};
use std::fmt;
use std::time::Duration;

/// A TTL for a write, in milliseconds; `None` if the key never expires. Jitter shortens it by up to so
/// many thousandths, so that what was written together does not expire together.
pub(crate) fn pick(ttl: Ttl, jitter: u16) -> Option<u64> {
    let millis = |ttl: Duration| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
    let chosen = match ttl {
        Ttl::Fixed(ttl) => millis(ttl),
        Ttl::Range { min, max } => fastrand::u64(millis(min)..=millis(max)),
        // A key whose word has no TTL cannot be built.
        Ttl::By { .. } => ttl.shortest().map(millis)?,
        Ttl::Caller { max } => millis(max?),
        _ => return None,
    };
    let most = chosen.saturating_mul(u64::from(jitter)) / 1000;
    Some((chosen - if most > 0 { fastrand::u64(0..=most) } else { 0 }).max(1))
}

/// A TTL that the caller gave and that the schema does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lifespan {
    definition: &'static str,
    given: Duration,
    max: Option<Duration>,
}

impl Lifespan {
    pub(crate) fn check(definition: &'static Definition, given: Duration) -> Result<(), Lifespan> {
        let max = definition.ttl.longest();
        let fits = given >= Duration::from_millis(1) && max.is_none_or(|max| given <= max);
        if fits { Ok(()) } else { Err(Lifespan { definition: definition.name, given, max }) }
    }
}

impl fmt::Display for Lifespan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lifespan { definition, given, max } = self;
        match max {
            Some(max) if given > max => {
                write!(f, "`{definition}` lives at most {max:?}, and {given:?} was asked for")
            }
            _ => write!(f, "`{definition}` cannot live for {given:?}: the least is a millisecond"),
        }
    }
}

impl std::error::Error for Lifespan {}
