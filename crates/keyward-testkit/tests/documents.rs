//! The documents of this repository hold together.

use keyward_testkit::book::{broken_links, pages, unlisted_pages};
use keyward_testkit::{repository, snippet};
use std::fs;

#[test]
fn every_link_leads_somewhere() {
    let broken: Vec<_> = pages().iter().flat_map(|page| broken_links(page)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_of_the_book_is_in_its_table_of_contents() {
    assert_eq!(unlisted_pages(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn code_on_a_page_is_what_its_file_holds() {
    let (shown, failed): (Vec<_>, Vec<_>) =
        pages().iter().map(|page| snippet::check(page)).partition(Result::is_ok);
    let failures: Vec<_> = failed.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(shown.into_iter().flatten().sum::<usize>() > 0, "no page shows the code of a file");
}

/// Whoever follows a page must know where `examples/` is.
#[test]
fn commands_on_examples_say_where_to_run_them() {
    for page in pages() {
        let text = fs::read_to_string(repository().join(&page)).expect("the page is readable");
        let on_examples = |line: &str| line.starts_with("$ ") && line.contains(" examples/");
        assert!(
            !text.lines().any(on_examples) || text.contains("rom the root of the repository"),
            "`{}` does not say where its commands run",
            page.display()
        );
    }
}

/// A forge shows pages as they are: what only mdBook fills in would be missing there.
#[test]
fn no_page_needs_mdbook_to_be_read() {
    for page in pages() {
        let text = fs::read_to_string(repository().join(&page)).expect("the page is readable");
        assert!(!text.contains("{{#"), "`{}` has a directive of mdBook", page.display());
    }
}

#[test]
fn files_that_the_documents_name_exist() {
    for page in ["CONTRIBUTING.md", "docs/src/contributing.md"] {
        let text = fs::read_to_string(repository().join(page)).expect("the page is readable");
        let named = text.split('`').skip(1).step_by(2).filter(|code| code.starts_with("crates/"));
        for path in named {
            assert!(repository().join(path).exists(), "{page}: there is no `{path}`");
        }
    }
}
