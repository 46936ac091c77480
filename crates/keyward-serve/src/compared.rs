//! Two moments of a server.

use keyward_audit::report::ChangeVerdict;
use keyward_audit::{DEFAULT_TOLERANCE, Difference, Report, appeared, difference};

/// What changed between two reports. A finding that was not there before is new however few keys it is of; the
/// tolerance is for those that were.
pub(crate) fn compared(before: &Report, after: &Report) -> Difference {
    let mut changed = difference(before, after, DEFAULT_TOLERANCE);
    let new = appeared(before, after);
    for (finding, change) in after.findings.iter().zip(&mut changed.findings) {
        let is_new = change.count[0] == 0 && new.iter().any(|it| std::ptr::eq(*it, finding));
        if is_new && change.verdict == Some(ChangeVerdict::Same) {
            change.verdict = Some(ChangeVerdict::New);
        }
    }
    changed
}
