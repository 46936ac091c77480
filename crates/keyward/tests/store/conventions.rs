//! What the rulings of the examples say about TTLs.

use super::media_gateway::{fields, keys, values};
use super::{id, on_all};
use keyward::{Store, Timestamp};
use keyward_testkit::Server;
use std::time::Duration;

#[tokio::test]
async fn use_prolongs_neither_a_session_nor_a_refresh_token() {
    on_all(async |server: &Server, store: Store| {
        let session_id = values::SessionId::new("abc123").unwrap();
        let session = store.at(keys::ActiveSession { session_id });
        let fields = fields::ActiveSession {
            user_id: id(1),
            device_id: id(2),
            created_at: Timestamp::now(),
            last_active: Timestamp::now(),
            ip_address: "192.0.2.1".to_owned(),
            user_agent: "curl".to_owned(),
        };
        assert!(session.create(&fields).await.unwrap());
        server.command(&["EXPIRE", session.name(), "100"]);
        let ip_address = fields::ActiveSession::IP_ADDRESS.to(&"192.0.2.7".to_owned());
        assert!(session.update([ip_address]).await.unwrap());
        assert!(session.touch().await.unwrap());
        assert!(session.remaining().await.unwrap().unwrap() <= Duration::from_secs(100));

        let token_hash = values::TokenHash::new("9f86d081").unwrap();
        let token = store.at(keys::RefreshToken { token_hash });
        let fields = fields::RefreshToken {
            user_id: id(1),
            device_id: id(2),
            session_id: "abc123".to_owned(),
            issued_at: Timestamp::now(),
            last_used: None,
        };
        assert!(token.issue(&fields).await.unwrap());
        server.command(&["EXPIRE", token.name(), "100"]);
        assert_eq!(token.get().await.unwrap().unwrap().last_used, None);
        assert!(token.remaining().await.unwrap().unwrap() <= Duration::from_secs(100));
        let token_hash = values::TokenHash::new("b5bb9d80").unwrap();
        let refreshed =
            token.refresh(&keys::RefreshToken { token_hash }, []).await.unwrap().unwrap();
        assert!(refreshed.fields.last_used.is_some());
    })
    .await;
}
