//! What a reviewer should know about a plan.

use crate::document::{Plan, Row};
use keyward_fact::thousands;

/// Something that a reviewer should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// `destructive`, `lossy`, `data-dependent`, `cross-slot` or `not-undoable`
    pub kind: &'static str,
    /// How many keys it concerns
    pub keys: u64,
    /// In a sentence
    pub text: String,
}

/// All that a reviewer should know.
pub fn lint(plan: &Plan) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut remark = |kind, keys: u64, row: &Row, text: &str| {
        if keys > 0 {
            let unit = plan.order.unit();
            let text = format!("{} {unit} `{}` {text}", thousands(keys), row.keys);
            remarks.push(Remark { kind, keys, text });
        }
    };
    for row in &plan.rows {
        let changes = row.changes();
        if row.destructive {
            let what = if row.action == "shorten" { "end earlier" } else { "are removed" };
            remark("destructive", changes, row, what);
        }
        if row.lossy {
            remark("lossy", changes, row, "hold less afterwards");
        }
        if row.not_undoable {
            remark("not-undoable", changes, row, "cannot be brought back by `plan undo`");
        }
        for (name, count) in &row.counts {
            if let Some(why) = name.strip_prefix("conflict: ") {
                remark("data-dependent", *count, row, &format!("stay as they are: {why}"));
            }
        }
        let far = row.counts.get("across slots").copied().unwrap_or(0);
        remark("cross-slot", far, row, "go to another slot, which is not one step");
    }
    remarks
}
