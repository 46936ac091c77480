//! Files that are no documents, and documents that are no text.

use super::harness::{Shelf, numbered};
use keyward_testkit::Flavor;
use std::os::unix::fs::symlink;
use std::process::Command;

#[test]
fn texts_without_words_have_names_by_the_clock() {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        for (file, text) in [
            ("empty.md", ""),
            ("symbols.md", "!?!\n\n# ---\n\n***\n"),
            ("emoji.md", "# 😀😀\n\n😀\n\n👨‍👩‍👧\n"),
            ("rtl.md", "# مرحبا بالعالم\n\nשלום עולם\n"),
            ("combining.md", "# Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢\n\n\u{301}\u{301}\n"),
            ("chinese.md", "# 你好世界\n\n你好\n"),
            ("letters.md", "# Ä\n\nx\n\n## ß\n"),
            ("---.md", "# Only a heading\n"),
            ("!.md", "nothing\n"),
        ] {
            shelf.write(file, text);
        }
        shelf.ok(&["add", "."]);
        shelf.verify();
        // The file's name has no letters, so that the heading gives the title.
        assert_eq!(shelf.field("doc:only_a_heading:001", "title"), "Only a heading");
        for key in shelf.sequence("library:documents:paths") {
            let document = shelf.ok(&["list"]);
            assert!(
                document.contains(&key.replace(&shelf.path(""), "[DIR]/").replace("//", "/")),
                "{document}"
            );
        }
        let quality = shelf.ok(&["quality"]);
        assert!(quality.contains("format violations    0"), "{quality}");
    }
}

#[test]
fn files_that_are_no_text_are_refused_with_the_place() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.write("good.md", "# Good\n");
    shelf.write("nul.md", "# One\n\na\0b\n");
    shelf.write("latin.md", b"# One\ngr\xfc\xdfe\n");
    shelf.write("yaml.md", "---\ntitle: [a\n---\n");
    shelf.write("tag.md", "---\ntags: ['!']\n---\n");
    let output = shelf.run(&["add", "."]);
    assert_eq!(output.code, Some(2), "{output}");
    for message in [
        "[DIR]/nul.md:3: byte 8 of the file is NUL: save it as UTF-8",
        "[DIR]/latin.md:2: byte 8 of the file is not valid UTF-8: save it as UTF-8",
        "[DIR]/yaml.md: line 3: the front matter is not YAML: ",
        "[DIR]/tag.md: the tag `!` gives no name of two letters or more: write it out in the front matter",
    ] {
        assert!(output.stderr.contains(message), "{message}\n{output}");
    }
    // The others are added.
    assert!(
        output.stdout.contains("1 document added, 0 updated, 0 unchanged, 4 failed"),
        "{output}"
    );
    shelf.verify();
}

#[test]
fn what_is_no_file_is_refused() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.write("folder/readme.txt", "text");
    let pipe = shelf.cli.folder().join("pipe.md");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = shelf.run(&["add", "pipe.md"]);
    assert_eq!(pipe.code, Some(2), "{pipe}");
    assert!(pipe.stderr.contains("neither a file nor a folder"), "{pipe}");
    let none = shelf.run(&["add", "folder"]);
    assert_eq!(none.code, Some(2), "{none}");
    assert!(none.stderr.contains("no Markdown file is there"), "{none}");
    symlink("nowhere", shelf.cli.folder().join("folder/link.md")).unwrap();
    let link = shelf.run(&["add", "folder"]);
    assert_eq!(link.code, Some(2), "{link}");
    assert!(link.stderr.contains("[DIR]/folder/link.md: No such file"), "{link}");
    let missing = shelf.run(&["add", "missing.md"]);
    assert_eq!(missing.code, Some(2), "{missing}");
    assert!(missing.stderr.contains("missing.md: No such file"), "{missing}");
}

#[test]
fn a_link_is_the_file_that_it_leads_to() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.write("folder/real.md", "# Real\n");
    symlink("real.md", shelf.cli.folder().join("folder/link.md")).unwrap();
    shelf.write("folder/other.md", "# Other\n");
    shelf.ok(&["add", "folder"]);
    assert_eq!(shelf.keys("doc:*:001").len(), 2);
    shelf.ok(&["remove", "folder/link.md"]);
    assert_eq!(Vec::from_iter(shelf.keys("doc:*:001")), ["doc:other:001"]);
    shelf.verify();
}

#[test]
fn a_document_whose_field_names_another_file_removes_nothing_else() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.write("one.md", "# One\n");
    shelf.write("two.md", "# Two\n");
    shelf.ok(&["add", "."]);
    let two = shelf.cli.folder().join("two.md").canonicalize().unwrap();
    shelf.server.command(&["HSET", "doc:one:001", "source", two.to_str().unwrap()]);
    let removed = shelf.run(&["remove", "doc:one:001"]);
    assert_eq!(removed.code, Some(2), "{removed}");
    assert!(removed.stderr.contains("which is not so"), "{removed}");
    assert_eq!(shelf.keys("doc:*:001").len(), 2);
    let verified = shelf.run(&["verify"]);
    assert_eq!(verified.code, Some(1), "{verified}");
    assert!(verified.stdout.contains("doc:one:001"), "{verified}");
    shelf.ok(&["remove", "one.md"]);
    assert_eq!(Vec::from_iter(shelf.keys("doc:*:001")), ["doc:two:001"]);
}

#[test]
fn two_documents_with_one_title_have_two_numbers() {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        shelf.write("a/readme.md", "# Same\n");
        shelf.write("b/readme.md", "# Same\n");
        shelf.ok(&["add", "a", "b"]);
        assert_eq!(shelf.keys("doc:readme:0??").len(), 2);
        assert_eq!(shelf.keys("ch:same:0??").len(), 2);
        shelf.verify();
    }
}

#[test]
fn huge_words_lines_and_many_headings_are_stored() {
    let shelf = Shelf::new(Flavor::Valkey);
    shelf.write("line.md", "word ".repeat(2 << 20));
    shelf.write("word.md", "w".repeat(10 << 20));
    shelf.write("deep.md", format!("{} text\n", ">".repeat(1000)));
    shelf.write("headings.md", numbered(3000, |at| format!("# Heading {at}\n\ntext\n\n")));
    shelf.ok(&["add", "."]);
    assert_eq!(shelf.keys("chunk:word_word_word_word:001").len(), 1);
    assert_eq!(shelf.keys(&format!("chunk:{}:001", "w".repeat(30))).len(), 1);
    let output = shelf.run(&["verify"]);
    assert_eq!(output.code, Some(0), "{output}");
    shelf.reads_like("doc:headings:001", &shelf.cli.folder().join("headings.md"));
}
