//! Regular expressions as languages: what matches from end to end, in ASCII.

use crate::automaton::{Dfa, Nfa, TooLarge};
use crate::language::{LanguageError, MAX_REGEX_STATES};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The language of a regular expression.
pub(crate) fn regex(pattern: &str) -> Result<Dfa, LanguageError> {
    let hir = ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .nest_limit(64)
        .build()
        .parse(pattern)
        .map_err(|error| LanguageError::Regex(first_line(&error)))?;
    let dfa = nfa(&hir)?.determinize(MAX_REGEX_STATES)?;
    if (0x80..=0xff).any(|byte| dfa.uses(byte)) {
        let message = "the regular expression goes beyond ASCII; list the characters it may match";
        return Err(LanguageError::Regex(message.to_owned()));
    }
    Ok(dfa)
}

fn nfa(hir: &Hir) -> Result<Nfa, LanguageError> {
    Ok(match hir.kind() {
        HirKind::Empty => Nfa::empty(),
        HirKind::Literal(literal) => Nfa::literal(&literal.0),
        HirKind::Class(Class::Bytes(class)) => Nfa::bytes(
            &class.ranges().iter().map(|range| (range.start(), range.end())).collect::<Vec<_>>(),
        ),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges().iter().map(|range| (range.start(), range.end()));
            crate::automaton::chars(&ranges.collect::<Vec<_>>())?
        }
        HirKind::Look(_) => {
            let message = "the regular expression matches from end to end; leave out `^`, `$`, `\\b` and other anchors";
            return Err(LanguageError::Regex(message.to_owned()));
        }
        HirKind::Repetition(repetition) => {
            nfa(&repetition.sub)?.repeat(repetition.min, repetition.max)?
        }
        HirKind::Capture(capture) => nfa(&capture.sub)?,
        HirKind::Concat(parts) => each(parts, Nfa::concat)?,
        HirKind::Alternation(parts) => each(parts, Nfa::any)?,
    })
}

fn each(
    parts: &[Hir],
    join: impl FnOnce(Vec<Nfa>) -> Result<Nfa, TooLarge>,
) -> Result<Nfa, LanguageError> {
    let parts = parts.iter().map(nfa).collect::<Result<Vec<_>, _>>()?;
    Ok(join(parts)?)
}

/// The parser draws the expression with a marker; the place in the file is shown anyway.
fn first_line(error: &regex_syntax::Error) -> String {
    let reason = match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        error => error.to_string(),
    };
    format!("not a regular expression: {reason}")
}
