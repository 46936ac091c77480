//! A real corpus: the documentation of Node.js as Debian packages it, and German texts.

use super::harness::Shelf;
use keyward_testkit::{Flavor, repository};
use std::fs;
use std::path::{Path, PathBuf};

/// Where `./test` puts the corpus.
fn corpus() -> PathBuf {
    let folder = repository().join("target/tools/corpus");
    assert!(folder.is_dir(), "{} is missing: `./test tools` fetches it", folder.display());
    folder
}

#[test]
fn a_real_corpus_is_stored_read_back_and_clean() {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        let texts = repository().join("examples/document-library/texts");
        let folders = [corpus(), texts];
        let [english, german] = folders.each_ref().map(|it| it.to_str().unwrap());
        let added = shelf.ok(&["add", "--quiet", english, german]);
        let elements =
            added.trim().rsplit("; ").next().and_then(|it| it.split(' ').next()).unwrap();
        let elements: usize = elements.replace(',', "").parse().unwrap();
        assert!(elements >= 5000, "{added}");
        shelf.verify();
        for line in shelf.ok(&["list"]).lines() {
            let (document, file) =
                (line.split("  ").next().unwrap(), line.rsplit("  ").next().unwrap());
            let file = file.replace("[ROOT]", repository().to_str().unwrap());
            shelf.reads_like(document, Path::new(&file));
        }
        // Again, nothing is new; and with one change, only that.
        let again = shelf.ok(&["add", "--quiet", english, german]);
        assert!(again.starts_with("0 documents added, 0 updated"), "{again}");
        let copy = shelf.cli.folder().join("fs.md");
        let text = fs::read_to_string(corpus().join("fs.md")).unwrap();
        fs::write(&copy, &text).unwrap();
        shelf.ok(&["add", "fs.md"]);
        fs::write(
            &copy,
            text.replacen(
                "## Promise example",
                "## A new part\n\nNew words.\n\n## Promise example",
                1,
            ),
        )
        .unwrap();
        let updated = shelf.ok(&["add", "fs.md"]);
        assert!(updated.contains(" 2 new, 0 gone"), "{updated}");
        shelf.verify();
    }
}
