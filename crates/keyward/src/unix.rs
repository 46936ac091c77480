//! Moments as numbers: seconds or milliseconds since 1970.

use crate::ValueError;
use std::fmt;
use std::time::{Duration, SystemTime};

/// Seconds since 1970, up to the end of the year 9999.
///
/// ```
/// use keyward::Unix;
/// assert_eq!(Unix::new(1_700_000_000)?.to_string(), "1700000000");
/// assert!(Unix::new(u64::MAX).is_err());
/// # Ok::<(), keyward::ValueError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unix(u64);

/// Milliseconds since 1970, up to the end of the year 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnixMs(u64);

impl Unix {
    /// The last second of the year 9999.
    pub const MAX: Unix = Unix(253_402_300_799);

    /// So many seconds since 1970.
    pub fn new(seconds: u64) -> Result<Self, ValueError> {
        let bounded = Some(Unix(seconds)).filter(|it| *it <= Unix::MAX);
        bounded.ok_or_else(|| ValueError::new("unix", "unix", &seconds.to_string()))
    }

    /// The seconds since 1970.
    pub fn get(self) -> u64 {
        self.0
    }

    /// This second, by the clock of this machine.
    pub fn now() -> Self {
        Unix::try_from(SystemTime::now()).unwrap_or(Unix(0))
    }
}

impl UnixMs {
    /// The last millisecond of the year 9999.
    pub const MAX: UnixMs = UnixMs(253_402_300_799_999);

    /// So many milliseconds since 1970.
    pub fn new(milliseconds: u64) -> Result<Self, ValueError> {
        let bounded = Some(UnixMs(milliseconds)).filter(|it| *it <= UnixMs::MAX);
        bounded.ok_or_else(|| ValueError::new("unix_ms", "unix_ms", &milliseconds.to_string()))
    }

    /// The milliseconds since 1970.
    pub fn get(self) -> u64 {
        self.0
    }

    /// This millisecond, by the clock of this machine.
    pub fn now() -> Self {
        UnixMs::try_from(SystemTime::now()).unwrap_or(UnixMs(0))
    }
}

impl TryFrom<SystemTime> for Unix {
    type Error = ValueError;

    /// The second that the moment is in.
    fn try_from(time: SystemTime) -> Result<Self, ValueError> {
        let since = time.duration_since(SystemTime::UNIX_EPOCH);
        let since = since.map_err(|_| ValueError::new("unix", "unix", "a time before 1970"))?;
        Unix::new(since.as_secs())
    }
}

impl TryFrom<SystemTime> for UnixMs {
    type Error = ValueError;

    /// The millisecond that the moment is in.
    fn try_from(time: SystemTime) -> Result<Self, ValueError> {
        let since = time.duration_since(SystemTime::UNIX_EPOCH);
        let since =
            since.map_err(|_| ValueError::new("unix_ms", "unix_ms", "a time before 1970"))?;
        UnixMs::new(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<Unix> for SystemTime {
    fn from(unix: Unix) -> Self {
        SystemTime::UNIX_EPOCH + Duration::from_secs(unix.0)
    }
}

impl From<UnixMs> for SystemTime {
    fn from(unix: UnixMs) -> Self {
        SystemTime::UNIX_EPOCH + Duration::from_millis(unix.0)
    }
}

impl fmt::Display for Unix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for UnixMs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
