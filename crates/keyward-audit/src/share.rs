//! Shares and percentages.

pub(crate) use keyward_page::{percent, share};

/// A share for a sentence that has the counts beside it: more digits where it is small.
pub(crate) fn percent_of_count(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        percent if percent >= 99.95 && share < 1.0 => "> 99.9 %".to_owned(),
        percent if percent >= 99.95 => "100 %".to_owned(),
        percent if percent >= 0.05 => format!("{percent:.1} %"),
        percent if percent >= 0.001 => format!("{percent:.3} %"),
        _ => "< 0.001 %".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_everything_is_a_hundred_per_cent() {
        for (share, text, of_count) in [
            (0.000_01, "< 0.1 %", "0.001 %"),
            (0.001, "0.1 %", "0.1 %"),
            (0.25, "25.0 %", "25.0 %"),
            (0.999_99, "99.9 %", "> 99.9 %"),
            (1.0, "100 %", "100 %"),
        ] {
            assert_eq!(
                (percent(share).as_str(), percent_of_count(share).as_str()),
                (text, of_count)
            );
        }
        assert_eq!((percent(0.0).as_str(), percent(f64::NAN).as_str()), ("0 %", "0 %"));
    }
}
