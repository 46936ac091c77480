//! Keys that are being renamed, as generated code sees them.

use keyward::{Key as _, KeyNames, Keyspace, Phase};
use renamed::{Key, keys};

keyward::keyspace!("tests/former.toml");

#[test]
fn a_program_says_which_phases_it_knows() {
    assert_eq!(
        Key::ANNOUNCEMENT,
        "keyward:renamed:begun=dual-write;turned=read-fallback;over=cleanup"
    );
}

fn read_and_write(names: KeyNames) -> (Vec<String>, Vec<String>) {
    (names.read, names.write)
}

fn texts(names: [&[&str]; 2]) -> (Vec<String>, Vec<String>) {
    let [read, write] = names.map(|names| names.iter().map(ToString::to_string).collect());
    (read, write)
}

#[test]
fn names_are_read_and_written_as_the_phase_says() {
    // ANCHOR: names
    let names = keys::Profile { id: 7 }.names();
    assert_eq!(names.read, ["OLD:Profile:7", "profile_7"]);
    assert_eq!(names.write, ["OLD:Profile:7", "new:profile:7", "profile_7"]);
    // ANCHOR_END: names
    let quote = keys::Quote { base: "btc".parse().unwrap(), against: "eur".parse().unwrap() };
    let both: &[&str] = &["new:quote:btc:eur", "market:eur-btc"];
    assert_eq!(read_and_write(quote.names()), texts([both, both]));
    assert_eq!(read_and_write(Key::from(quote).names()), texts([both, both]));
    let page: &[&str] = &["new:page:7"];
    assert_eq!(read_and_write(keys::Page { id: 7 }.names()), texts([page, page]));
}

#[test]
fn an_old_type_that_refuses_a_value_has_no_name_for_it() {
    let note = |title: &str| keys::Note { title: title.parse().unwrap() };
    assert_eq!(note("a b").names().write, ["new:note:a%20b", "NOTE:a b"]);
    assert_eq!(note("a:b").names().write, ["new:note:a%3Ab"]);
}

#[test]
fn keys_under_old_names_are_found_in_every_phase() {
    // ANCHOR: parse_former
    let found = Key::parse_former("OLD:Profile:7").unwrap();
    assert_eq!(found.key, Some(keys::Profile { id: 7 }.into()));
    assert_eq!((found.migration, found.phase), ("begun", Phase::DualWrite));
    assert_eq!(Key::parse("OLD:Profile:7"), None);
    // ANCHOR_END: parse_former
    assert_eq!(Key::parse_former("new:profile:7"), None);
    assert_eq!(Key::parse_former("OLD:Profile:x"), None);
    assert_eq!(Key::parse_former(b"OLD:Profile:\xff"), None);
    let found = Key::parse_former("market:eur-btc").unwrap();
    assert_eq!(found.key.unwrap().key(), "new:quote:btc:eur");
    let found = Key::parse_former("NOTE:a b").unwrap();
    assert_eq!(found.key.unwrap().key(), "new:note:a%20b");
    let found = Key::parse_former("PAGE:7").unwrap();
    assert_eq!((found.phase, found.key.unwrap().key()), (Phase::Cleanup, "new:page:7".into()));
}

#[test]
fn what_an_old_name_does_not_say_is_unknown() {
    let found = Key::parse_former("Page:7").unwrap();
    assert_eq!((found.definition.name, found.key), ("page", None));
}
