//! Generated keys as a developer uses them.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]

use keyward::{FieldErrorKind, Key as _, Ttl, Uuid};
use std::time::Duration;

// ANCHOR: keyspace
keyward::keyspace!("../../examples/xeuz-cloud/keyward.toml");
// ANCHOR_END: keyspace
keyward::keyspace!("../../examples/binary-options/keyward.toml");
keyward::keyspace!("tests/media.toml", values = crate::model);
keyward::keyspace!("tests/ui/tenants.toml");
keyward::keyspace!("../../examples/document-library/keyward.toml");

/// The application's own types.
mod model {
    use serde::{Deserialize, Serialize};

    /// What somebody watches
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(crate) struct Playlist {
        pub(crate) title: String,
        pub(crate) videos: Vec<u64>,
    }
}

fn id(number: u128) -> Uuid {
    Uuid::from_u128(0x550e_8400_e29b_41d4_a716_4466_5544_0000 + number)
}

#[test]
fn a_key_is_built_and_read_back() {
    // ANCHOR: keys
    use xeuz_cloud::{Key, keys};

    let listing = keys::FolderListing { folder_id: id(0) };
    assert_eq!(listing.key(), "xc:folder:550e8400-e29b-41d4-a716-446655440000:listing");
    assert_eq!(keys::FolderListing::parse(listing.key()), Some(listing.clone()));
    assert_eq!(Key::parse(listing.key()), Some(Key::FolderListing(listing)));
    assert_eq!(Key::parse("xc:folder:42:listing"), None);
    // ANCHOR_END: keys
}

#[test]
fn any_key_equals_its_copies_and_no_other_key() {
    use std::collections::HashSet;
    use xeuz_cloud::{Key, keys};

    let listing = |number| Key::from(keys::FolderListing { folder_id: id(number) });
    let copy = listing(0).clone();
    assert_eq!(copy, listing(0));
    assert_ne!(copy, listing(1));
    let other = Key::from(keys::Permission { folder_id: id(0), user_id: id(0) });
    assert_ne!(copy, other);
    let distinct: HashSet<Key> = [copy.clone(), listing(0), listing(1), other].into();
    assert_eq!(distinct.len(), 3);
    assert_eq!(
        format!("{copy:?}"),
        "FolderListing { folder_id: 550e8400-e29b-41d4-a716-446655440000 }"
    );
}

#[test]
fn a_value_is_made_from_text() {
    // ANCHOR: text
    use document_library::{keys, values};
    use std::time::SystemTime;

    let heading = "## Diversifikation: Der Schlüssel zum Erfolg";
    let paragraph_identifier = values::ParagraphIdentifier::from_text(heading, SystemTime::now());
    let number = values::Number::new("001").unwrap();
    let paragraph = keys::Paragraph { paragraph_identifier, number };
    assert_eq!(paragraph.key(), "para:diversifikation_der_schluessel:001");
    // ANCHOR_END: text
    let noon = SystemTime::UNIX_EPOCH + Duration::from_hours(473_364);
    let chunk = values::ContentIdentifier::from_text("Rendite > 5 %", noon);
    assert_eq!(chunk.as_str(), "rendite_greater_than_fuenf");
    let unnamed = values::ContentIdentifier::from_text("!!!", noon);
    assert_eq!(unnamed.as_str(), "special_chars_20240101_120000");
    // What it makes is a value of the type.
    assert_eq!(values::ContentIdentifier::new(unnamed.as_str()), Ok(unnamed));
    let steps = document_library::texts::HEADING.steps(heading, noon);
    assert_eq!(steps.first().map(|step| step.name), Some("unicode"));
}

