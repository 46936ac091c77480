use crate::{SHOP, cli, shop};
use insta::assert_snapshot;
use std::fs;

#[test]
fn what_is_written_is_told_and_what_is_up_to_date_is_left_alone() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["docs"]));
    let page = cli.folder().join("docs/keyspace/index.html");
    let before = page.metadata().unwrap().modified().unwrap();
    assert_snapshot!(cli.run(["docs"]));
    assert_eq!(page.metadata().unwrap().modified().unwrap(), before);
    let output = cli.run(["docs", "--check"]);
    assert_eq!(output.code, Some(0), "{output}");
    let quiet = cli.run(["docs", "-q", "--out", "elsewhere"]);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{quiet}");
}

#[test]
fn check_names_what_is_out_of_date_and_writes_nothing() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["docs", "--check"]));
    assert!(!cli.folder().join("docs").exists());
    cli.run(["docs"]);
    cli.write("keyward.toml", SHOP.replace("7d", "8d"));
    let before = cli.read("docs/keyspace/keyspace.md");
    assert_snapshot!(cli.run(["docs", "--check"]));
    assert_eq!(cli.read("docs/keyspace/keyspace.md"), before);
}

#[test]
fn what_somebody_else_wrote_is_left_alone() {
    let cli = shop(SHOP);
    cli.write("docs/keyspace/keyspace.md", "mine");
    cli.write("docs/keyspace/notes.md", "mine as well");
    assert_snapshot!(cli.run(["docs"]));
    assert_eq!(cli.read("docs/keyspace/keyspace.md"), "mine");
    assert!(
        !cli.folder().join("docs/keyspace/index.html").exists(),
        "nothing is written by halves"
    );
    assert_eq!(cli.run(["docs", "--force"]).code, Some(0));
    assert_eq!(cli.read("docs/keyspace/notes.md"), "mine as well");
}

#[test]
fn what_is_no_longer_wanted_is_removed() {
    let cli = shop(SHOP);
    cli.run(["docs"]);
    assert_snapshot!(cli.run(["docs", "--format", "markdown"]));
    assert!(!cli.folder().join("docs/keyspace/index.html").exists());
}

#[test]
fn the_page_is_the_same_wherever_it_is_written_from() {
    let cli = shop(SHOP);
    cli.run(["docs", "--locale", "de"]);
    let page = cli.read("docs/keyspace/keyspace.md");
    assert!(page.contains("keyward docs --locale de"), "{page}");
    fs::create_dir(cli.folder().join("src")).unwrap();
    let inside = cli.command(["docs", "--locale", "de", "--check"]).at("src").run();
    assert_eq!(inside.code, Some(0), "{inside}");
    let out = ["docs", "--locale", "de", "--check", "--out", "../docs/keyspace"];
    let inside = cli.command(out).at("src").run();
    assert_eq!(inside.code, Some(0), "{inside}");
}

#[test]
fn a_part_of_the_keyspace_is_selected() {
    let cli = shop(SHOP);
    cli.run(["docs", "--owner", "catalogue", "--lifecycle", "cache"]);
    let page = cli.read("docs/keyspace/keyspace.md");
    assert!(page.contains("### price") && page.contains("### search"), "{page}");
    assert!(!page.contains("### cart") && !page.contains("checkout"), "{page}");
    assert!(page.contains("`keyward docs --lifecycle cache --owner catalogue`"), "{page}");
    assert_snapshot!(cli.run(["docs", "--owner", "catalog"]));
    assert_snapshot!(cli.run(["docs", "--owner", "catalogue", "--lifecycle", "session"]));
}

#[test]
fn the_prefix_can_be_bound() {
    let cli = shop(&SHOP.replace("prefix = \"shop:\"", "prefix = \"{tenant:slug}:\""));
    cli.run(["docs", "--bind", "tenant=acme"]);
    let page = cli.read("docs/keyspace/keyspace.md");
    assert!(page.contains("`acme:price:*`") && !page.contains("{tenant}"), "{page}");
    assert!(page.contains("`keyward docs --bind tenant=acme`"), "{page}");
    assert_snapshot!(cli.run(["docs", "--bind", "tennant=acme"]));
}

#[test]
fn each_of_several_schemas_gets_a_folder() {
    let cli = cli();
    cli.write("a.toml", SHOP);
    cli.write("b.toml", SHOP.replace("name = \"shop\"", "name = \"../bank\""));
    assert_snapshot!(cli.run(["docs", "--schema", "a.toml", "--schema", "b.toml", "--out", "out"]));
    cli.write("b.toml", SHOP.replace("prefix = \"shop:\"", "prefix = \"bank:\""));
    assert_snapshot!(cli.run(["docs", "--schema", "a.toml", "--schema", "b.toml", "--out", "out"]));
}

#[test]
fn a_template_of_the_user_is_taken() {
    let cli = shop(SHOP);
    cli.write("mine/keyspace.md.j2", "{{ keyspace.name | text }}\n");
    cli.run(["docs", "--template", "mine", "--format", "markdown"]);
    assert_eq!(cli.read("docs/keyspace/keyspace.md"), "shop\n");
    cli.write("mine/keyspace.md.j2", "{{ keyspace.nmae }}\n");
    assert_snapshot!(cli.run(["docs", "--template", "mine"]));
    cli.write("mine/keyspace.md.j2", "{% if %}\n");
    assert_snapshot!(cli.run(["docs", "--template", "mine"]));
    cli.write("typo/indx.html.j2", "");
    assert_snapshot!(cli.run(["docs", "--template", "typo"]));
    assert_snapshot!(cli.run(["docs", "--template", "nowhere"]));
}

#[test]
fn a_schema_that_cannot_be_documented_is_said_to_be_so() {
    assert_snapshot!(shop("version = 1\n[keyspace]\nname = \"a\"\n").run(["docs"]));
    let broken = shop("version = 1\n[keyspace]\nnam = \"a\"\n").run(["docs"]);
    assert_eq!(broken.code, Some(2), "{broken}");
    let cli = shop(SHOP);
    cli.write("docs/keyspace", "a file in the way");
    assert_snapshot!(cli.run(["docs"]));
}
