//! Faults that are planted into a library, one at a time, and what `verify` says of each.

use super::harness::{Shelf, numbered};
use document_library::import::{self, Desired};
use document_library::keyspace::source_id;
use document_library::server::Library;
use document_library::verify::verify;
use insta::assert_snapshot;
use keyward_testkit::Flavor;
use std::time::SystemTime;
use tokio::runtime::Runtime;

const TEXTS: [(&str, &str); 3] = [
    (
        "/texts/a.md",
        "---\ntitle: Alpha Document\nauthor: Ada Lovelace\ncategory: Engines\ntags: [notes]\n---\n\
         # First Chapter\n\nFirst words here.\n\n## Some Part\n\nSecond words here.\n\n\
         # Last Chapter\n\nThird words here.\n",
    ),
    ("/texts/b.md", "---\ntitle: Beta Document\n---\n# First Chapter\n\nOther words here.\n"),
    ("/texts/c.md", "---\ntitle: Gamma Document\n---\n"),
];

/// Commands that plant a fault, the key that is named, and what is said of it.
const FAULTS: &[(&str, &str, &str)] = &[
    // Links
    (
        "SET ch:first_chapter:001:next para:some_part:001",
        "ch:first_chapter:001:next",
        "it is not the next element of the document",
    ),
    (
        "DEL chunk:first_words_here:001:next",
        "chunk:first_words_here:001:next",
        "it is not the next element of the document",
    ),
    (
        "SET chunk:third_words_here:001:next doc:beta_document:001",
        "chunk:third_words_here:001:next",
        "it is not the next element of the document",
    ),
    (
        "SET para:some_part:001:previous ch:first_chapter:001",
        "para:some_part:001:previous",
        "it is not the previous element of the document",
    ),
    (
        "SREM ch:first_chapter:001:siblings ch:last_chapter:001",
        "ch:first_chapter:001:siblings",
        "these are not the children around it",
    ),
    (
        "SADD para:some_part:001:siblings ch:last_chapter:001",
        "para:some_part:001:siblings",
        "these are not the children around it",
    ),
    // What is below
    (
        "SREM doc:alpha_document:001:children ch:last_chapter:001",
        "doc:alpha_document:001:children",
        "these are not the elements whose parent it is",
    ),
    (
        "SADD ch:first_chapter:001:children ch:last_chapter:001",
        "ch:first_chapter:001:children",
        "these are not the elements whose parent it is",
    ),
    (
        "SREM doc:alpha_document:001:all_descendants chunk:second_words_here:001",
        "doc:alpha_document:001:all_descendants",
        "these are not its children and all below them",
    ),
    (
        "SADD para:some_part:001:all_descendants ch:last_chapter:001",
        "para:some_part:001:all_descendants",
        "these are not its children and all below them",
    ),
    (
        "ZADD doc:alpha_document:001:sequence 99 ch:first_chapter:001",
        "doc:alpha_document:001:sequence",
        "it is not the order in which the document is read",
    ),
    (
        "ZREM ch:first_chapter:001:sequence chunk:second_words_here:001",
        "ch:first_chapter:001:sequence",
        "it is not the order in which the document is read",
    ),
    (
        "ZADD para:some_part:001:sequence 9 ch:last_chapter:001",
        "para:some_part:001:sequence",
        "it is not the order in which the document is read",
    ),
    // Elements
    (
        "HSET chunk:third_words_here:001 position 8",
        "chunk:third_words_here:001",
        "its position is 8, and it is number 6",
    ),
    (
        "HSET para:some_part:001 parent ch:last_chapter:001",
        "para:some_part:001",
        "its parent `ch:last_chapter:001` is not above it",
    ),
    (
        "HSET chunk:third_words_here:001 text changed",
        "chunk:third_words_here:001",
        "its text is not the one that its content hash is of",
    ),
    (
        "HSET para:some_part:001 title changed",
        "para:some_part:001",
        "its title or heading is not the one that its content hash is of",
    ),
    (
        "HSET doc:alpha_document:001 title changed",
        "doc:alpha_document:001",
        "its title is not that of its file",
    ),
    (
        "HSET doc:alpha_document:001 front_matter changed",
        "doc:alpha_document:001",
        "its front matter and elements are not those that its content hash is of",
    ),
    (
        "DEL chunk:third_words_here:001",
        "chunk:third_words_here:001",
        "the element is not there: run `library remove /texts/a.md`, then `library add /texts/a.md`",
    ),
    (
        "DEL doc:alpha_document:001",
        "doc:alpha_document:001",
        "the document is not there: run `library add /texts/a.md` again",
    ),
    (
        "HDEL doc:alpha_document:001 content_hash",
        "doc:alpha_document:001",
        "its import was not finished: run `library add /texts/a.md` again",
    ),
    // The catalogue
    (
        "SREM category:engines:docs doc:alpha_document:001",
        "category:engines:docs",
        "`doc:alpha_document:001` is not in it",
    ),
    (
        "SADD category:engines:docs doc:beta_document:001",
        "category:engines:docs",
        "`doc:beta_document:001` is in it, and should not be",
    ),
    (
        "SADD category:engines:docs doc:nothing:001",
        "category:engines:docs",
        "its member `doc:nothing:001` belongs to no document",
    ),
    (
        "SREM author:ada_lovelace:docs doc:alpha_document:001",
        "author:ada_lovelace:docs",
        "`doc:alpha_document:001` is not in it",
    ),
    (
        "SADD author:somebody:docs doc:alpha_document:001 doc:beta_document:001",
        "author:somebody:docs",
        "`doc:alpha_document:001` and 1 more are in it, and should not be",
    ),
    (
        "SREM tag:notes:chunks chunk:second_words_here:001",
        "tag:notes:chunks",
        "`chunk:second_words_here:001` is not in it",
    ),
    (
        "SADD tag:notes:chunks chunk:other_words_here:001",
        "tag:notes:chunks",
        "`chunk:other_words_here:001` is in it, and should not be",
    ),
    (
        "SADD tag:notes:chunks chunk:nothing:001 chunk:nothing:002",
        "tag:notes:chunks",
        "`chunk:nothing:001` and 1 more of its members belong to no document",
    ),
    (
        "SREM level:chunk:chunks chunk:first_words_here:001",
        "level:chunk:chunks",
        "`chunk:first_words_here:001` is not in it",
    ),
    (
        "SREM level:para:chunks chunk:second_words_here:001",
        "level:para:chunks",
        "`chunk:second_words_here:001` is not in it",
    ),
    (
        "SADD level:doc:chunks chunk:first_words_here:001",
        "level:doc:chunks",
        "`chunk:first_words_here:001` is in it, and should not be",
    ),
    // The order of documents
    (
        "SET doc:alpha_document:001:next doc:gamma_document:001",
        "doc:alpha_document:001:next",
        "it is not the next document by path",
    ),
    (
        "DEL doc:gamma_document:001:previous",
        "doc:gamma_document:001:previous",
        "it is not the previous document by path",
    ),
    (
        "SREM doc:beta_document:001:siblings doc:gamma_document:001",
        "doc:beta_document:001:siblings",
        "these are not the documents around it",
    ),
    (
        "ZREM library:documents:paths /texts/b.md",
        "doc:alpha_document:001:next",
        "it is not the next document by path",
    ),
    // What belongs to nothing
    (
        "ZREM library:documents:paths /texts/b.md",
        "ch:first_chapter:002",
        "it belongs to no document",
    ),
    ("HSET chunk:left_over:001 text words", "chunk:left_over:001", "it belongs to no document"),
    (
        "SET chunk:left_over:001:next ch:first_chapter:001",
        "chunk:left_over:001:next",
        "it belongs to no document",
    ),
    (
        "SET chunk:left_over:001:previous ch:first_chapter:001",
        "chunk:left_over:001:previous",
        "it belongs to no document",
    ),
    (
        "SADD ch:left_over:001:children ch:first_chapter:001",
        "ch:left_over:001:children",
        "it belongs to no document",
    ),
    (
        "SADD ch:left_over:001:all_descendants ch:first_chapter:001",
        "ch:left_over:001:all_descendants",
        "it belongs to no document",
    ),
    (
        "ZADD ch:left_over:001:sequence 1 ch:first_chapter:001",
        "ch:left_over:001:sequence",
        "it belongs to no document",
    ),
    (
        "SADD ch:left_over:001:siblings ch:first_chapter:001",
        "ch:left_over:001:siblings",
        "it belongs to no document",
    ),
];

