//! Drafts use what the language has, instead of regular expressions.
#![allow(
    dead_code,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "each test uses some of it"
)]

mod pretend;

use keyward_infer::{Options, infer, write};
use pretend::Keyspace;

/// Whether the draft of a keyspace has these lines, and can be read.
fn says(keyspace: &str, lines: &[&str]) {
    let draft =
        infer(&Keyspace::parse(keyspace, 1).sketch(), &Options::default().without_foreign());
    let text = write(&draft, "pretend");
    let schema = keyward_schema::read(&text).schema.unwrap_or_else(|_| panic!("{text}"));
    assert!(keyward_rules::unsound(&[&schema]).is_empty(), "{text}");
    assert!(!text.contains("regex"), "{text}");
    for line in lines {
        assert!(text.lines().any(|it| it == *line), "no `{line}`:\n{text}");
    }
}

#[test]
fn values_have_named_types() {
    says(
        "
        100 string 60 reset:{email}
        100 string 60 event:{ulid}
        100 string 60 sess:{nanoid}
        100 string 60 rt:{base36}
        60  string 60 page:{slug}:html
        60  string 60 labels:{locale}:{uint}
        ",
        &[
            "pattern = \"reset:{email:email}\"",
            "pattern = \"event:{event_id:ulid}\"",
            "pattern = \"sess:{sess_id:base64url(21)}\"",
            "pattern = \"rt:{rt_id:alnum(12)}\"",
            "pattern = \"labels:{locale:locale}:{id:uint}\"",
        ],
    );
}

#[test]
fn what_stands_between_two_values_separates_them() {
    says(
        "
        200 string 900 forecast:{word40}_{date}
        100 string 60  fail:{email}_{ip}
        60  set -      site:{uint}:pages
        ",
        &[
            "pattern = \"forecast:{forecast_name}_{day:date}\"",
            "separators = \"_\"",
            "pattern = \"fail:{email:email}_{ip:ip}\"",
        ],
    );
}

#[test]
fn keys_with_another_separator_are_separated_by_it() {
    says(
        "
        100 string 900 user:{uint}:cart
        100 string 900 user:{uint}:mail
        60  string 60  page/{name}
        60  string 60  page/{name}/html
        ",
        &["pattern = \"page/{page_name}\"", "pattern = \"page/{page_name}/html\""],
    );
}

#[test]
fn a_value_of_several_segments_may_stand_in_the_middle() {
    says(
        "
        300 string 600 menu:{way}:html
        200 hash -     menu:{way}         title,order
        60  set -      site:{uint}:pages
        ",
        &["pattern = \"menu:{path...}:html\"", "pattern = \"menu:{rest...}\""],
    );
}

#[test]
fn the_words_of_a_parameter_may_decide_how_long_keys_live() {
    says(
        "
        100 string 60    metric:{uint}:1m
        100 string 3600  metric:{uint}:1h
        100 string 86400 metric:{uint}:1d
        100 string 86400 report:daily:{uint}
        100 string 604800 report:weekly:{uint}
        ",
        &[
            "pattern = \"metric:{metric_id:uint}:{kind}\"",
            "ttl = { by = \"kind\" }",
            "pattern = \"report:daily:{daily_id:uint}\"",
        ],
    );
}

#[test]
fn words_that_say_so_decide_what_may_be_lost() {
    says(
        "
        100 hash 604800 session:{hex32}      user_id,ip
        100 string 300  otp:{uint}
        100 string 30   lock:order:{uint}
        ",
        &["lifecycle = \"session\"", "lifecycle = \"temporary\"", "lifecycle = \"retained\""],
    );
}

#[test]
fn values_that_are_keys_refer_to_their_definitions() {
    let mut sketch = keyward_infer::Sketch::default();
    for user in 0..60 {
        let key = format!("user:{user}");
        sketch.observe(keyward_infer::Observed::new(0, key.as_bytes(), "hash"));
        let mut last = keyward_infer::Observed::new(0, format!("last:{user}").as_bytes(), "string");
        let mut content = keyward_infer::Content::default();
        let text = format!("user:{}", 7 * user % 60);
        content
            .see(&keyward_fact::Element::Text(keyward_fact::Excerpt::up_to(99, text.as_bytes())));
        last.content = Some(content.finish());
        sketch.observe(last);
    }
    let text = write(&infer(&sketch, &Options::default()), "pretend");
    assert!(text.contains("value = { key = \"user\" }"), "{text}");
    assert!(keyward_schema::read(&text).schema.is_ok(), "{text}");
}
