//! What a text becomes in Markdown and in HTML, so that it is read as it was meant and does nothing
//! else. A schema's texts are hostile: a pipe must not part a table's cell, a tag must not be one.

use super::prose::Span;
use keyward_fact::is_unseen;
use std::fmt::Write as _;

/// A part of a line in Markdown; fits into a table.
pub(super) fn markdown_span(span: &Span, out: &mut String, first: bool) {
    let text = if span.code { markdown_code(&span.text) } else { markdown_text(&span.text, first) };
    match (&span.target, &span.url) {
        (Some(target), _) => drop(write!(out, "[{text}](#{})", markdown_url(&target.anchor))),
        (None, Some(url)) => drop(write!(out, "[{text}]({})", markdown_url(url))),
        (None, None) => out.push_str(&text),
    }
}

/// Plain text in Markdown; `first` where it begins a line.
pub(super) fn markdown_text(text: &str, first: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    let mut in_number = first;
    while let Some(char) = chars.next() {
        let after = chars.peek().copied();
        let inside = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
        let at_start = first && before.is_none();
        match char {
            // An entity, since tables are parted before backslashes are read.
            '|' => out.push_str("&#124;"),
            '_' if inside(before) && inside(after) => out.push('_'),
            '&' if after.is_some_and(|c| c == '#' || c.is_ascii_alphabetic()) => {
                out.push_str("&amp;");
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '~' | '$' => {
                out.push('\\');
                out.push(char);
            }
            // Before a link, it would make an image of it.
            '!' if after.is_none() => out.push_str("\\!"),
            '#' | '+' | '-' | '=' | ':' if at_start => {
                out.push('\\');
                out.push(char);
            }
            '.' | ')' if in_number && before.is_some() => {
                out.push('\\');
                out.push(char);
            }
            char if char.is_whitespace() => out.push(' '),
            // A reader of Markdown shows a backslash before a letter as it is.
            char if is_unseen(char) => out.extend(char.escape_unicode()),
            char => out.push(char),
        }
        in_number = in_number && char.is_ascii_digit();
        before = Some(char);
    }
    out
}

/// Code in Markdown. Where backticks would not do, tags and entities: inside of a table, a pipe and
/// the backslash before it are read differently from one program to the next.
pub(super) fn markdown_code(text: &str) -> String {
    let text = visible(text);
    let plain = |char: char| !"|`".contains(char);
    if text.chars().all(plain) && !text.is_empty() && text.trim() == text {
        return format!("`{text}`");
    }
    let mut out = "<code>".to_owned();
    for char in text.chars() {
        if char.is_ascii_punctuation() && !"-_.:/".contains(char) || char == '_' {
            let _ = write!(out, "&#{};", char as u32);
        } else {
            out.push(char);
        }
    }
    out + "</code>"
}

/// A fenced block in Markdown.
pub(super) fn markdown_fence(text: &str, language: &str) -> String {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let lines: Vec<String> = text.lines().map(visible).collect();
    format!("{fence}{language}\n{}\n{fence}", lines.join("\n"))
}

fn markdown_url(url: &str) -> String {
    let mut out = String::new();
    for char in url.chars() {
        if char.is_ascii_alphanumeric() || !char.is_ascii() || "-._~:/?#@!&'*+,;=%".contains(char) {
            out.push(char);
        } else {
            let _ = write!(out, "%{:02X}", char as u32);
        }
    }
    out
}

/// A part of a line in HTML.
pub(super) fn html_span(span: &Span, out: &mut String) {
    let text = html_text(&span.text);
    let text = if span.code { format!("<code>{text}</code>") } else { text };
    match (&span.target, &span.url) {
        (Some(target), _) => {
            let _ = write!(out, "<a href=\"#{}\">{text}</a>", html_text(&target.id));
        }
        (None, Some(url)) => {
            let url = html_text(url);
            let _ = write!(out, "<a href=\"{url}\" rel=\"noopener noreferrer\">{text}</a>");
        }
        (None, None) => out.push_str(&text),
    }
}

/// Plain text in HTML, or in an attribute; it keeps its lines.
pub(super) fn html_text(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    keyward_fact::escape_html(&lines.join("\n"))
}

/// With escapes for characters that no reader sees.
pub(super) fn visible(text: &str) -> String {
    keyward_fact::visible(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_read_as_it_was_written() {
        for (text, markdown) in [
            ("folder_id and _this_", r"folder_id and \_this\_"),
            ("a|b <b> &lt; & c", r"a&#124;b \<b\> &amp;lt; & c"),
            ("- no list", r"\- no list"),
            ("1. no list", r"1\. no list"),
            ("2026 is no list", "2026 is no list"),
            ("# no heading", r"\# no heading"),
        ] {
            assert_eq!(markdown_text(text, true), markdown);
        }
    }

    #[test]
    fn code_is_never_parted() {
        assert_eq!(markdown_code("xc:perm:*"), "`xc:perm:*`");
        assert_eq!(markdown_code("a|b"), "<code>a&#124;b</code>");
        assert_eq!(markdown_code("a`b"), "<code>a&#96;b</code>");
        assert_eq!(markdown_code(""), "<code></code>");
        assert_eq!(markdown_fence("a\n```\nb", "sh"), "````sh\na\n```\nb\n````");
    }
}
