//! Templates in which everything but our own markup is escaped.

use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

/// The macros that draw the parts.
const PARTS: &str = include_str!("../templates/parts.html.j2");

/// An environment with the macros of `parts.html`. Everything that a template writes is escaped, and invisible
/// characters are spelt out; what a page does not have is an error.
#[allow(clippy::missing_panics_doc, reason = "the template is ours, and a test parses it")]
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, _, value| {
        let written = match value.as_str() {
            Some(text) if value.is_safe() => out.write_str(text),
            Some(text) => out.write_str(&escape(text)),
            None => out.write_str(&escape(&value.to_string())),
        };
        written.map_err(|error| Error::new(ErrorKind::WriteFailure, error.to_string()))
    });
    environment.add_template("parts.html", PARTS).expect("our macros can be parsed");
    environment
}

/// A text in HTML or in an attribute.
///
/// ```
/// assert_eq!(keyward_page::escape("<b a='\"&\n"), "&lt;b a=&#39;&quot;&amp;\\n");
/// ```
pub fn escape(text: &str) -> String {
    keyward_fact::escape_html(&keyward_fact::visible(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_macros_can_be_parsed() {
        assert!(environment().get_template("parts.html").is_ok());
    }

    #[test]
    fn a_template_that_asks_for_too_much_is_an_error() {
        let mut environment = environment();
        environment.add_template("page.html", "{{ nothing }}").unwrap();
        assert!(environment.get_template("page.html").unwrap().render(()).is_err());
    }
}