#[test]
fn a_text_is_checked_where_it_comes_in() {
    // ANCHOR: values
    use binary_options::{keys, values};

    let symbol: values::Symbol = "BTCUSDT".parse().unwrap();
    let tick = keys::MarketTick { symbol };
    assert_eq!(tick.to_string(), "bo:market:tick:cache:BTCUSDT");

    let error = values::Symbol::new("BTC:USDT").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`BTC:USDT` is not a value for `symbol` (regex [A-Za-z0-9/._-]{1,32})"
    );
    // ANCHOR_END: values
    // ANCHOR: long
    // `api` may have any length, and the schema's `max_key_len` bounds the key.
    let limit = |api: &str| {
        let identifier = values::Identifier::new("192.168.1.1").unwrap();
        keys::RiskLimit::new(values::Api::new(api).unwrap(), identifier)
    };
    let too_long = limit(&"a".repeat(640)).unwrap_err();
    assert!(too_long.to_string().ends_with("it is longer than `max_key_len` allows"), "{too_long}");
    let limit = limit("/api/order").unwrap();
    assert_eq!(limit.key(), "bo:risk:limit:cache:%2Fapi%2Forder:192.168.1.1");
    // ANCHOR_END: long
    assert_eq!(keys::RiskLimit::parse(limit.key()), Some(limit));
}

#[test]
fn a_glob_binds_what_is_known() {
    // ANCHOR: globs
    use xeuz_cloud::{globs, keys};

    assert_eq!(keys::Permission::glob(None, Some(id(7))), format!("xc:perm:*:{}", id(7)));
    assert_eq!(keys::Permission::GLOB, "xc:perm:*:*");
    assert_eq!(globs::owners::STORAGE, ["xc:quota:*:used", "xc:rl:upload:*"]);
    // ANCHOR_END: globs
}

#[test]
fn an_event_knows_what_it_makes_invalid() {
    // ANCHOR: events
    use xeuz_cloud::{Key, events, keys};

    let event = events::FolderDeleted { folder_id: id(1), parent_id: id(2) };
    assert_eq!(
        event.keys(),
        [
            Key::from(keys::FolderListing { folder_id: id(1) }),
            Key::from(keys::FolderListing { folder_id: id(2) }),
        ]
    );
    assert_eq!(event.globs(), [format!("xc:perm:{}:*", id(1))]);
    // ANCHOR_END: events
}

#[test]
fn what_the_schema_says_is_there_as_constants() {
    // ANCHOR: constants
    use keyward::Lifecycle;
    use xeuz_cloud::{keys, ttl};

    let (min, max) = (Duration::from_mins(1), Duration::from_mins(5));
    assert_eq!(ttl::FOLDER_LISTING, Ttl::Range { min, max });
    assert_eq!(keys::QuotaUsed::TTL, Ttl::None);
    assert_eq!(keys::QuotaUsed::LIFECYCLE, Lifecycle::Protected);
    assert_eq!(keys::FileMeta::TYPE, Some("hash"));
    // ANCHOR_END: constants
    let caller = Ttl::Caller { max: Some(Duration::from_hours(24)) };
    assert_eq!(binary_options::keys::AuthToken::TTL, caller);
}

#[test]
fn a_hash_is_a_struct() {
    // ANCHOR: fields
    use keyward::Fields as _;
    use xeuz_cloud::fields::FileMeta;

    let meta = FileMeta {
        name: "cat.jpg".to_owned(),
        size: 4_096,
        mime: "image/jpeg".to_owned(),
        owner: id(3),
    };
    let pairs = meta.to_pairs().unwrap();
    assert_eq!(pairs[1], (b"size".to_vec(), b"4096".to_vec()));
    assert_eq!(FileMeta::from_pairs(pairs.clone()), Ok(meta));

    let error = FileMeta::from_pairs(pairs.iter().take(2).cloned()).unwrap_err();
    assert_eq!(error.to_string(), "`file_meta` has no field `mime`");
    // ANCHOR_END: fields
    let error = FileMeta::from_pairs([("size", "many")]).unwrap_err();
    assert_eq!((error.field.as_str(), error.kind), ("name", FieldErrorKind::Missing));
    let error = FileMeta::from_pairs([("name", ""), ("size", "many")]).unwrap_err();
    assert_eq!((error.field.as_str(), error.kind), ("size", FieldErrorKind::Malformed));
    let error = FileMeta::from_pairs([("colour", "red")]).unwrap_err();
    assert_eq!((error.field.as_str(), error.kind), ("colour", FieldErrorKind::Unknown));
}

