//! How long keys live, in words and on a scale.

use super::context::Context;
use super::page;
use super::prose::Prose;
use keyward_fact::Duration;
use keyward_schema::model::{Definition, OnWrite, Ttl};

impl Context<'_> {
    /// How long a definition's keys live.
    pub(super) fn ttl(&self, definition: &Definition) -> page::Ttl {
        let words = self.words;
        let ttl = definition.ttl.as_ref().map(|ttl| &ttl.value);
        let mut notes = Vec::new();
        if let Some(jitter) = &definition.jitter {
            notes.push(Prose::say(words.jitter, &[&words.percentage(**jitter)]));
        }
        if definition.sliding {
            notes.push(Prose::fill(words.sliding, &[]));
        }
        if definition.on_write == OnWrite::Keep {
            notes.push(Prose::fill(words.keep, &[]));
        }
        let short = match ttl {
            Some(Ttl::By { param, .. }) => Prose::say(words.by_param, &[param]).plain(),
            _ => self.ttl_text(ttl).plain(),
        };
        let expires = ttl.is_none_or(Ttl::expires);
        page::Ttl { text: self.ttl_text(ttl), short, expires, notes }
    }

    /// A TTL in words.
    pub(super) fn ttl_text(&self, ttl: Option<&Ttl>) -> Prose {
        let words = self.words;
        let time = |duration: &Duration| words.duration(*duration);
        match ttl {
            None => Prose::text(words.unstated),
            Some(Ttl::None) => Prose::text(words.never),
            Some(Ttl::Fixed(ttl)) => Prose::text(time(ttl)),
            Some(Ttl::Range(from, to)) => Prose::say(words.range, &[&time(from), &time(to)]),
            Some(Ttl::By { param, values }) => {
                let mut prose = Prose::fill(words.by_param, &[Prose::code(param)]);
                prose.push_text(words.colon, false);
                let each = values.iter().map(|(word, ttl)| {
                    let mut one = Prose::code(word);
                    one.push_text(&format!(" → {}", time(ttl)), false);
                    one
                });
                prose.push(words.listed(each));
                prose
            }
            Some(Ttl::Caller { max: None }) => Prose::text(words.by_caller),
            Some(Ttl::Caller { max: Some(max) }) => {
                Prose::say(words.by_caller_at_most, &[&time(max)])
            }
        }
    }

    /// The table of all TTLs with its scale, the shortest first.
    pub(super) fn ttl_table(&self) -> (Vec<page::TtlRow>, Vec<page::Mark>) {
        let longest = self.shown().filter_map(|it| it.ttl.as_ref()?.longest()).max();
        let scale = Scale::new(longest.unwrap_or_default());
        let mut rows: Vec<(Option<Duration>, page::TtlRow)> = self
            .shown()
            .filter_map(|definition| {
                let ttl = definition.ttl.as_ref().map(|ttl| &ttl.value);
                let longest = ttl.and_then(Ttl::longest);
                let shortest = ttl.and_then(Ttl::shortest).or(longest);
                let row = page::TtlRow {
                    target: self.target(&definition.name)?.clone(),
                    lifecycle: self.lifecycle_name(definition.lifecycle),
                    text: self.ttl_text(ttl),
                    seconds: ttl.map(seconds).unwrap_or_default(),
                    from: shortest.map_or(0.0, |ttl| scale.place(ttl)),
                    to: longest.map_or(100.0, |ttl| scale.place(ttl)),
                    endless: longest.is_none(),
                };
                Some((longest, row))
            })
            .collect();
        rows.sort_by_key(|(longest, _)| longest.map_or(u64::MAX, Duration::as_millis));
        (rows.into_iter().map(|(_, row)| row).collect(), scale.marks(self.words))
    }
}

/// As commands take it; a range by its ends, a choice by its values.
fn seconds(ttl: &Ttl) -> String {
    let seconds = |duration: &Duration| {
        let millis = duration.as_millis();
        if millis.is_multiple_of(1000) {
            return (millis / 1000).to_string();
        }
        let text = format!("{}.{:03}", millis / 1000, millis % 1000);
        text.trim_end_matches('0').to_owned()
    };
    match ttl {
        Ttl::None | Ttl::Caller { max: None } => String::new(),
        Ttl::Fixed(ttl) => seconds(ttl),
        Ttl::Caller { max: Some(max) } => format!("≤ {}", seconds(max)),
        Ttl::Range(from, to) => format!("{}–{}", seconds(from), seconds(to)),
        Ttl::By { values, .. } => {
            values.iter().map(|(_, ttl)| seconds(ttl)).collect::<Vec<_>>().join(", ")
        }
    }
}

/// From one second to the longest TTL, at least an hour, by powers.
struct Scale {
    end: f64,
}

impl Scale {
    fn new(longest: Duration) -> Self {
        Scale { end: log(longest.max(Duration::from_hours(1))) }
    }

    /// From 0 to 100, with one decimal: more would only make files differ.
    fn place(&self, duration: Duration) -> f64 {
        // Something must be seen even of a second.
        let place = (log(duration) / self.end * 100.0).clamp(1.0, 100.0);
        (place * 10.0).round() / 10.0
    }

    fn marks(&self, words: &super::Words) -> Vec<page::Mark> {
        [(1, words.seconds), (60, words.minutes), (3_600, words.hours), (86_400, words.days)]
            .into_iter()
            .map(|(seconds, unit)| (Duration::from_secs(seconds), words.counted(unit, 1)))
            .chain([(Duration::from_days(30), words.counted(words.days, 30))])
            .filter(|(duration, _)| log(*duration) <= self.end)
            .map(|(duration, label)| page::Mark {
                at: if duration.as_secs() == 1 { 0.0 } else { self.place(duration) },
                label,
            })
            // A label at the very end would be cut.
            .filter(|mark| mark.at < 90.0)
            .collect()
    }
}

#[allow(clippy::cast_precision_loss, reason = "a place on a scale of some hundred pixels")]
fn log(duration: Duration) -> f64 {
    (duration.as_millis().max(1_000) as f64 / 1_000.0).ln()
}
