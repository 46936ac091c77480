//! Numbers, times and sizes as people of a language write them.

use super::Words;
use super::prose::Prose;
use keyward_fact::{Duration, Size, thousands};

impl Words {
    /// `10,000`
    pub(super) fn number(&self, number: u64) -> String {
        thousands(number).replace(',', self.thousands)
    }

    /// `1 hour 30 minutes`: exact, units that are zero left out.
    pub(super) fn duration(&self, duration: Duration) -> String {
        let mut rest = duration.as_millis();
        let units = [
            (86_400_000, self.days),
            (3_600_000, self.hours),
            (60_000, self.minutes),
            (1_000, self.seconds),
            (1, self.milliseconds),
        ];
        let mut parts = Vec::new();
        for (millis, unit) in units {
            let count = rest / millis;
            rest %= millis;
            if count > 0 {
                parts.push(self.counted(unit, count));
            }
        }
        if parts.is_empty() { self.counted(self.seconds, 0) } else { parts.join(" ") }
    }

    /// `1 day`, `2 days`
    pub(super) fn counted(&self, [one, many]: [&str; 2], count: u64) -> String {
        let phrase = if count == 1 { one } else { many };
        phrase.replace("{0}", &self.number(count))
    }

    /// `1.5 MiB`
    pub(super) fn size(&self, size: Size) -> String {
        size.human().replace(".0 ", " ").replace('.', self.decimal)
    }

    /// `12.5%`
    pub(super) fn percentage(&self, percent: f64) -> String {
        self.percent.replace("{0}", &percent.to_string().replace('.', self.decimal))
    }

    /// `a, b, c`
    pub(super) fn listed(&self, items: impl IntoIterator<Item = Prose>) -> Prose {
        Prose::join(items, self.list_comma)
    }

    /// Sentences after each other; the last one without its full stop.
    pub(super) fn sentences(&self, items: impl IntoIterator<Item = Prose>) -> Prose {
        let mut whole = Prose::default();
        for item in items.into_iter().filter(|item| !item.is_empty()) {
            if !whole.is_empty() {
                let ended = whole.plain().ends_with(['.', '。', '!', '?', '…']);
                let space = if self.sentence.ends_with(' ') { " " } else { "" };
                whole.push_text(if ended { space } else { self.sentence }, false);
            }
            whole.push(item);
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::super::Locale;
    use super::*;

    #[test]
    fn numbers_are_written_as_in_the_language() {
        let ninety = Duration::from_secs(5_400);
        let [en, de, zh, id] = Locale::ALL.map(Locale::words);
        assert_eq!(en.duration(ninety), "1 hour 30 minutes");
        assert_eq!(de.duration(Duration::from_days(7)), "7 Tage");
        assert_eq!(zh.duration(ninety), "1 小时 30 分钟");
        assert_eq!(id.duration(Duration::ZERO), "0 detik");
        assert_eq!((en.number(10_000), de.number(10_000)), ("10,000".into(), "10.000".into()));
        assert_eq!((en.percentage(12.5), de.percentage(12.5)), ("12.5%".into(), "12,5 %".into()));
        assert_eq!(id.size(Size::from_bytes(1_572_864)), "1,5 MiB");
    }
}
