use crate::{SHOP, cli, shop};
use insta::assert_snapshot;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

const UGLY: &str = "version=1\n[keyspace]\n  name = 'shop'   # ours\n";
const NEAT: &str = "version = 1\n\n[keyspace]\nname = \"shop\"   # ours\n";

#[test]
fn a_file_is_formatted_in_place() {
    let cli = shop(UGLY);
    assert_snapshot!(cli.run(["fmt"]));
    assert_eq!(cli.read("keyward.toml"), NEAT);
    assert_snapshot!(cli.run(["fmt"]));
    let left: Vec<_> = fs::read_dir(cli.folder()).expect("it is there").collect();
    assert_eq!(left.len(), 1, "no temporary file is left");
}

#[test]
fn check_and_diff_write_nothing() {
    let cli = shop(UGLY);
    assert_snapshot!(cli.run(["fmt", "--check"]));
    assert_snapshot!(cli.run(["fmt", "--diff"]));
    assert_eq!(cli.read("keyward.toml"), UGLY);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let output = cli().command(["fmt", "-"]).stdin(UGLY).run();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.code), (NEAT, "", Some(0)));
    assert_snapshot!(cli().command(["fmt", "-", "--check"]).stdin(UGLY).run());
    assert_snapshot!(cli().command(["fmt", "-"]).stdin("version = \n").run());
}

#[test]
fn included_files_are_formatted_too() {
    let cli = cli();
    let include = "version = 1\ninclude = [\"keys/cart.toml\"]\n\n[keyspace]\nname = \"shop\"\n";
    cli.write("keyward.toml", include);
    cli.write("keys/cart.toml", "[keys.cart]\npattern='cart:{id}'\nttl='1h'\n");
    assert_snapshot!(cli.run(["fmt"]));
    assert_eq!(cli.read("keys/cart.toml"), "[keys.cart]\npattern = \"cart:{id}\"\nttl = \"1h\"\n");
    assert_eq!(cli.read("keyward.toml"), include);
}

#[test]
fn files_that_cannot_be_formatted_do_not_stop_the_others() {
    let cli = cli();
    cli.write("good.toml", UGLY);
    cli.write("bad.toml", "version = = 1\n");
    assert_snapshot!(cli.run(["fmt", "missing.toml", "bad.toml", "good.toml"]));
    assert_eq!(cli.read("good.toml"), NEAT);
}

#[test]
fn permissions_and_links_stay() {
    let cli = cli();
    cli.write("real.toml", UGLY);
    let real = cli.folder().join("real.toml");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("it is ours");
    symlink("real.toml", cli.folder().join("keyward.toml")).expect("it is free");
    assert_eq!(cli.run(["fmt"]).code, Some(0));
    assert_eq!(cli.read("real.toml"), NEAT);
    let mode = fs::metadata(&real).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let link = fs::symlink_metadata(cli.folder().join("keyward.toml")).expect("it is there");
    assert!(link.is_symlink());
}

#[test]
fn a_schema_in_its_layout_is_left_alone() {
    let output = shop(SHOP).run(["fmt", "--check"]);
    assert_eq!(output.code, Some(0), "{output}");
}
