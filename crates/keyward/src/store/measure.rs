//! Counts and durations, which the crate `metrics` hands to any exporter. Without the feature `metrics`
//! nothing is counted.

use std::time::Duration;

/// A label: its name and its value, both from the schema or from this crate, never from a key.
pub(crate) type Label = (&'static str, &'static str);

#[cfg(feature = "metrics")]
fn labels(labels: &[Label]) -> Vec<metrics::Label> {
    labels.iter().map(|(name, value)| metrics::Label::new(*name, *value)).collect()
}

/// Adds to a counter.
#[cfg_attr(not(feature = "metrics"), expect(unused_variables, reason = "nothing is counted"))]
pub(crate) fn count(name: &'static str, by: u64, with: &[Label]) {
    #[cfg(feature = "metrics")]
    metrics::counter!(name, labels(with)).increment(by);
}

/// Adds a duration to a histogram of seconds.
#[cfg_attr(not(feature = "metrics"), expect(unused_variables, reason = "nothing is counted"))]
pub(crate) fn time(name: &'static str, took: Duration, definition: &'static str) {
    #[cfg(feature = "metrics")]
    metrics::histogram!(name, "definition" => definition).record(took);
}

/// Sets a gauge.
#[cfg_attr(not(feature = "metrics"), expect(unused_variables, reason = "nothing is counted"))]
pub(crate) fn gauge(name: &'static str, value: f64) {
    #[cfg(feature = "metrics")]
    metrics::gauge!(name).set(value);
}
