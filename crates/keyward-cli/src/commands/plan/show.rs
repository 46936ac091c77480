//! Plans as people read them.

use crate::failure::Result;
use crate::output::{BAD, BOLD, DIM, Output};
use crate::verdict::Verdict;
use keyward_fact::{Duration, thousands, visible};
use keyward_plan::{Order, Plan, Row, lint as remarks};
use std::fmt::Write as _;

/// Whoever forged a plan must not hide what was asked for: a terminal would act on what is not visible.
pub(super) fn plan(plan: &Plan, output: &Output) -> Result<()> {
    let mut text = String::new();
    let name = plan.order.name();
    let _ = writeln!(text, "{}  {}", BOLD.on(format!("plan {name}")), visible(&plan.summary));
    let _ = writeln!(text, "{}", visible(&plan.order.to_string()));
    let servers: Vec<&str> = plan.servers.iter().map(|it| it.address.as_str()).collect();
    let whither =
        format!("for {}, database {}, until {}", servers.join(", "), plan.db, plan.expires);
    let _ = writeln!(text, "{}", DIM.on(visible(&whither)));
    // Of what breaks no rule, a plan has many rows.
    let is_shown = |it: &&Row| {
        (it.rule.is_none() && !["remove copy", "keep"].contains(&it.action.as_str()))
            || it.changes() + it.conflict_count() > 0
            || it.action == "keep" && !it.counts.is_empty()
    };
    let (empty, rows): (Vec<&Row>, Vec<&Row>) =
        plan.rows.iter().filter(is_shown).partition(|it| it.counts.is_empty());
    for it in rows {
        row(it, &mut text);
    }
    if !empty.is_empty() {
        let empty: Vec<&str> = empty.into_iter().map(|it| it.keys.as_str()).collect();
        let _ = writeln!(text, "\nno keys: {}", visible(&empty.join(", ")));
    }
    let estimate = &plan.estimate;
    let time = Duration::from_millis(estimate.seconds.saturating_mul(1000)).human();
    let changes = match plan.order {
        Order::Requeue(_) | Order::Purge(_) | Order::Forget { .. } => {
            plan.order.counted(estimate.changes)
        }
        _ => format!("{} of {}", thousands(estimate.changes), count_keys(estimate.keys)),
    };
    let _ = writeln!(
        text,
        "\n{changes} would change; about {time}, at the {} a second that were measured",
        count_keys(estimate.keys_per_second)
    );
    for owner in plan.missing_approvals() {
        let _ = writeln!(text, "{}", BAD.on(format!("not approved by `{}` yet", visible(owner))));
    }
    for it in &plan.approvals {
        let line = format!("approved for `{}` by {}, {}", it.owner, it.by, it.at);
        let _ = writeln!(text, "{}", visible(&line));
    }
    output.print(text)?;
    Ok(())
}

/// `1 key`, `2,000 keys`
pub(super) fn count_keys(count: u64) -> String {
    if count == 1 { "1 key".to_owned() } else { format!("{} keys", thousands(count)) }
}

fn row(row: &Row, text: &mut String) {
    let to = row.to.as_ref().map(|to| format!(" → {}", visible(to))).unwrap_or_default();
    let rule = row.rule.as_ref().map(|rule| DIM.on(format!("  {}", visible(rule))));
    let (action, rule) = (BOLD.on(visible(&row.action)), rule.unwrap_or_default());
    let _ = writeln!(text, "\n{action} {}{to}{rule}", visible(&row.keys));
    for (name, count) in &row.counts {
        let line = format!("{:>12}  {}", thousands(*count), visible(name));
        let line = if name.starts_with("conflict") { BAD.on(line) } else { line };
        let _ = writeln!(text, "{line}");
    }
    for conflict in &row.conflicts {
        let _ = writeln!(text, "              {}", BAD.on(visible(conflict)));
    }
    for sample in row.samples.iter().take(3) {
        let _ = writeln!(text, "              {}", DIM.on(visible(sample)));
    }
}

pub(super) fn lint(plan: &Plan, output: &Output) -> Result<Verdict> {
    let remarks = remarks(plan);
    for remark in &remarks {
        output.print(format_args!("{}: {}\n", BOLD.on(remark.kind), visible(&remark.text)))?;
    }
    if remarks.is_empty() {
        output.summary("nothing that a reviewer should know besides the plan itself")?;
    }
    Ok(Verdict::of(!remarks.is_empty()))
}
