//! What programs read.

use crate::fixture;
use keyward_audit::render::{github, sarif};
use keyward_audit::report::Finding;
use keyward_rules::exchange::{Location, Region};

/// As if the schema were at hand, but for one definition.
fn location(finding: &Finding) -> Option<Location> {
    let region = Region { line: 38, column: 1, end_line: 38, end_column: 22 };
    let file = "keyward.toml".to_owned();
    let known = finding.definition.as_deref() == Some("user_watchlist");
    known.then(|| Location { file, region: Some(region), text: String::new() })
}

#[test]
fn github_shows_a_finding_at_its_definition() {
    insta::assert_snapshot!(github(&fixture::report(), &location));
}

#[test]
fn sarif_says_how_many_keys_and_where_they_are() {
    let mut report = fixture::report();
    report.findings.truncate(2);
    let document = sarif(&report, &location);
    let mut document: serde_json::Value = serde_json::from_str(&document).expect("it is JSON");
    // The rules' documentation is theirs to test.
    document["runs"][0]["tool"]["driver"]["rules"].take();
    insta::assert_snapshot!(format!("{document:#}"));
}

#[test]
fn what_was_not_seen_whole_was_no_success() {
    let mut report = fixture::report();
    report.source.complete = false;
    let document = sarif(&report, &|_| None);
    let document: serde_json::Value = serde_json::from_str(&document).expect("it is JSON");
    assert_eq!(document["runs"][0]["invocations"][0]["executionSuccessful"], false);
}
