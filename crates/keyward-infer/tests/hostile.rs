//! Keyspaces that nobody would make on purpose: a draft is bounded, and can always be read.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers")]

mod pretend;

use keyward_fact::{Element, Excerpt, Expiry};
use keyward_infer::{Content, Observed, Options, Sketch, infer, write};
use pretend::Random;
use proptest::prelude::*;

/// The draft as text, which must be a sound schema.
fn sound(sketch: &Sketch) -> String {
    let text = write(&infer(sketch, &Options::default()), "hostile");
    let loaded = keyward_schema::read(&text);
    match loaded.schema {
        Ok(schema) => {
            let unsound = keyward_rules::unsound(&[&schema]);
            assert!(unsound.is_empty(), "{text}\n{unsound:#?}");
        }
        Err(errors) => {
            let style = keyward_schema::Style::default();
            panic!("{text}\n{}", keyward_schema::render(&loaded.sources, &errors, &style))
        }
    }
    text
}

fn sketch(keys: impl IntoIterator<Item = Vec<u8>>) -> Sketch {
    let mut sketch = Sketch::default();
    keys.into_iter().for_each(|key| sketch.observe(Observed::new(0, &key, "string")));
    sketch
}

#[test]
fn nothing_is_drafted_from_no_keys() {
    assert!(!sound(&Sketch::default()).contains("[keys."));
}

#[test]
fn one_key_is_one_definition() {
    let text = sound(&sketch([b"greeting".to_vec()]));
    assert!(text.contains("pattern = \"greeting\"\n"), "{text}");
    let text = sound(&sketch([b"user:42".to_vec()]));
    assert!(text.contains("pattern = \"user:{user_id:uint}\"\n"), "{text}");
}

#[test]
fn random_bytes_are_the_rest() {
    let mut random = Random::new(3);
    let key = |random: &mut Random| (0..24).map(|_| random.below(256) as u8).collect();
    let keys: Vec<Vec<u8>> = (0..20_000).map(|_| key(&mut random)).collect();
    let draft = infer(&sketch(keys.clone()), &Options::default());
    assert!(draft.rest.keys > 10_000, "{:?}", draft.rest);
    sound(&sketch(keys));
}

#[test]
fn keys_of_a_megabyte_are_counted_only() {
    let long = vec![b'a'; 1024 * 1024];
    let sketch = sketch([long, b"user:1".to_vec()]);
    assert_eq!((sketch.keys(), sketch.long()), (2, 1));
    assert_eq!(infer(&sketch, &Options::default()).rest.keys, 1);
}

#[test]
fn a_hundred_thousand_prefixes_are_few_definitions() {
    let mut random = Random::new(5);
    let word =
        |random: &mut Random| (0..9).map(|_| b'a' + random.below(26) as u8).collect::<Vec<u8>>();
    let keys = (0..100_000).map(|_| [&word(&mut random)[..], b":session"].concat());
    let draft = infer(&sketch(keys), &Options::default());
    assert!(draft.definitions.len() <= 3, "{:#?}", draft.definitions.len());
    assert_eq!(draft.rest.keys, 0);
}

#[test]
fn rare_keys_are_found_among_very_many_others() {
    let users = (0..200_000).map(|user| format!("user:{user}:cart").into_bytes());
    let rare = ["config:theme", "user:7:banned", "lock:deploy"].map(|key| key.as_bytes().to_vec());
    let text = sound(&sketch(users.chain(rare)));
    for pattern in ["config:theme", "user:{user_id}:banned", "user:{user_id}:cart", "lock:deploy"] {
        assert!(text.contains(&format!("pattern = \"{pattern}\"\n")), "{text}");
    }
}

#[test]
fn hostile_fields_do_not_get_into_the_file_as_they_are() {
    let mut sketch = Sketch::default();
    for key in 0..20 {
        let mut one = Observed::new(0, format!("h:{key}").as_bytes(), "hash");
        let mut content = Content::default();
        for name in ["\" = 1\n[keys.evil]", "a\u{202e}b", "", "x]", "#", "'''", "\u{0}"] {
            content.see(&Element::Field {
                name: Excerpt::up_to(4096, name.as_bytes()),
                value: Excerpt::up_to(4096, b"1"),
                expiry: Expiry::Never,
            });
        }
        one.content = Some(content.finish());
        sketch.observe(one);
    }
    let text = sound(&sketch);
    assert!(!text.contains("evil"), "{text}");
    assert!(text.contains("open = true"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_always_a_sound_schema(
        keys in proptest::collection::vec("[a-cA-C0-3:/_.{}~%*\\-\"' #é\u{1}]{0,12}", 0..60),
    ) {
        sound(&sketch(keys.into_iter().map(String::into_bytes)));
    }

    #[test]
    fn words_and_numbers_make_a_sound_schema(
        keys in proptest::collection::vec("(user|cart|a|b)(:|/|_)([0-9]{1,3}|[a-z]{3})((:|/)(x|y|[0-9]{1,2})){0,2}", 0..200),
    ) {
        sound(&sketch(keys.into_iter().map(String::into_bytes)));
    }
}
