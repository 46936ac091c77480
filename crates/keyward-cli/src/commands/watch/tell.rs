//! What a person or a program is told.

use crate::args::{Watch as Args, WatchFormat};
use crate::commands::audit::Places;
use crate::output::{DIM, ERROR, HELP, Output, WARNING, complain, printable};
use keyward_audit::live::watch::{Counted, Event, Watched};
use keyward_audit::report::{Finding, Severity};
use keyward_audit::{now, rfc3339};
use keyward_fact::{thousands, visible_json};
use keyward_rules::Rule;
use keyward_rules::exchange::{Reported, annotations};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io;

/// Writes findings in the format that was asked for: to standard output, or to standard error where that belongs to
/// a command.
pub(super) struct Teller<'r> {
    format: WatchFormat,
    places: &'r Places,
    output: &'r Output,
    to_stderr: bool,
    /// Whether parts of keys are hidden
    masked: bool,
}

impl<'r> Teller<'r> {
    pub(super) fn new(args: &Args, places: &'r Places, output: &'r Output) -> Self {
        Teller {
            format: args.format,
            places,
            output,
            to_stderr: !args.command.is_empty(),
            masked: !args.show_keys,
        }
    }

    /// Tells what happens; fails where nobody reads it any more.
    pub(super) fn event(&self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Watching { server, via, notes } => match self.format {
                WatchFormat::Jsonl => self.line(&json!({
                    "event": "watching", "at": rfc3339(now()), "server": server,
                    "via": via.to_string(), "notes": notes,
                })),
                _ => self.output.note(format_args!("watching {server} by {via}{}", listed(notes))),
            },
            Event::Found(finding) => self.found(finding, None),
            Event::Lost { server, why } => match self.format {
                WatchFormat::Jsonl => self.line(&json!({
                    "event": "lost", "at": rfc3339(now()), "server": server, "why": why,
                })),
                _ => complain(format_args!(
                    "{server} was lost: {why}; what is written to it until it is back is not seen\n"
                )),
            },
            _ => Ok(()),
        }
    }

    /// Tells everything that was found, and sums up.
    pub(super) fn all(&self, watched: &Watched) -> io::Result<()> {
        for Counted { finding, count } in &watched.findings {
            self.found(finding, Some(*count))?;
        }
        self.end(watched)
    }

    /// Sums up.
    pub(super) fn end(&self, watched: &Watched) -> io::Result<()> {
        if self.format == WatchFormat::Jsonl {
            let counted = watched.findings.iter().map(|Counted { finding, count }| {
                json!({
                    "rule": finding.rule.name(), "definition": finding.definition,
                    "subject": finding.subject, "count": count,
                })
            });
            return self.line(&json!({
                "event": "end", "at": rfc3339(now()), "findings": counted.collect::<Vec<_>>(),
                "beyond": watched.beyond, "touched": watched.touched, "looked_up": watched.looked_up,
                "gone": watched.gone, "passed_over": watched.passed_over, "denied": watched.denied,
                "gaps": watched.gaps,
            }));
        }
        let mut text = String::new();
        // While it ran, each was told once.
        let again = watched.findings.iter().filter(|it| it.count > 1);
        for Counted { finding, count } in again.filter(|_| !self.to_stderr) {
            let _ = writeln!(
                text,
                "{:>10} × {}: {}",
                thousands(*count),
                finding.rule,
                printable(&finding.what)
            );
        }
        text.push_str(&summary(watched));
        // Under a command, nothing may be left out; otherwise it is what the bound is for.
        let unjudged = unjudged(watched);
        for line in unjudged.lines().filter(|_| !self.to_stderr) {
            let _ = write!(text, "\n  {line}");
        }
        self.output.note(text)?;
        // Why the exit code is 3 is said in any case.
        let unseen = if self.to_stderr { unjudged } else { String::new() } + &unseen(watched);
        if !unseen.is_empty() {
            complain(unseen)?;
        }
        let (touched, looked_up) = (times(watched.touched), times(watched.looked_up));
        self.output
            .detail(format_args!("keys were touched {touched} and looked up {looked_up}"))?;
        Ok(())
    }

    fn found(&self, finding: &Finding, count: Option<u64>) -> io::Result<()> {
        let mut finding = finding.clone();
        if self.masked && finding.rule == Rule::UnknownKey {
            finding.help.push("`--show-keys` shows the key as it is".to_owned());
        }
        let finding = &finding;
        match self.format {
            WatchFormat::Full => self.write(&full(finding, count)),
            WatchFormat::Jsonl => self.line(&object(finding, count)),
            WatchFormat::Github => self.write(&annotations(&[self.reported(finding, count)])),
        }
    }

    fn reported(&self, finding: &Finding, count: Option<u64>) -> Reported {
        let mut notes = Vec::new();
        notes.extend(example(finding).map(|key| format!("for example {key}")));
        notes.extend(finding.written_by().map(|text| printable(&text)));
        notes.extend(
            count
                .filter(|count| *count > 1)
                .map(|count| format!("seen {} times", thousands(count))),
        );
        Reported {
            rule: finding.rule.name().to_owned(),
            severity: finding.severity.into(),
            message: printable(&finding.what),
            help: finding.help.iter().map(|help| printable(help)).collect(),
            notes,
            locations: self.places.of(finding).into_iter().collect(),
            properties: Map::new(),
            baseline_state: None,
        }
    }

    fn line(&self, object: &Value) -> io::Result<()> {
        self.write(&format!("{}\n", visible_json(object.to_string())))
    }

    fn write(&self, text: &str) -> io::Result<()> {
        if self.to_stderr { complain(text) } else { self.output.print_while_read(text) }
    }
}

