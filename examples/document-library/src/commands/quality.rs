//! `library quality`

use super::{Ended, count};
use document_library::quality::{self, Report};
use document_library::server::Library;
use keyward_fact::visible;
use std::io::{Write as _, stdout};

/// How many keys of each list are shown.
const SHOWN: usize = 5;

pub async fn run(library: &Library, longest: usize) -> anyhow::Result<Ended> {
    let keys = quality::keys(library).await?;
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let Report { quality, meaningless, fallbacks, gaps } = quality::measure(&keys, longest);
    let mut out = stdout().lock();
    writeln!(out, "keys                 {}", quality.total_keys)?;
    if let Some(average) = quality.average_length {
        writeln!(out, "average length       {average:.1} characters")?;
    }
    let mut list = |word: &str, keys: &[&str]| -> std::io::Result<()> {
        writeln!(out, "{word:20} {}", keys.len())?;
        keys.iter().take(SHOWN).try_for_each(|key| writeln!(out, "  {}", visible(key)))?;
        if keys.len() > SHOWN { writeln!(out, "  and {} more", keys.len() - SHOWN) } else { Ok(()) }
    };
    list("format violations", &quality.format_violations)?;
    list(&format!("longer than {longest}"), &quality.length_violations)?;
    list("duplicates", &quality.duplicates)?;
    list("names without sense", &meaningless)?;
    list("names by the clock", &fallbacks)?;
    let gaps: Vec<&str> = gaps.iter().map(String::as_str).collect();
    list("gaps in numbering", &gaps)?;
    let wrong = quality.format_violations.len()
        + quality.length_violations.len()
        + quality.duplicates.len();
    if wrong == 0 {
        return Ok(Ended::Well);
    }
    writeln!(out, "{} of keys", count(wrong, "finding"))?;
    Ok(Ended::Findings)
}
