//! Text on a terminal: looks that say nothing which the words do not say, and widths in columns.

use anstyle::{AnsiColor, Style as Ansi};
pub(super) use keyward_page::width;

/// A look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Look {
    #[default]
    Plain,
    Bold,
    Dim,
    Code,
    Error,
    Warning,
    Good,
    Help,
}

impl Look {
    fn ansi(self) -> Ansi {
        match self {
            Look::Plain => Ansi::new(),
            Look::Bold => Ansi::new().bold(),
            Look::Dim => Ansi::new().dimmed(),
            Look::Code => AnsiColor::Cyan.on_default(),
            Look::Error => AnsiColor::BrightRed.on_default().bold(),
            Look::Warning => AnsiColor::Yellow.on_default().bold(),
            Look::Good => AnsiColor::BrightGreen.on_default().bold(),
            Look::Help => AnsiColor::BrightCyan.on_default().bold(),
        }
    }
}

/// Puts looks on texts, or leaves them as they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ink {
    pub(super) color: bool,
}

impl Ink {
    pub(super) fn on(self, look: Look, text: &str) -> String {
        let ansi = look.ansi();
        if self.color && look != Look::Plain && !text.is_empty() {
            format!("{ansi}{text}{ansi:#}")
        } else {
            text.to_owned()
        }
    }
}

/// A text of a report as it can be shown.
pub(in crate::render) fn visible(text: &str) -> String {
    keyward_fact::visible(text).into_owned()
}

/// The lines of a text, parted at spaces; a word that is longer than a line stays whole, so that it
/// can be copied.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match words.last_mut() {
            // `14.1 %` is not parted.
            Some(last) if word.starts_with('%') => *last = format!("{last} {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    let mut lines = vec![String::new()];
    for word in words {
        let line = lines.last_mut().expect("there is a first line");
        if line.is_empty() {
            line.push_str(&word);
        } else if width(line) + 1 + width(&word) <= columns {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_spelt_out() {
        assert_eq!(visible("a\u{1b}[2Jb\n\u{202e}c"), "a\\u{1b}[2Jb\\n\\u{202e}c");
        assert_eq!(visible("ключ:京"), "ключ:京");
    }

    #[test]
    fn a_long_word_stays_whole() {
        assert_eq!(wrap("a bb ccccccc d", 4), ["a bb", "ccccccc", "d"]);
        assert_eq!(wrap("of 7 (14.1 %)", 11), ["of 7", "(14.1 %)"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
