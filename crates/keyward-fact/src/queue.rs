//! What a queue keeps of a job: a record in the hash `~jobs`, under the field `m:<ticket>`.

/// A job's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where the job is
    pub state: State,
    /// How often it was taken
    pub takes: u64,
    /// How often it has failed, or was done
    pub attempts: u64,
    /// How often its lease ended without a word
    pub crashes: u64,
    /// From -999 to 999
    pub priority: i64,
    /// When it was pushed, or first taken; milliseconds since 1970
    pub created: u64,
    /// Its group; empty if it has none
    pub group: String,
    /// Its id; empty if it has none, and beginning with `=` where it stands for the payload
    pub id: String,
}

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// On the list
    Waiting,
    /// On the list, and dropped when its turn comes
    Withdrawn,
    /// It could run now
    Ready,
    /// It waits for its time: it is delayed, or is tried again later
    Due,
    /// It runs
    Leased,
    /// It runs, and its worker is asked to drop it
    Cancelling,
    /// It has ended
    Ended,
}

impl Record {
    /// Reads a record: `l 2 1 0 0 1763280000000 3:abcthe-id`. `None` if it is not one.
    ///
    /// ```
    /// use keyward_fact::queue::{Record, State};
    /// let record = Record::parse(b"l 2 1 0 -5 1763280000000 2:eujob 7").unwrap();
    /// assert_eq!((record.state, record.takes, record.priority), (State::Leased, 2, -5));
    /// assert_eq!((record.group.as_str(), record.id.as_str()), ("eu", "job 7"));
    /// ```
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut parts = text.splitn(7, ' ');
        let state = match parts.next()? {
            "w" => State::Waiting,
            "x" => State::Withdrawn,
            "r" => State::Ready,
            "d" => State::Due,
            "l" => State::Leased,
            "c" => State::Cancelling,
            "k" => State::Ended,
            _ => return None,
        };
        let takes = parts.next()?.parse().ok()?;
        let attempts = parts.next()?.parse().ok()?;
        let crashes = parts.next()?.parse().ok()?;
        let priority = parts.next()?.parse().ok()?;
        let created = parts.next()?.parse().ok()?;
        let (size, rest) = parts.next()?.split_once(':')?;
        let (group, id) = rest.split_at_checked(size.parse().ok()?)?;
        let (group, id) = (group.to_owned(), id.to_owned());
        Some(Record { state, takes, attempts, crashes, priority, created, group, id })
    }
}

#[cfg(test)]
mod tests {
    use super::Record;

    #[test]
    fn what_is_not_a_record_is_refused() {
        for text in
            ["", "l", "z 0 0 0 0 0 0:", "l 0 0 0 0 0 9:ab", "l 0 0 0 0 0 1:é", "l -1 0 0 0 0 0:"]
        {
            assert_eq!(Record::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Record::parse(b"w 0 0 0 0 0 0:\xff"), None);
    }
}