fn full(finding: &Finding, count: Option<u64>) -> String {
    let look = if finding.severity == Severity::Error { ERROR } else { WARNING };
    let name = format!("{}[{}]", finding.severity.name(), finding.rule);
    let mut text = format!("{}: {}", look.on(name), printable(&finding.what));
    if let Some(count) = count.filter(|count| *count > 1) {
        let _ = write!(text, ", {} times", thousands(count));
    }
    text.push('\n');
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {} {}: {value}", DIM.on("="), HELP.on(name));
    };
    if let Some(key) = example(finding) {
        line("key", &key);
    }
    if let Some(owner) = &finding.owner {
        let contact = finding.contact.as_ref().map(|contact| format!(", contact: {contact}"));
        line("owner", &printable(&format!("{owner}{}", contact.unwrap_or_default())));
    }
    for help in &finding.help {
        line("help", &printable(help));
    }
    text
}

fn object(finding: &Finding, count: Option<u64>) -> Value {
    let example = finding.examples.first();
    json!({
        "event": "found",
        "at": rfc3339(now()),
        "rule": finding.rule.name(),
        "severity": finding.severity.name(),
        "schema": finding.schema,
        "definition": finding.definition,
        "owner": finding.owner,
        "contact": finding.contact,
        "subject": finding.subject,
        "what": finding.what,
        "help": finding.help,
        "key": example.map(|example| example.key.as_str()),
        "detail": example.and_then(|example| example.detail.as_deref()),
        "count": count.unwrap_or(1),
    })
}

/// The first key with it, masked as in reports.
fn example(finding: &Finding) -> Option<String> {
    let example = finding.examples.first()?;
    let detail = example.detail.as_ref().map(|detail| format!(" ({})", printable(detail)));
    Some(format!("`{}`{}", printable(example.key.as_str()), detail.unwrap_or_default()))
}

fn listed(notes: &[String]) -> String {
    notes.iter().flat_map(|note| ["\n  ", note]).collect()
}

fn summary(watched: &Watched) -> String {
    let found: u64 = watched.findings.iter().map(|it| it.count).sum();
    let mut text = match watched.findings.len() {
        0 => "nothing was written outside the schema".to_owned(),
        1 => format!("1 pattern is outside the schema, seen {}", times(found)),
        patterns => format!(
            "{} patterns are outside the schema, seen {}",
            thousands(patterns as u64),
            times(found)
        ),
    };
    if watched.gone > 0 {
        let keys = keys(watched.gone);
        let what = "gone when looked up, or in another database";
        let _ = write!(text, "\n  {keys} {} {what}", were(watched.gone));
    }
    text
}

/// What was received and not judged.
fn unjudged(watched: &Watched) -> String {
    let mut text = String::new();
    if watched.beyond > 0 {
        let keys = keys(watched.beyond);
        let _ = writeln!(text, "{keys} broke a rule beyond the 1,000 patterns that are reported");
    }
    if watched.passed_over > 0 {
        let (keys, were) = (keys(watched.passed_over), were(watched.passed_over));
        let _ = writeln!(
            text,
            "{keys} {were} passed over: more were written than could be looked up, or with too long a name"
        );
    }
    text
}

/// What was not seen, though nobody asked for that.
fn unseen(watched: &Watched) -> String {
    let mut text = String::new();
    if watched.denied > 0 {
        let keys = keys(watched.denied);
        let _ = writeln!(text, "{keys} could not be looked up: this user may not read them");
    }
    if watched.gaps > 0 {
        let lost = times(u64::from(watched.gaps));
        let _ = writeln!(
            text,
            "a server was lost or replaced {lost}: what was written to it meanwhile was not seen"
        );
    }
    text
}

fn keys(count: u64) -> String {
    if count == 1 { "1 key".to_owned() } else { format!("{} keys", thousands(count)) }
}

fn were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

fn times(count: u64) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        count => format!("{} times", thousands(count)),
    }
}
