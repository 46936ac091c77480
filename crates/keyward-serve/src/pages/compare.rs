//! `/s/{server}/compare`: two moments, definitions ranked by growth.

use super::frame::{At, Visit, answer};
use super::words::{Moment, UNKNOWN, counted, size, size_if_known};
use crate::compared::compared;
use crate::history::AuditRow;
use axum::extract::{Path, Query};
use axum::response::Response;
use keyward_audit::report::ChangeVerdict;
use keyward_audit::{DEFAULT_TOLERANCE, PartChange};
use keyward_fact::thousands;
use keyward_page::{Span, prose};
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Moments that can be chosen, the latest first.
const MOMENTS: usize = 400;

/// What the address asks for: milliseconds since 1970.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    from: String,
    to: String,
}

#[derive(Debug, Serialize)]
struct Choice {
    at: u64,
    text: String,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    href: Option<String>,
    class: &'static str,
    /// Before, after, growth
    bytes: [String; 3],
    keys: [String; 3],
    #[serde(skip)]
    growth: (i128, i128),
}

pub(super) async fn page(
    visit: Visit,
    Path(server): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    answer(visit, server, move |at| {
        let audits = at.state.history.audits(&at.server.name, (0, u64::MAX));
        let (audits, problem) = match audits {
            Ok(audits) => (audits, None),
            Err(error) => (Vec::new(), Some(format!("The history cannot be read: {error}"))),
        };
        let kept: Vec<&AuditRow> =
            audits.iter().rev().filter(|it| it.whole).take(MOMENTS).collect();
        let moments: Vec<Choice> = (kept.iter())
            .map(|it| {
                let keys = counted(it.keys, "key");
                Choice { at: it.at, text: format!("{}, {keys}", Moment::new(it.at).text) }
            })
            .collect();
        // As in the API: the last audit at or before the moment that is asked for.
        let chosen = |asked: &str, otherwise: Option<u64>| -> Result<Option<u64>, String> {
            if asked.is_empty() {
                return Ok(otherwise);
            }
            let moment: u64 = asked.parse().map_err(|_| {
                "A moment is a number of milliseconds since 1970: choose one below.".to_owned()
            })?;
            let mut whole = audits.iter().rev().filter(|it| it.whole);
            let found = whole.find(|it| it.at <= moment).ok_or_else(|| {
                let moment = Moment::new(moment).text;
                format!("No audit at or before {moment} is kept: choose another moment.")
            })?;
            Ok(Some(found.at))
        };
        let to = chosen(&asked.to, kept.first().map(|it| it.at));
        let (to, problem) = to.map_or_else(|why| (None, Some(why)), |to| (to, problem));
        // What has changed within a day, unless something else is asked for.
        let today = |it: &&&AuditRow| to.is_some_and(|to| it.at + DAY >= to);
        let day = kept.iter().skip(1).take_while(today).last();
        let from = chosen(&asked.from, day.or(kept.get(1)).map(|it| it.at));
        let (from, problem) = from.map_or_else(|why| (None, Some(why)), |from| (from, problem));
        let (from, problem) = match (from, to) {
            (Some(one), Some(other)) if one > other => {
                (None, Some("The first moment is after the second one.".to_owned()))
            }
            _ => (from, problem),
        };
        let compared = from.zip(to).filter(|_| kept.len() > 1);
        let compared = compared.map(|(from, to)| compare(at, from, to));
        let (page, problem) = match compared {
            Some(Ok(page)) => (page, problem),
            Some(Err(why)) => (nothing(), Some(why)),
            None => (nothing(), problem),
        };
        let page = context! { moments, from, to, problem, ..page };
        at.page("compare.html", "/compare", "Compare", page)
    })
    .await
}

fn nothing() -> Value {
    let none: [(); 0] = [];
    context! { rows => none, worse => none, gone => none, warnings => none, told => "" }
}

fn compare(at: &At<'_>, from: u64, to: u64) -> Result<Value, String> {
    let read = |moment: u64| match at.state.history.report(&at.server.name, moment) {
        Ok(Some((_, _, report))) => Ok(report),
        Ok(None) => Err("This moment is not kept any more.".to_owned()),
        Err(error) => Err(format!("The history cannot be read: {error}")),
    };
    let before = read(from)?;
    let changed = match at.current.audit.as_ref().filter(|it| it.at == to) {
        Some(audit) => compared(&before, &audit.report),
        None => compared(&before, &read(to)?),
    };
    let mut rows: Vec<Row> = changed.parts.iter().map(|it| Row::new(at, it)).collect();
    rows.sort_by_key(|it| Reverse(it.growth));
    let told = format!(
        "From {} to {}: {} keys, {}.",
        Moment::new(from).text,
        Moment::new(to).text,
        signed(growth(changed.keys), thousands),
        bytes_growth(changed.bytes).map_or_else(|| UNKNOWN.to_owned(), |it| signed(it, size)),
    );
    let findings = |wanted: &[Option<ChangeVerdict>]| -> Vec<Vec<Span>> {
        let found = changed.findings.iter().filter(|it| wanted.contains(&it.verdict));
        found.map(|it| prose(&it.what)).collect()
    };
    let worse = findings(&[Some(ChangeVerdict::New), Some(ChangeVerdict::Worse)]);
    let gone = findings(&[None]);
    let tolerance = DEFAULT_TOLERANCE;
    Ok(context! { rows, told, worse, gone, tolerance, warnings => changed.warnings })
}

impl Row {
    fn new(at: &At<'_>, part: &PartChange) -> Self {
        let bytes = bytes_growth(part.bytes);
        let keys = growth(part.keys);
        let growth = (bytes.unwrap_or(0), keys);
        Row {
            name: part.name.clone(),
            href: part.schema.as_ref().map(|schema| at.definition(schema, &part.name)),
            class: if growth > (0, 0) { "grown" } else { "shrunk" },
            bytes: [
                size_if_known(part.bytes[0]),
                size_if_known(part.bytes[1]),
                bytes.map_or_else(|| UNKNOWN.to_owned(), |it| signed(it, size)),
            ],
            keys: [thousands(part.keys[0]), thousands(part.keys[1]), signed(keys, thousands)],
            growth,
        }
    }
}

fn growth([before, after]: [u64; 2]) -> i128 {
    i128::from(after) - i128::from(before)
}

fn bytes_growth([before, after]: [Option<u64>; 2]) -> Option<i128> {
    Some(growth([before?, after?]))
}

fn signed(number: i128, write: impl Fn(u64) -> String) -> String {
    let size = u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX);
    match number {
        0 => "±0".to_owned(),
        more if more > 0 => format!("+{}", write(size)),
        _ => format!("−{}", write(size)),
    }
}
