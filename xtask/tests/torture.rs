//! The short form of `cargo xtask torture`: a few seconds for each role.

use std::process::Command;

#[test]
fn every_role_survives_a_short_torture() {
    let torture = ["torture", "--minutes", "0.05", "--on", "redis", "--seed", "1"];
    let ran = Command::new(env!("CARGO_BIN_EXE_xtask")).args(torture).output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{output}{errors}");
    let sum = output.lines().last().unwrap_or_default();
    assert!(sum.ends_with(" servers killed, 0 violations (seed 1)"), "{output}");
    assert!(!sum.starts_with("0 operations"), "{output}");
}
