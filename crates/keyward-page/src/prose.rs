//! Texts with code in them, and patterns as tokens.

use serde::Serialize;

/// A run of text, plain or code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Whether it is code
    pub code: bool,
    /// The text
    pub text: String,
}

impl Span {
    /// A run of code.
    pub fn code(text: &str) -> Self {
        Span { code: true, text: text.to_owned() }
    }
}

/// A text in which backticks mark code. A backtick without a partner is an ordinary character.
pub fn prose(text: &str) -> Vec<Span> {
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

/// A word, a separator or a placeholder of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Token {
    /// `literal`, `separator` or `param`
    pub kind: &'static str,
    /// The text
    pub text: String,
}

/// A pattern as words, separators and placeholders: `{session_id}`, `<uuid>`.
pub fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
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
        tokens.push(Token { kind, text: rest[..end].to_owned() });
        rest = &rest[end..];
    }
    tokens
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
        assert_eq!(shown("`a` is not `b`"), "[a] is not [b]");
        assert_eq!(shown("a ` alone"), "a ` alone");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn the_tokens_of_a_pattern_are_the_pattern() {
        for pattern in ["session:{id}:x", "a:<uuid>", "{", "a{b", "<", "é:{é}", "::", ""] {
            let tokens = tokens(pattern);
            assert_eq!(tokens.iter().map(|it| it.text.as_str()).collect::<String>(), pattern);
        }
        let kinds: Vec<_> = tokens("v2_{a}:<b>").iter().map(|it| it.kind).collect();
        assert_eq!(kinds, ["literal", "param", "separator", "param"]);
    }
}
