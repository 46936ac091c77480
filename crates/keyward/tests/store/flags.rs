//! Flags: a user's override, then the configuration for all, then the default.

use super::everything::{keys, stored, values};
use super::model::Feature;
use super::{on_all, until};
use keyward::{Error, Store};
use keyward_testkit::Server;

fn group(name: &str) -> values::Group {
    values::Group::new(name).unwrap()
}

fn member(name: &str) -> values::Member {
    values::Member::new(name).unwrap()
}

#[tokio::test]
async fn an_override_decides_before_the_configuration_and_that_before_the_default() {
    on_all(async |_server: &Server, store: Store| {
        let feature = store.at(keys::Feature { group: group("player") });
        let of =
            |name: &str| keys::FeatureOfMember { group: group("player"), member: member(name) };
        let has = async |name: &str| {
            let means = |config: &Feature| config.members.contains(&name.to_owned());
            feature.enabled_for_if(of(name), means).await.unwrap()
        };
        assert!(has("ada").await && has("bob").await, "on by default");
        feature.set(&Feature { members: vec!["ada".to_owned()] }).await.unwrap();
        assert_eq!((has("ada").await, has("bob").await), (true, false));
        store.at(of("ada")).set(&stored::FeatureOfMember::Disabled).await.unwrap();
        store.at(of("bob")).set(&stored::FeatureOfMember::Enabled).await.unwrap();
        assert_eq!((has("ada").await, has("bob").await), (false, true));
        assert!(feature.enabled_if(|config| config.members.len() == 1).await.unwrap());
        store.at(of("ada")).delete().await.unwrap();
        assert!(has("ada").await);
        // The override of another flag would decide for this one.
        let other = keys::FeatureOfMember { group: group("search"), member: member("ada") };
        let error = feature.enabled_for_if(other, |_| true).await.unwrap_err();
        assert!(
            matches!(&error, Error::Settings(why) if why.contains("another `group`")),
            "{error}"
        );
    })
    .await;
}

#[tokio::test]
async fn plain_words_need_no_closure_and_are_kept_in_the_process() {
    on_all(async |server: &Server, store: Store| {
        let beta = store.at(keys::Beta { group: group("player") });
        let of = || keys::BetaOfMember { group: group("player"), member: member("ada") };
        assert!(!beta.enabled().await.unwrap(), "off by default");
        assert!(!beta.enabled_for(of()).await.unwrap());
        beta.set(&true).await.unwrap();
        assert!(beta.enabled().await.unwrap() && beta.enabled_for(of()).await.unwrap());
        store.at(of()).set(&false).await.unwrap();
        assert!(!beta.enabled_for(of()).await.unwrap());
        until("both are kept", async || {
            beta.enabled_for(of()).await.unwrap();
            beta.is_kept() && store.at(of()).is_kept()
        })
        .await;
        // Both are known, so that nobody is asked.
        server.pause();
        assert!(!beta.enabled_for(of()).await.unwrap());
        server.resume();
        // What is not on or off is an error, not off.
        server.command(&["SET", "ev:beta:player:ada", "perhaps"]);
        until("the change is heard of", async || beta.enabled_for(of()).await.is_err()).await;
    })
    .await;
}
