//! Markdown's markers.
//!
//! Markers are recognised where they stand, with a look ahead of at most [`LOOK_AHEAD`] bytes, so that the beginning
//! of a text can be stripped without the rest. A parser of Markdown needs the whole paragraph.

/// How far a decision looks ahead: the longest destination of a link, in bytes.
pub(crate) const LOOK_AHEAD: usize = 600;

/// Spaces that may follow the closing marker of a heading.
const CLOSING_SPACES: usize = 64;

/// Characters that never reach later steps.
pub(crate) fn is_always_removed(symbol: char) -> bool {
    matches!(symbol, '`' | '[' | ']')
}

/// Writes `text[..until]` without markers. What follows `until` is only looked at.
pub(crate) fn strip(text: &str, until: usize, out: &mut String) {
    let bytes = text.as_bytes();
    let (mut at, mut heading) = line_markers(bytes, 0);
    // What is copied as it is begins here.
    let mut plain = at;
    while at < until {
        let next = match bytes[at] {
            b'\n' => {
                let (next, is_heading) = line_markers(bytes, at + 1);
                heading = is_heading;
                out.push_str(&text[plain..=at]);
                next
            }
            b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => {
                out.push_str(&text[plain..at]);
                out.push(char::from(bytes[at + 1]));
                at + 2
            }
            b'`' => {
                out.push_str(&text[plain..at]);
                at + 1
            }
            marker @ (b'*' | b'_' | b'~') => {
                let end = at + run(bytes, at, marker);
                if !is_emphasis(text, at, end, marker) {
                    at = end;
                    continue;
                }
                out.push_str(&text[plain..at]);
                end
            }
            b'!' if bytes.get(at + 1) == Some(&b'[') => {
                out.push_str(&text[plain..at]);
                at + 1
            }
            b'[' => {
                out.push_str(&text[plain..at]);
                footnote(bytes, at).unwrap_or(at + 1)
            }
            b']' => {
                out.push_str(&text[plain..at]);
                destination(bytes, at + 1).unwrap_or(at + 1)
            }
            b'<' => {
                let Some(end) = autolink(text, at) else {
                    at += 1;
                    continue;
                };
                out.push_str(&text[plain..at]);
                out.push_str(&text[at + 1..end - 1]);
                end
            }
            b'#' if heading => {
                let end = at + run(bytes, at, b'#');
                if !closes(bytes, at, end) {
                    at = end;
                    continue;
                }
                out.push_str(&text[plain..at]);
                end
            }
            _ => {
                at += 1;
                continue;
            }
        };
        at = next;
        plain = next;
    }
    if plain < until {
        out.push_str(&text[plain..until]);
    }
}

/// Where a line's text begins after quotes, list items, and the marker of a heading; and whether it is a heading.
fn line_markers(bytes: &[u8], mut at: usize) -> (usize, bool) {
    loop {
        at += blanks(bytes, at);
        let Some(&byte) = bytes.get(at) else { return (at, false) };
        let length = run(bytes, at, byte);
        match byte {
            b'>' => at += length,
            b'-' | b'+' | b'*' if length == 1 && ends_word(bytes, at + 1) => {
                at = task(bytes, at + 1);
            }
            b'0'..=b'9' => match list_number(bytes, at) {
                Some(next) => at = task(bytes, next),
                None => return (at, false),
            },
            b'#' if length <= 6 && ends_word(bytes, at + length) => {
                return (at + length + blanks(bytes, at + length), true);
            }
            // Rules, underlines of headings, fences.
            b'-' | b'+' | b'*' | b'_' | b'~' if length >= 3 && ends_word(bytes, at + length) => {
                return (at + length, false);
            }
            b'=' if length >= 2 && ends_word(bytes, at + length) => return (at + length, false),
            _ => return (at, false),
        }
    }
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// How often `byte` stands at `at`.
fn run(bytes: &[u8], at: usize, byte: u8) -> usize {
    bytes[at..].iter().take_while(|found| **found == byte).count()
}

fn ends_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(u8::is_ascii_whitespace)
}

/// After `1. ` or `1) `.
fn list_number(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = bytes[at..].iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
    let end = at + digits;
    let is_marker = digits <= 9 && matches!(bytes.get(end), Some(b'.' | b')'));
    (is_marker && matches!(bytes.get(end + 1), Some(b' ' | b'\t'))).then_some(end + 1)
}

/// After `[ ]` or `[x]`, the box of a task.
fn task(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 5) {
        Some([b' ', b'[', b' ' | b'x' | b'X', b']', b' ']) => at + 4,
        _ => at,
    }
}

