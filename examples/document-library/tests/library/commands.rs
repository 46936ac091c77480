//! What a person sees.

use super::harness::Shelf;
use insta::assert_snapshot;
use keyward_testkit::Flavor;

#[test]
fn help_teaches() {
    let shelf = Shelf::new(Flavor::Redis);
    assert_snapshot!(shelf.run(&["--help"]));
}

#[test]
fn a_library_is_listed_shown_read_and_searched() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.cli.copy("examples/document-library/texts");
    let run = |args: &[&str]| shelf.command(args).at("examples/document-library").run().to_string();
    let mut shown = vec![
        run(&["list"]),
        run(&["add", "--jobs", "1", "texts/portfolio.md", "texts/glossar.md"]),
    ];
    for args in [
        &["list"][..],
        &["show", "doc:portfolio_management_strategie:001"],
        &["show", "subpara:fuenf_strategien:001"],
        &["search", "--author", "Oskar Sch"],
        &["search", "--tag", "risiko", "Volatilität"],
        &["search", "--category", "investment", "gebühren"],
        &["search", "nichtda"],
        &["verify"],
        &["quality"],
        &["read", "ch:risk_management:001"],
        &[
            "remove",
            "ch:risk_management:001",
            "texts/glossar.md",
            "doc:nothing:001",
            "texts/none.md",
        ],
        &["list"],
    ] {
        shown.push(run(args));
    }
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn mistakes_are_explained() {
    let shelf = Shelf::new(Flavor::Redis);
    let shown = [
        shelf.run(&["show", "chapter one"]),
        shelf.run(&["show", "ch:nothing:001"]),
        shelf.run(&["read", "ch:nothing:001"]),
        shelf.run(&["search"]),
        shelf.run(&["search", "--tag", "!"]),
        shelf.run(&["add", "nothing.md"]),
        shelf.run(&["--server", "redis://:secret@127.0.0.1:1", "list"]),
    ];
    let codes: Vec<_> = shown.iter().map(|it| it.code).collect();
    assert_eq!(codes, [2, 2, 2, 2, 2, 2, 3].map(Some));
    assert_snapshot!(shown.map(|it| it.to_string()).join("\n"));
}

#[test]
fn a_search_finds_whole_words_headings_and_all_labels() {
    let shelf = Shelf::new(Flavor::Redis);
    let text = |labels: &str, text: &str| format!("---\n{labels}\n---\n{text}\n");
    let both = "title: Both\nauthors: [Ada, Bob]\ntags: [one, two]";
    shelf.write("both.md", text(both, "# Kurs\n\nDer Kurs steigt.\n\n## Aktienkurse, Kursverlauf"));
    let one = "title: Der Kurs\nauthor: Ada\ntags: [one]";
    shelf.write("one.md", text(one, "# Volatilita\u{308}t\n\nKURS und mehr."));
    shelf.ok(&["add", "--jobs", "1", "."]);
    let shown = [
        &["search", "kurs"][..],
        &["search", "kurs", "--limit", "2"],
        &["search", "volatilität"],
        &["search", "der kurs", "steigt"],
        &["search", "--tag", "one", "--tag", "two"],
        &["search", "--tag", "one", "--tag", "two", "kurs"],
        &["search", "--author", "Ada", "--author", "Bob"],
        &["search", "--author", "ADA", "--limit", "1"],
        &["search", "--author", "Ada", "--tag", "two"],
        &["search", "--author", "Bob", "volatilität"],
        &["search", " "],
    ];
    assert_snapshot!(shown.map(|args| shelf.run(args).to_string()).join("\n"));
}