#[test]
fn a_field_of_every_kind_comes_back() {
    use keyward::Fields as _;
    use media::{fields, keys};

    let video = keys::Video { video_id: 9 };
    let everything = fields::Video {
        text: "a\u{0}ü".to_owned(),
        int: -1,
        float: 1.5,
        bool: true,
        uuid: id(4),
        timestamp: "2026-11-15T08:30:00.5+01:00".parse().unwrap(),
        date: keyward::Date::new(2028, 2, 29).unwrap(),
        unix: keyward::Unix::new(1_800_000_000).unwrap(),
        unix_ms: keyward::UnixMs::MAX,
        bytes: vec![0, 0xff],
        state: fields::video::State::OnHold,
        playlist: model::Playlist { title: "all".to_owned(), videos: vec![1, 2] },
        anything: serde_json::json!({ "a": [1, null] }),
        tags: vec!["x".to_owned()],
        packed: None,
        owner: media::values::Owner::new("ann").unwrap(),
        first: Some(video.clone()),
        related: fields::video::Related::User(keys::User::new("bob".parse().unwrap()).unwrap()),
        others: vec![(b"more".to_vec(), vec![1])],
    };
    let pairs = everything.to_pairs().unwrap();
    let first = pairs.iter().find(|(name, _)| name == b"first").unwrap();
    assert_eq!(first.1, b"video:9");
    let again = fields::Video::from_pairs(pairs).unwrap();
    assert_eq!(format!("{again:?}"), format!("{everything:?}"));
}

#[test]
fn a_word_that_another_definition_reserves_is_refused() {
    // ANCHOR: reserved
    use media::{keys, values};

    let ann = keys::User::new(values::Owner::new("ann").unwrap()).unwrap();
    assert_eq!(ann.owner().as_str(), "ann");

    let error = keys::User::new(values::Owner::new("all").unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`user:all` cannot be a key of `user`: it is reserved by `all_users`"
    );
    // ANCHOR_END: reserved
}

#[test]
fn a_ttl_can_follow_from_a_parameter() {
    use media::{keys, values::Window};

    let window = |window| keys::Views { window }.ttl();
    assert_eq!(window(Window::V1h), Ttl::Fixed(Duration::from_hours(1)));
    assert_eq!(window(Window::V7d), Ttl::Fixed(Duration::from_hours(168)));
    assert_eq!(Window::ALL.len(), 2);
}

#[test]
fn a_prefix_with_parameters_is_bound_once() {
    // ANCHOR: prefix
    use tenants::{Key, Prefix, keys};

    let acme = Prefix { tenant: "acme".parse().unwrap() };
    let cart = keys::Cart { user_id: 7 };
    assert_eq!(cart.key(&acme), "acme:cart:7");
    assert_eq!(keys::Cart::glob(&acme, None), "acme:cart:*");
    assert_eq!(Key::parse("acme:cart:7"), Some((acme.clone(), Key::Cart(cart.clone()))));
    // ANCHOR_END: prefix
    assert_eq!(cart.slot_with_prefix(&acme), keyward::slot(b"acme:cart:7"));
    assert_eq!(keys::Cart::parse_with_prefix("acme:cart:7"), Some((acme, cart)));
}

#[test]
fn the_compiler_knows_every_file_of_the_schema() {
    // What cargo goes by when it decides whether to compile again.
    let program = std::env::current_exe().unwrap();
    let sources = std::fs::read_to_string(program.with_extension("d")).unwrap();
    for file in ["examples/xeuz-cloud/keyward.toml", "tests/media.toml", "tests/media/users.toml"] {
        assert!(sources.contains(file), "{file} is not in\n{sources}");
    }
}