/// Whether the run of `*`, `_` or `~` from `at` to `end` touches a word as emphasis does.
fn is_emphasis(text: &str, at: usize, end: usize, marker: u8) -> bool {
    let before = text[..at].chars().next_back().filter(|c| !c.is_whitespace());
    let after = text[end..].chars().next().filter(|c| !c.is_whitespace());
    let length = end - at;
    if marker == b'~' && length != 2 {
        return false;
    }
    match (before, after) {
        (None, None) => false,
        (Some(before), Some(after)) if before.is_alphanumeric() && after.is_alphanumeric() => {
            marker != b'_' && length >= 2
        }
        _ => true,
    }
}

/// After `[^1]`.
fn footnote(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at + 1) != Some(&b'^') {
        return None;
    }
    let inside = bytes[at..].iter().take(LOOK_AHEAD);
    let length = inside.take_while(|byte| **byte != b']' && !byte.is_ascii_whitespace()).count();
    (bytes.get(at + length) == Some(&b']')).then_some(at + length + 1)
}

/// After the `(destination "title")` or `[reference]` of a link whose text ends before `at`.
fn destination(bytes: &[u8], at: usize) -> Option<usize> {
    let close = match bytes.get(at)? {
        b'(' => b')',
        b'[' => b']',
        _ => return None,
    };
    // Parentheses may be nested; three levels keep the search linear.
    let mut depth = 0_u8;
    for (offset, &byte) in bytes[at..].iter().enumerate().take(LOOK_AHEAD) {
        match byte {
            b'\n' => return None,
            byte if byte == bytes[at] => depth += 1,
            byte if byte == close => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + offset + 1);
        }
        if depth > 3 {
            return None;
        }
    }
    None
}

/// After `<https://example.org>` or `<name@example.org>`.
fn autolink(text: &str, at: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[at + 1..];
    let length = bytes
        .iter()
        .take(LOOK_AHEAD)
        .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'<' | b'>'))
        .count();
    let inside = &bytes[..length];
    let is_scheme = inside.iter().take_while(|byte| byte.is_ascii_alphabetic()).count() >= 2
        && inside.contains(&b':');
    let is_link = is_scheme || inside.contains(&b'@');
    (is_link && bytes.get(length) == Some(&b'>')).then_some(at + length + 2)
}

/// Whether the `#`s from `at` to `end` close a heading.
fn closes(bytes: &[u8], at: usize, end: usize) -> bool {
    let spaces = bytes[end..].iter().take(CLOSING_SPACES);
    let spaces = spaces.take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let at_end = matches!(bytes.get(end + spaces), None | Some(b'\r' | b'\n'));
    at_end && (at == 0 || bytes[at - 1].is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    fn strip(text: &str) -> String {
        let mut out = String::new();
        super::strip(text, text.len(), &mut out);
        out.trim().to_owned()
    }

    #[test]
    fn markers_go_and_texts_stay() {
        for (text, plain) in [
            ("# Risk", "Risk"),
            ("###### Risk ##", "Risk"),
            ("## C# und F# ##", "C# und F#"),
            ("####### seven", "####### seven"),
            ("#hashtag", "#hashtag"),
            ("> - 1. Risk", "Risk"),
            ("- [x] done", "done"),
            ("1) eins\n2) zwei", "eins\nzwei"),
            ("1.000 Euro", "1.000 Euro"),
            ("Risk\n====", "Risk"),
            ("---\nRisk", "Risk"),
            ("```rust\nlet\n```", "rust\nlet"),
            ("**fett** und *kursiv*, _auch_ __init__", "fett und kursiv, auch init"),
            ("snake_case und 2*3 und 2 * 3", "snake_case und 2*3 und 2 * 3"),
            ("(*a*) ~~weg~~ ~5", "(a) weg ~5"),
            ("ein `wort`", "ein wort"),
            ("[Text](https://example.org/a_(b) \"Titel\") danach", "Text danach"),
            ("![Bild](x.png) und [Text][1]", "Bild und Text"),
            ("Fußnote[^1] hier", "Fußnote hier"),
            ("<https://example.org> und 3 < 4 > 2", "https://example.org und 3 < 4 > 2"),
            (r"\# kein \*Zeichen\*", "# kein *Zeichen*"),
            ("[offen](", "offen("),
            ("a](b\n)", "a(b\n)"),
        ] {
            assert_eq!(strip(text), plain, "{text}");
        }
    }
}
