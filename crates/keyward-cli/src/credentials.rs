//! Keeps passwords out of messages: a URL may stand where a file is expected, or nothing at all.

use keyward_audit::live::shown;
use std::env;

/// A message without the credentials of the URLs that were typed.
pub(crate) fn hidden(text: &str) -> String {
    let typed: Vec<_> = env::args_os().skip(1).collect();
    let typed = typed.iter().map(|arg| arg.to_string_lossy());
    typed.fold(text.to_owned(), |text, arg| without(text, &arg))
}

fn without(text: String, arg: &str) -> String {
    let Some(url) = url(arg).filter(|url| url.contains(['@', '?'])) else { return text };
    let text = text.replace(url, &shown(url));
    // As a path, with one slash.
    text.replace(&url.replacen("://", ":/", 1), &shown(url))
}

/// The URL in an argument, which may be the value of an option: `--schema=redis://host`.
fn url(arg: &str) -> Option<&str> {
    let colon = arg.find(":/")?;
    let is_scheme = |char: char| char.is_ascii_alphanumeric() || matches!(char, '+' | '.');
    let start = arg[..colon].rfind(|char| !is_scheme(char));
    let start = start.map_or(0, |at| at + arg[at..].chars().next().map_or(0, char::len_utf8));
    (start < colon).then(|| &arg[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_credentials() {
        for (arg, message, hidden) in [
            ("redis://:pw@h", "cannot read `redis://:pw@h`", "cannot read `redis://h`"),
            ("redis://:p w'@h", "argument 'redis://:p w'@h' found", "argument 'redis://h' found"),
            ("--schema=redis://u:pw@h:1", "`redis://u:pw@h:1`", "`redis://h:1`"),
            ("redis://:pw@h", "cannot write `redis:/:pw@h/a`", "cannot write `redis://h/a`"),
            ("redis:/:pw@h", "cannot read `redis:/:pw@h`", "cannot read `…`"),
            ("http://u:pw@h", "cannot read `http://u:pw@h`", "cannot read `…`"),
            ("unix:///s?password=pw", "`unix:///s?password=pw`", "`unix:///s`"),
            ("redis://h", "write `redis://user:password@h`", "write `redis://user:password@h`"),
        ] {
            assert_eq!(without(message.to_owned(), arg), hidden, "{arg}");
        }
    }
}
