//! A user's switch, the rule for all, the default.

use super::content::exists;
use super::harness::{App, Client, server};
use super::media_gateway::{keys, values};
use super::{ADA, BOB};
use keyward_testkit::Flavor;
use serde_json::{Value, json};

#[test]
fn a_users_switch_comes_before_the_rule_and_the_rule_before_the_default() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let (ada, bob) = (app.of(ADA), app.of(BOB));
        let enabled =
            |user: &Client<'_>| user.get("/flags/new-player").is(200).json()["enabled"].clone();
        let both = || [enabled(&ada), enabled(&bob)];
        let rule = |enabled: bool, percent: u8| {
            ada.put("/flags/new-player", json!({ "enabled": enabled, "percent": percent })).is(204);
        };
        assert_eq!(both(), [false, false].map(Value::from), "the default");
        bob.put("/flags/new-player/mine", json!({ "enabled": true })).is(204);
        assert_eq!(both(), [false, true].map(Value::from));
        let flag_name = values::FlagName::new("new-player").unwrap();
        let own = keys::UserFeatureFlag { user_id: BOB, flag_name }.key();
        assert!(exists(&server, &own));
        rule(true, 100);
        assert!(!exists(&server, &own), "a new rule is for all");
        assert_eq!(both(), [true, true].map(Value::from));
        bob.put("/flags/new-player/mine", json!({ "enabled": false })).is(204);
        assert_eq!(both(), [true, false].map(Value::from));
        bob.delete("/flags/new-player/mine").is(204);
        assert_eq!(both(), [true, true].map(Value::from));
        rule(true, 0);
        assert_eq!(both(), [false, false].map(Value::from));
        rule(false, 100);
        assert_eq!(both(), [false, false].map(Value::from));
    }
}
