//! The commands that `README.md` shows.

use super::harness::Shelf;
use keyward_testkit::{Flavor, transcript};
use std::path::Path;
use std::process::Command;

#[test]
fn commands_print_what_is_shown() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.cli.copy("examples/document-library/texts");
    let bin = Path::new(env!("CARGO_BIN_EXE_library")).parent().unwrap();
    let ran = transcript::check_in(
        "document-library",
        Path::new("examples/document-library/README.md"),
        |command| {
            let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
            let command =
                command.replace("redis-cli ", &format!("redis-cli -p {} ", shelf.server.port()));
            let output = Command::new("/bin/sh")
                .args(["-c", &format!("exec 2>&1; {command}")])
                .current_dir(shelf.cli.folder().join("examples/document-library"))
                .env("PATH", path)
                .env("LIBRARY_SERVER", shelf.server.url())
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            text.replace(shelf.cli.folder().canonicalize().unwrap().to_str().unwrap(), "/home/ada")
        },
    );
    assert!(ran.unwrap_or_else(|failure| panic!("{failure}")) > 5);
}
