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
        &["remove", "texts/glossar.md", "doc:nothing:001", "ch:risk_management:001"],
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
