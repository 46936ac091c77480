//! What a reviewer should know about a plan.

use crate::document::{Plan, Row, UNREAD};

/// Something that a reviewer should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// `destructive`, `lossy`, `data-dependent`, `cross-slot`, `memory` or `not-undoable`
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
            let text = format!("{} `{}` {text}", plan.order.counted(keys), row.keys);
            remarks.push(Remark { kind, keys, text });
        }
    };
    for row in &plan.rows {
        let changes = row.changes();
        if row.destructive {
            let what = match row.action.as_str() {
                "shorten" => "would end earlier",
                "trim" | "prune" => "would lose entries",
                "expire" => "would get an end, and had none",
                _ => "would be removed",
            };
            remark("destructive", changes, row, what);
        }
        if row.lossy {
            remark("lossy", changes, row, "would hold less");
        }
        if row.not_undoable {
            remark("not-undoable", changes, row, "could not be brought back by `plan undo`");
        }
        for (name, count) in &row.counts {
            if let Some(why) = name.strip_prefix("conflict: ") {
                remark("data-dependent", *count, row, &format!("would stay: {why}"));
            }
        }
        let unread = row.counts.get(UNREAD).copied().unwrap_or(0);
        let look = if unread == 1 { "looks" } else { "look" };
        let what = format!("{look} like this old name, and cannot be read as one");
        remark("data-dependent", unread, row, &what);
        let far = row.counts.get("across slots").copied().unwrap_or(0);
        remark("cross-slot", far, row, "would go to another slot, which is not one step");
    }
    if let Some(why) = &plan.too_large {
        remarks.push(Remark { kind: "memory", keys: plan.changes(), text: why.clone() });
    }
    remarks
}
