use crate::{SHOP, shop};
use insta::assert_snapshot;
use std::fs;

#[test]
fn every_language_gets_its_folder() {
    let cli = shop(SHOP);
    let all = "rust,typescript,python,java,go";
    assert_snapshot!(cli.run(["generate", "--lang", all, "-v"]));
    assert_snapshot!(cli.run(["generate", "--lang", all]));
}

#[test]
fn nothing_is_generated_that_nobody_asked_for() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["generate"]));
    assert!(!cli.folder().join("generated").exists());
    // What `--lang` and `--out` wrote is not known to a check without them.
    assert_eq!(cli.run(["generate", "--lang", "python", "--out", "gen"]).code, Some(0));
    assert_eq!(cli.run(["generate", "--lang", "python", "--out", "gen", "--check"]).code, Some(0));
    let unknown = cli.run(["generate", "--check"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    assert_eq!(cli.run(["generate", "--vectors", "--check"]).code, Some(1));
}

#[test]
fn one_language_goes_straight_into_the_folder() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["generate", "--lang", "go", "--out", "src/keys", "-v"]));
    assert_snapshot!(cli.run(["generate", "--lang", "kotlin"]));
}

#[test]
fn check_writes_nothing_and_names_what_differs() {
    let cli = shop(SHOP);
    let generate = |more: &[&str]| {
        let mut args = vec!["generate", "--lang", "python", "--vectors", "--out", "out"];
        args.extend(more);
        cli.run(args)
    };
    assert_snapshot!(generate(&["--check"]));
    assert!(!cli.folder().join("out").exists());
    assert_eq!(generate(&[]).code, Some(0));
    assert_snapshot!(generate(&["--check"]));
    cli.write(
        "keyward.toml",
        SHOP.replace("\"1d\"", "\"2d\"").replace("[keys.cart]", "[keys.basket]"),
    );
    assert_snapshot!(generate(&["--check"]));
    cli.write("out/shop/__init__.py", "edited by hand\n");
    assert_eq!(generate(&["--check"]).code, Some(1));
    assert_eq!(generate(&[]).code, Some(0));
    assert_eq!(generate(&["--check"]).code, Some(0));
}

#[test]
fn a_file_of_somebody_else_stays() {
    let cli = shop(SHOP);
    cli.write("out/shop.vectors.json", "mine\n");
    cli.write("out/mine.txt", "mine\n");
    assert_snapshot!(cli.run(["generate", "--vectors", "--out", "out"]));
    assert_eq!(cli.read("out/shop.vectors.json"), "mine\n");
    assert_eq!(cli.run(["generate", "--vectors", "--out", "out", "--force"]).code, Some(0));
    assert_ne!(cli.read("out/shop.vectors.json"), "mine\n");
    assert_eq!(cli.read("out/mine.txt"), "mine\n");
}

#[test]
fn a_renamed_keyspace_leaves_nothing_behind() {
    let cli = shop(SHOP);
    let generate = ["generate", "--lang", "go", "--out", "out"];
    assert_eq!(cli.run(generate).code, Some(0));
    let other = SHOP.replace("name = \"shop\"", "name = \"store\"");
    cli.write("other.toml", &other);
    // Another keyspace's files are not in the way.
    assert_eq!(
        cli.run(["--schema", "other.toml", "generate", "--lang", "go", "--out", "out"]).code,
        Some(0)
    );
    assert!(cli.folder().join("out/shop/keys.go").exists());
    assert!(cli.folder().join("out/store/keys.go").exists());
}

#[test]
fn a_template_takes_the_place_of_ours() {
    let cli = shop(SHOP);
    assert_eq!(cli.run(["generate", "--eject", "templates"]).code, Some(0));
    let ours = cli.read("templates/go/keys.go.j2");
    for entry in fs::read_dir(cli.folder().join("templates")).unwrap() {
        fs::remove_dir_all(entry.unwrap().path())
            .or_else(|_| fs::remove_file(cli.folder().join("templates/.keyward-files")))
            .unwrap();
    }
    cli.write("templates/go/keys.go.j2", ours + "// {{ keys | length }} definitions\n");
    let generate = ["generate", "--lang", "go", "--out", "out", "--template", "templates"];
    assert_eq!(cli.run(generate).code, Some(0));
    assert!(cli.read("out/shop/keys.go").ends_with(" definitions\n"));

    cli.write("templates/go/keys.go.j2", "{{ nothing.there }}\n");
    assert_snapshot!(cli.run(generate));
    cli.write("templates/go/keys.go.j2", "{% for %}\n");
    assert_snapshot!(cli.run(generate));
    cli.write("templates/go/key.go.j2", "");
    assert_snapshot!(cli.run(generate));
    assert_snapshot!(cli.run(["generate", "--template", "nowhere"]));
}

