//! Plans as people read them.

use crate::failure::Result;
use crate::output::{BAD, BOLD, DIM, Output};
use crate::verdict::Verdict;
use keyward_fact::{Duration, thousands};
use keyward_plan::{Order, Plan, Row, lint as remarks};
use std::fmt::Write as _;

pub(super) fn plan(plan: &Plan, output: &Output) -> Result<()> {
    let mut text = String::new();
    let name = plan.order.name();
    let _ = writeln!(text, "{}  {}", BOLD.on(format!("plan {name}")), plan.summary);
    let _ = writeln!(text, "{}", keyward_fact::visible(&plan.order.to_string()));
    let servers: Vec<&str> = plan.servers.iter().map(|it| it.address.as_str()).collect();
    let _ =
        writeln!(text, "{}", DIM.on(format!("for {}, until {}", servers.join(", "), plan.expires)));
    // Of what breaks no rule, a plan has many rows.
    let is_shown = |it: &&Row| {
        (it.rule.is_none() && it.action != "remove copy") || it.changes() + it.conflict_count() > 0
    };
    let (empty, rows): (Vec<&Row>, Vec<&Row>) =
        plan.rows.iter().filter(is_shown).partition(|it| it.counts.is_empty());
    for it in rows {
        row(it, &mut text);
    }
    if !empty.is_empty() {
        let empty: Vec<&str> = empty.into_iter().map(|it| it.keys.as_str()).collect();
        let _ = writeln!(text, "\nno keys: {}", empty.join(", "));
    }
    let estimate = &plan.estimate;
    let time = Duration::from_millis(estimate.seconds.saturating_mul(1000)).human();
    let changes = match plan.order {
        Order::Requeue(_) | Order::Purge(_) | Order::Forget { .. } => {
            plan.order.counted(estimate.changes)
        }
        _ => format!("{} of {} keys", thousands(estimate.changes), thousands(estimate.keys)),
    };
    let _ = writeln!(
        text,
        "\n{changes} would change; about {time}, at the {} keys a second that were measured",
        thousands(estimate.keys_per_second)
    );
    for owner in plan.missing_approvals() {
        let _ = writeln!(text, "{}", BAD.on(format!("not approved by `{owner}` yet")));
    }
    for it in &plan.approvals {
        let _ = writeln!(text, "approved for `{}` by {}, {}", it.owner, it.by, it.at);
    }
    output.print(text)?;
    Ok(())
}

fn row(row: &Row, text: &mut String) {
    let to = row.to.as_ref().map(|to| format!(" → {to}")).unwrap_or_default();
    let rule = row.rule.as_ref().map(|rule| DIM.on(format!("  {rule}"))).unwrap_or_default();
    let _ = writeln!(text, "\n{} {}{to}{rule}", BOLD.on(&row.action), row.keys);
    for (name, count) in &row.counts {
        let line = format!("{:>12}  {name}", thousands(*count));
        let line = if name.starts_with("conflict") { BAD.on(line) } else { line };
        let _ = writeln!(text, "{line}");
    }
    for conflict in &row.conflicts {
        let _ = writeln!(text, "              {}", BAD.on(conflict));
    }
    for sample in row.samples.iter().take(3) {
        let _ = writeln!(text, "              {}", DIM.on(sample));
    }
}

pub(super) fn lint(plan: &Plan, output: &Output) -> Result<Verdict> {
    let remarks = remarks(plan);
    for remark in &remarks {
        output.print(format_args!("{}: {}\n", BOLD.on(remark.kind), remark.text))?;
    }
    if remarks.is_empty() {
        output.summary("nothing that a reviewer should know besides the plan itself")?;
    }
    Ok(Verdict::of(!remarks.is_empty()))
}
