//! One HTML file that needs nothing else: no network, and no script for what is essential.

mod areas;
mod chart;
mod checklist;
mod finding;
mod page;
mod prose;
mod row;
mod treemap;

use super::ink::visible;
use crate::report::Report;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

const PAGE: &str = include_str!("../../../templates/report.html.j2");
const STYLE: &str = include_str!("../../../templates/report.css");
const SCRIPT: &str = include_str!("../../../templates/report.js");

/// SHA-256 of the page's style and script, which its Content-Security-Policy allows. They are constants so
/// that a report costs no hashing; a test compares them.
const STYLE_HASH: &str = "fo4Ia4GoxE4Sc8Du1emE4SbXJeQUM8HXuvM4PRIOIMU=";
const SCRIPT_HASH: &str = "izvrHwNnjVLcnV2BkAWCrY8SGddl5guoqSTK8quhRyw=";

/// A report as one self-contained HTML page. The same report gives the same bytes.
///
/// Its Content-Security-Policy forbids loading anything, and running any script but its own.
#[allow(clippy::missing_panics_doc, reason = "the template is ours, and a report cannot change it")]
pub fn html(report: &Report) -> String {
    let page = page::Page::new(report);
    environment()
        .and_then(|environment| {
            let policy = format!(
                "default-src 'none'; base-uri 'none'; form-action 'none'; \
                 style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'"
            );
            let template = environment.get_template("report.html")?;
            template.render(minijinja::context! {
                policy => Value::from_safe_string(policy),
                style => Value::from_safe_string(STYLE.to_owned()),
                script => Value::from_safe_string(SCRIPT.to_owned()),
                ..Value::from_serialize(&page)
            })
        })
        .expect("our template asks for nothing that a page does not have")
}

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // Everything but our own markup is escaped, and invisible characters are spelt out.
    environment.set_formatter(|out, _, value| {
        let written = match value.as_str() {
            Some(text) if value.is_safe() => out.write_str(text),
            Some(text) => out.write_str(&escape(text)),
            None => out.write_str(&escape(&value.to_string())),
        };
        written.map_err(|error| Error::new(ErrorKind::WriteFailure, error.to_string()))
    });
    environment.add_template("report.html", PAGE)?;
    Ok(environment)
}

/// A text of a report in HTML or in an attribute.
fn escape(text: &str) -> String {
    keyward_fact::escape_html(&visible(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policy_knows_the_style_and_the_script() {
        for (text, hash) in [(STYLE, STYLE_HASH), (SCRIPT, SCRIPT_HASH)] {
            let own = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
            assert_eq!(hash, own, "write the new hash into this file");
        }
    }

    #[test]
    fn nothing_leaves_its_place() {
        assert_eq!(escape("<b a='\"&\n"), "&lt;b a=&#39;&quot;&amp;\\n");
    }
}