#[test]
fn unfinished_imports_and_bad_keys_are_shown() {
    let shelf = Shelf::new(Flavor::Valkey);
    let empty = shelf.run(&["quality"]);
    shelf.write("alpha.md", "# Text 1\n\nSome words here.\n");
    shelf.write("beta.md", "# Some Heading\n");
    shelf.ok(&["add", "--jobs", "1", "."]);
    shelf.server.command(&["HDEL", "doc:beta:001", "content_hash"]);
    let list = shelf.run(&["list"]);
    for key in ["doc:Bad-Name:001", "chunk:special_chars_20240101_120000:001", "ch:gap:003"] {
        shelf.server.command(&["HSET", key, "title", "x"]);
    }
    for number in 2..9 {
        shelf.server.command(&["HSET", &format!("ch:Bad:{number}"), "title", "x"]);
    }
    let quality = shelf.run(&["quality", "--longest", "30"]);
    assert_eq!((empty.code, list.code, quality.code), (Some(0), Some(0), Some(1)));
    assert_snapshot!([empty, list, quality].map(|it| it.to_string()).join("\n"));
}

#[test]
fn siblings_that_are_not_listed_are_counted() {
    let shelf = Shelf::new(Flavor::Redis);
    let chapters = (100..221).map(|at| format!("# Chapter {at}\n"));
    shelf.write("first.md", chapters.collect::<String>());
    shelf.ok(&["add", "first.md"]);
    let order = shelf.sequence("doc:first:001:sequence");
    for (at, line) in [
        (0, "siblings  50 of 120: the nearest 50 on each side"),
        (60, "siblings  100 of 120: the nearest 50 on each side"),
    ] {
        let shown = shelf.ok(&["show", &order[at]]);
        assert!(shown.lines().any(|it| it == line), "{shown}");
    }
    shelf.write("second.md", "# One\n\n# Two\n");
    shelf.ok(&["add", "second.md"]);
    let shown = shelf.ok(&["show", "doc:second:001"]);
    assert!(shown.lines().any(|it| it == "siblings  1"), "{shown}");
}

#[test]
fn a_terminal_gets_no_characters_that_it_would_obey() {
    let shelf = Shelf::new(Flavor::Redis);
    let esc = "\u{1b}[31m";
    shelf.write(
        "red.md",
        format!("---\ntitle: \"Red {esc} \\n forged\"\ntags: [seen]\n---\n# One {esc}\n\nText {esc}\tend.\n"),
    );
    let added = shelf.ok(&["add", "red.md"]);
    let document = added.split_whitespace().nth(1).unwrap().to_owned();
    let order = shelf.sequence(&format!("{document}:sequence"));
    let mut shown = vec![added];
    for args in [
        &["list"][..],
        &["show", &document],
        &["show", &order[0]],
        &["show", &order[1]],
        &["search", "text"],
        &["search", "--tag", "seen"],
    ] {
        shown.push(shelf.ok(args));
    }
    shown.push(shelf.run(&["show", &format!("ch:{esc}:001")]).stderr);
    shown.push(shelf.run(&["add", &format!("{esc}.md")]).stderr);
    for text in &shown {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    assert!(shown[1].contains(r"Red \u{1b}[31m \n forged"), "{}", shown[1]);
    assert!(shown[4].contains("Text \\u{1b}[31m\tend."), "{}", shown[4]);
    // What goes into a file is what was in the file.
    shelf.reads_like(&document, &shelf.cli.folder().join("red.md"));
}

#[test]
fn a_key_of_another_type_is_named() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.write("text.md", "# One Chapter\n\nSome words here.\n");
    shelf.ok(&["add", "text.md"]);
    shelf.server.command(&["SET", "ch:other:001", "a string"]);
    for (key, broken) in [
        ("ch:other:001", "ch:other:001"),
        ("chunk:some_words_here:001", "chunk:some_words_here:001:siblings"),
        ("ch:one_chapter:001", "ch:one_chapter:001:children"),
    ] {
        shelf.server.command(&["DEL", broken]);
        shelf.server.command(&["SET", broken, "a string"]);
        let shown = shelf.run(&["show", key]);
        assert_eq!(shown.code, Some(1), "{shown}");
        let message = format!(
            "error: `{broken}` holds what the library did not write: its type is another one. Rename or delete it\n"
        );
        assert_eq!(shown.stderr, message);
    }
}