#[test]
fn nothing_is_generated_from_a_schema_that_is_not_sound() {
    let cli = shop(concat!(
        "version = 1\n[keyspace]\nname = \"shop\"\n",
        "[keys.one]\npattern = \"a:{x}:b\"\nttl = \"1h\"\n[keys.two]\npattern = \"a:c:{y}\"\nttl = \"1h\"\n"
    ));
    assert_snapshot!(cli.run(["generate"]));
    cli.write("keyward.toml", "version = 1\n[keyspace]\nname = \"shop\"\n");
    assert_snapshot!(cli.run(["generate"]));
    assert!(!cli.folder().join("generated").exists());
}

#[test]
fn nothing_is_generated_from_schemas_that_share_a_key() {
    let cli = shop(concat!(
        "version = 1\n[keyspace]\nname = \"shop\"\nprefix = \"{tenant:slug}:\"\n",
        "[rules]\noverlapping-patterns = \"off\"\n",
        "[keys.cart]\npattern = \"cart:{id:uint}\"\nttl = \"1h\"\n"
    ));
    let global = |pattern: &str| {
        let head = "version = 1\n[keyspace]\nname = \"global\"\n[keys.switch]\nttl = \"none\"\n";
        cli.write("global.toml", format!("{head}pattern = \"{pattern}\"\n"));
    };
    let both = ["generate", "--schema", "keyward.toml", "--schema", "global.toml", "--lang", "go"];
    global("acme:cart:7");
    assert_snapshot!(cli.run(both));
    assert!(!cli.folder().join("generated").exists());
    global("maintenance");
    assert_snapshot!(cli.run(both));
}

#[test]
fn spring_gets_a_class_of_its_own_where_it_is_asked_for() {
    let cli = shop(SHOP);
    let generate =
        ["generate", "--lang", "java", "--java-package", "com.acme.keys", "--out", "src"];
    assert_snapshot!(cli.run(generate));
    assert_snapshot!(cli.run(generate.into_iter().chain(["--spring"])));
    assert!(cli.read("src/com/acme/keys/ShopCaches.java").contains("package com.acme.keys;"));
    assert_snapshot!(cli.run(["generate", "--lang", "java", "--java-package", "com/acme"]));
}

const DECLARED: &str = r#"
[generate.typescript]
out = "web/src/keys"

[generate.java]
out = "server/src"
package = "com.acme.keys"
spring = true
cache_segments = 2

[generate.vectors]
out = "web/src/keys"
"#;

#[test]
fn what_the_schema_declares_needs_no_options() {
    let cli = shop(SHOP);
    cli.write("keyward.toml", format!("{SHOP}{DECLARED}"));
    assert_snapshot!(cli.run(["generate", "-v"]));
    assert_eq!(cli.run(["generate", "--check"]).code, Some(0));
    // Options choose among what is declared.
    std::fs::remove_dir_all(cli.folder().join("web")).unwrap();
    assert_eq!(cli.run(["generate", "--check", "--lang", "java"]).code, Some(0));
    assert_eq!(cli.run(["generate", "--check", "--lang", "typescript"]).code, Some(1));
    // From another folder, the same files are meant.
    assert_eq!(cli.run(["generate"]).code, Some(0));
    std::fs::create_dir(cli.folder().join("below")).unwrap();
    let below = cli.run(["--schema", "./keyward.toml", "generate", "--check"]);
    assert_eq!(below.code, Some(0));
}

#[test]
fn springs_caches_have_the_names_that_the_schema_declares() {
    let cli = shop(SHOP);
    cli.write("keyward.toml", format!("{SHOP}{DECLARED}"));
    assert_eq!(cli.run(["generate"]).code, Some(0));
    let caches = cli.read("server/src/com/acme/keys/ShopCaches.java");
    assert!(caches.contains("\"shop:price\""), "{caches}");
    for (written, instead) in [
        ("cache_segments = 2", "cache_segments = 1"),
        ("cache_segments = 2", "cache_segments = 9"),
        ("spring = true", "spring = false"),
        ("com.acme.keys", "com/acme"),
    ] {
        let schema = format!("{SHOP}{DECLARED}").replace(written, instead);
        cli.write("keyward.toml", schema);
        assert_snapshot!(cli.run(["generate"]));
    }
}

#[test]
fn spring_without_java_is_refused() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["generate", "--lang", "go", "--spring"]));
}
