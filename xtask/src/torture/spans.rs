//! Many spans of time, and what can be asked about them quickly.

use super::history::{History, Kind, Micros};

/// Spans from a begin to an end.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// By their begins
    sorted: Vec<(Micros, Micros)>,
    /// The latest end of each span and all before it
    latest: Vec<Micros>,
    /// The earliest end of each span and all after it
    earliest: Vec<Micros>,
}

impl Spans {
    pub(super) fn new(mut sorted: Vec<(Micros, Micros)>) -> Self {
        sorted.sort_unstable();
        let mut latest: Vec<Micros> = sorted.iter().map(|(_, end)| *end).collect();
        let mut earliest = latest.clone();
        for at in 1..sorted.len() {
            latest[at] = latest[at].max(latest[at - 1]);
        }
        for at in (1..sorted.len()).rev() {
            earliest[at - 1] = earliest[at - 1].min(earliest[at]);
        }
        Spans { sorted, latest, earliest }
    }

    /// The latest end of those that begin until a moment; 0 if there are none.
    pub(super) fn latest_end(&self, until: Micros) -> Micros {
        let count = self.sorted.partition_point(|(begin, _)| *begin <= until);
        count.checked_sub(1).map_or(0, |at| self.latest[at])
    }

    /// Whether one lies between two moments.
    pub(super) fn lies_between(&self, from: Micros, to: Micros) -> bool {
        let first = self.sorted.partition_point(|(begin, _)| *begin <= from);
        self.earliest.get(first).is_some_and(|end| *end < to)
    }
}

impl History {
    /// When a server may have lost what it had answered: all that was written in these spans.
    pub(super) fn losses(&self) -> Vec<(Micros, Micros)> {
        let lost = self.faults.iter().filter_map(|fault| {
            let before = match fault.kind {
                Kind::FailOver => 1_000_000,
                Kind::RestartServer if !self.is_durable => 2_000_000,
                _ => return None,
            };
            Some((fault.from.saturating_sub(before), fault.to))
        });
        lost.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_found_by_their_begins_and_ends() {
        let spans = Spans::new(vec![(30, 35), (10, 50), (20, 25)]);
        assert_eq!([5, 10, 29, 99].map(|until| spans.latest_end(until)), [0, 50, 50, 50]);
        assert!(spans.lies_between(15, 26) && spans.lies_between(15, 36));
        assert!(!spans.lies_between(15, 25) && !spans.lies_between(20, 30));
        assert!(spans.lies_between(9, 26) && !spans.lies_between(30, 99));
        assert!(!Spans::default().lies_between(0, 99));
    }
}
