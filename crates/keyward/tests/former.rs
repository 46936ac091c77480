//! Keys that are being renamed, as generated code sees them.

use keyward::Keyspace;

keyward::keyspace!("tests/former.toml");

#[test]
fn a_program_says_which_phases_it_knows() {
    assert_eq!(
        renamed::Key::ANNOUNCEMENT,
        "keyward:renamed:begun=dual-write;turned=read-fallback;over=cleanup"
    );
}
