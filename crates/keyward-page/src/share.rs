//! Shares and percentages.

/// The share that a part is of a whole, from 0 to 1; nothing of nothing is 0.
#[allow(clippy::cast_precision_loss, reason = "a share is shown with a few digits")]
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A share with one digit, for tables. Only nothing is 0 % and only everything is 100 %.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if share <= 0.0 || share.is_nan() {
        "0 %".to_owned()
    } else if percent < 0.1 {
        "< 0.1 %".to_owned()
    } else if share >= 1.0 {
        "100 %".to_owned()
    } else {
        format!("{:.1} %", percent.min(99.9))
    }
}
