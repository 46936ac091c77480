//! What an audit against the schema says of a library.

use super::harness::Shelf;
use keyward_audit::{Audit, Options, Report, Subject};
use keyward_testkit::{Flavor, Server, repository};
use std::sync::Arc;

#[test]
fn an_audit_finds_keys_of_all_definitions_and_nothing_wrong() {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        let texts = repository().join("examples/document-library/texts");
        shelf.ok(&["add", texts.to_str().unwrap()]);
        // Somebody is writing.
        let id = "a".repeat(40);
        shelf.server.command(&["SET", &format!("source:{id}:lock"), "somebody", "PX", "10000"]);
        let report = audit(&shelf.server);
        let findings: Vec<_> = report.findings.iter().map(|it| &it.message).collect();
        assert!(findings.is_empty(), "{findings:#?}");
        let unknown: Vec<_> = report.unknown.iter().map(|group| &group.pattern).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let without = report.definitions.iter().filter(|it| it.facts.keys == 0);
        let without: Vec<&str> = without.map(|it| it.name.as_str()).collect();
        assert!(without.is_empty(), "no keys of {without:?}");
    }
}

/// What an audit reports.
pub(crate) fn findings(server: &Server) -> Vec<String> {
    let report = audit(server);
    let unknown = report.unknown.iter().map(|group| format!("unknown: {}", group.pattern));
    report.findings.iter().map(|it| it.message.clone()).chain(unknown).collect()
}

fn audit(server: &Server) -> Report {
    let path = repository().join("examples/document-library/keyward.toml");
    let schema = keyward_schema::load(&path).schema.expect("the schema is sound");
    let audit = Arc::new(Audit::new(vec![Subject::new(schema)], &Options::default()));
    let options = keyward_audit::live::Options::default();
    audit.observe(&server.url(), &options, || None, keyward_audit::now()).expect("it can be read")
}
