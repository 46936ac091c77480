//! The documents of this repository hold together.

use keyward_testkit::book::{broken_links, pages, unlisted_pages};

#[test]
fn every_link_leads_somewhere() {
    let broken: Vec<_> = pages().iter().flat_map(|page| broken_links(page)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_of_the_book_is_in_its_table_of_contents() {
    assert_eq!(unlisted_pages(), Vec::<std::path::PathBuf>::new());
}
