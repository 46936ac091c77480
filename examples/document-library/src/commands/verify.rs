//! `library verify`

use super::{Ended, count};
use document_library::server::Library;
use document_library::verify;
use keyward_fact::visible;
use std::io::{Write as _, stdout};

/// How many notes are shown.
const NOTES: usize = 10;

pub async fn run(library: &Library) -> anyhow::Result<Ended> {
    let report = verify::verify(library).await?;
    let mut out = stdout().lock();
    for (key, what) in &report.findings {
        writeln!(out, "{}: {}", visible(key), visible(what))?;
    }
    if report.more > 0 {
        writeln!(out, "and {} more", report.more)?;
    }
    for (identifier, kinds) in report.notes.iter().take(NOTES) {
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.prefix()).collect();
        writeln!(out, "note: `{identifier}` is a name of several kinds: {}", kinds.join(", "))?;
    }
    if report.notes.len() > NOTES {
        writeln!(out, "note: and {} more names of several kinds", report.notes.len() - NOTES)?;
    }
    let findings = match report.findings.len() + report.more {
        0 => "nothing is wrong".to_owned(),
        some => count(some, "finding"),
    };
    let (documents, elements) =
        (count(report.documents, "document"), count(report.elements, "element"));
    writeln!(out, "{documents}, {elements}: {findings}")?;
    Ok(if report.is_clean() { Ended::Well } else { Ended::Findings })
}