#[test]
fn every_fault_that_is_planted_is_named() {
    for flavor in Flavor::ALL {
        let server = flavor.start();
        let runtime = Runtime::new().unwrap();
        let library = runtime.block_on(Library::connect(&server.url())).unwrap();
        let findings = || runtime.block_on(verify(&library)).unwrap().findings;
        let fill = || {
            server.command(&["FLUSHALL"]);
            for (path, text) in TEXTS {
                let desired = Desired::new(path, text, SystemTime::now()).unwrap();
                runtime.block_on(import::add(&library, &desired)).unwrap();
            }
        };
        fill();
        assert_eq!(findings(), []);
        for (fault, key, what) in FAULTS {
            server.command(&fault.split(' ').collect::<Vec<_>>());
            let found = findings();
            let expected = ((*key).to_owned(), (*what).to_owned());
            assert!(found.contains(&expected), "{fault}: {expected:?} is not in {found:#?}");
            fill();
        }
        // A list of what belongs to a file whose document is gone.
        let id = source_id("/texts/gone.md").unwrap();
        let list = format!("source:{id}:elements");
        server.command(&["SADD", &list, "chunk:gone:001"]);
        let what = "an import or a removal was not finished: run it again (its member `chunk:gone:001` belongs to no document)";
        assert_eq!(findings(), [(list, what.to_owned())]);
    }
}

#[test]
fn findings_and_names_of_several_kinds_are_shown() {
    let shelf = Shelf::new(Flavor::Valkey);
    let text = numbered(12, |at| format!("# Name {at} Here\n\n## Name {at} Here\n\n"));
    shelf.write("names.md", text + "# Risk Model\n\n## Risk Model\n\n### Risk Model\n");
    shelf.ok(&["add", "names.md"]);
    let clean = shelf.run(&["verify"]);
    shelf.server.command(&["SET", "ch:risk_model:001:next", "doc:names:001"]);
    let wrong = shelf.run(&["verify"]);
    assert_eq!((clean.code, wrong.code), (Some(0), Some(1)));
    assert_snapshot!(format!("{clean}\n{wrong}"));
}
