//! The fixture shows all that a person would see. A shell stands in for the program.

use keyward_testkit::Cli;

#[test]
fn the_output_is_shown_whole() {
    let output = Cli::new("/bin/sh").run(["-c", "echo result; echo problem >&2; exit 3"]);
    assert_eq!(
        output.to_string(),
        "$ sh -c echo result; echo problem >&2; exit 3\n\
         exit code: 3\n\
         --- stdout\nresult\n\
         --- stderr\nproblem\n"
    );
}

#[test]
fn paths_and_times_are_replaced() {
    let cli = Cli::new("/bin/sh");
    let script = r#"pwd; echo "$0"; echo "checked 12 keys in 3.5 ms, opened in 1 s""#;
    let output = cli.run(["-c", script, &format!("{}/x", env!("CARGO_MANIFEST_DIR"))]);
    assert_eq!(
        output.stdout,
        "[DIR]\n[ROOT]/crates/keyward-testkit/x\n\
         checked 12 keys in [TIME], opened in [TIME]\n"
    );
}

#[test]
fn input_environment_and_folder_are_given() {
    let cli = Cli::new("/bin/sh");
    cli.write("below/file", "content");
    let script = "cat; echo $GIVEN; cat file; env | cut -d= -f1 | grep CARGO";
    let output =
        cli.command(["-c", script]).stdin("input\n").env("GIVEN", "a variable").at("below").run();
    assert_eq!(output.stdout, "input\na variable\ncontent");
}

#[test]
fn a_program_that_leaves_much_input_unread_and_writes_much_does_not_hang() {
    let cli = Cli::new("/bin/sh");
    let script = "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2";
    let output = cli.command(["-c", script]).stdin(vec![b'x'; 1_000_000]).run();
    assert_eq!((output.stdout.len(), output.stderr.len()), (1_000_000, 1_000_000));
}

#[test]
fn a_folder_of_the_repository_can_be_copied() {
    let cli = Cli::new("/bin/sh");
    cli.copy("crates/keyward-testkit/src");
    assert!(cli.read("crates/keyward-testkit/src/cli.rs").contains("pub struct Cli"));
}
