use crate::{SHOP, cli, shop};
use insta::assert_snapshot;

#[test]
fn what_it_writes_is_sound_and_formatted() {
    let cli = cli();
    assert_snapshot!(cli.run(["init"]));
    assert_snapshot!(cli.run(["check"]));
    let output = cli.run(["fmt", "--check"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(cli.read("keyward.toml").contains("keyward.schema.json"));
    let described: serde_json::Value =
        serde_json::from_str(&cli.read("keyward.schema.json")).expect("it is JSON");
    assert!(described["properties"]["keys"].is_object());
}

#[test]
fn a_folder_is_made_where_it_is_missing() {
    let cli = cli();
    assert_snapshot!(cli.run(["init", "services/shop"]));
    assert!(cli.read("services/shop/keyward.toml").starts_with("#:schema"));
}

#[test]
fn an_existing_file_is_left_alone() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["init"]));
    assert_eq!(cli.read("keyward.toml"), SHOP);
    assert!(!cli.folder().join("keyward.schema.json").exists(), "nothing is written by halves");
}

#[test]
fn force_overwrites() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["init", "--force", "-q"]));
    assert_ne!(cli.read("keyward.toml"), SHOP);
}

#[test]
fn a_file_in_the_way_is_named() {
    assert_snapshot!(shop(SHOP).run(["init", "keyward.toml"]));
}
