//! One HTML file that needs nothing else: no network, and no script for what is essential.

mod areas;
mod chart;
mod checklist;
mod finding;
mod links;
mod page;
mod row;

pub use links::Links;
pub use page::Page;

use crate::report::Report;
use keyward_page::{BASE, COPY, PARTS};
use minijinja::Value;

const PAGE: &str = include_str!("../../../templates/report.html.j2");
const STYLE: &str = include_str!("../../../templates/report.css");
const SCRIPT: &str = include_str!("../../../templates/report.js");

/// SHA-256 of the page's style and script, which its Content-Security-Policy allows. They are constants so
/// that a report costs no hashing; a test compares them.
const STYLE_HASH: &str = "T1BlOCncsPAR6aQPLHoUV0ltRJS0NWHlqiRBKxJbZwA=";
const SCRIPT_HASH: &str = "NlPF3f+PWH1cgY9zXxnsJAkt+WIXIMHQpCaKEEgjtQI=";

/// A report as one self-contained HTML page. The same report gives the same bytes.
///
/// Its Content-Security-Policy forbids loading anything, and running any script but its own.
#[allow(clippy::missing_panics_doc, reason = "the template is ours, and a report cannot change it")]
pub fn html(report: &Report) -> String {
    let page = Page::new(report, &Links::on_one_page(report));
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; \
         style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'"
    );
    let mut environment = keyward_page::environment();
    (environment.add_template("report.html", PAGE))
        .and_then(|()| {
            environment.get_template("report.html")?.render(minijinja::context! {
                policy => Value::from_safe_string(policy),
                style => Value::from_safe_string([BASE, PARTS, STYLE].concat()),
                script => Value::from_safe_string([keyward_page::SCRIPT, COPY, SCRIPT].concat()),
                ..Value::from_serialize(&page)
            })
        })
        .expect("our template asks for nothing that a page does not have")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policy_knows_the_style_and_the_script() {
        let style = [BASE, PARTS, STYLE].concat();
        let script = [keyward_page::SCRIPT, COPY, SCRIPT].concat();
        for (text, hash) in [(style, STYLE_HASH), (script, SCRIPT_HASH)] {
            let own = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
            assert_eq!(hash, own, "write the new hash into this file");
        }
    }
}
