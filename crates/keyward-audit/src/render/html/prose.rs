//! Texts with code in them, and patterns in their pieces.

use serde::Serialize;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Span {
    code: bool,
    text: String,
}

/// A text in which backticks mark code. One that has no partner is a character like any other.
pub(super) fn prose(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut push = |code: bool, text: &str| {
        if !text.is_empty() {
            // `14.1 %` is not parted.
            let text = if code { text.to_owned() } else { text.replace(" %", "\u{a0}%") };
            spans.push(Span { code, text });
        }
    };
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, after)) = after.split_once('`') else { break };
        push(false, before);
        push(true, code);
        rest = after;
    }
    push(false, rest);
    spans
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Piece {
    kind: &'static str,
    text: String,
}

/// A pattern cut into words, separators and what varies: `{session_id}`, `<uuid>`.
pub(super) fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '{' => rest.find('}').map(|at| ("param", at + 1)),
            '<' => rest.find('>').map(|at| ("param", at + 1)),
            ':' => Some(("separator", 1)),
            _ => None,
        };
        let until =
            |from: usize| rest[from..].find([':', '{', '<']).map_or(rest.len(), |at| from + at);
        let (kind, end) = end.unwrap_or_else(|| ("literal", until(first.len_utf8())));
        pieces.push(Piece { kind, text: rest[..end].to_owned() });
        rest = &rest[end..];
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_mark_code() {
        let shown = |text: &str| {
            let show = |span: &Span| {
                if span.code { format!("[{}]", span.text) } else { span.text.clone() }
            };
            prose(text).iter().map(show).collect::<String>()
        };
        assert_eq!(shown("`a` is no `b`"), "[a] is no [b]");
        assert_eq!(shown("a ` alone"), "a ` alone");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn a_pattern_is_nothing_but_its_pieces() {
        for pattern in ["session:{id}:x", "a:<uuid>", "{", "a{b", "<", "é:{é}", "::", ""] {
            let pieces = pieces(pattern);
            assert_eq!(pieces.iter().map(|it| it.text.as_str()).collect::<String>(), pattern);
        }
        let kinds: Vec<_> = pieces("v2_{a}:<b>").iter().map(|it| it.kind).collect();
        assert_eq!(kinds, ["literal", "param", "separator", "param"]);
    }
}
