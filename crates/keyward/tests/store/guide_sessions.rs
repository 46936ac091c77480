//! What the guide shows of sessions and tokens, run.

use super::media_gateway::{fields, keys, stored, values};
use super::{id, patient};
// ANCHOR: imports
use keyward::{Error, Store, Timestamp, Uuid, random_id};
// ANCHOR_END: imports
use keyward_testkit::Server;
use std::time::Duration;

type Done = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn what_the_guide_shows_of_sessions_is_so() -> Done {
    for server in Server::all() {
        let store = patient(&server).await;
        let mut session = log_in(&store, id(1), id(2)).await?;
        session = use_it(&store, session).await?;
        log_out(&store, id(1), session).await?;
        once(&store).await?;
        blacklist(&store).await?;
        refresh(&store).await?;
    }
    Ok(())
}

async fn log_in(
    store: &Store,
    user_id: Uuid,
    device_id: Uuid,
) -> Result<keys::ActiveSession, Error> {
    // ANCHOR: create
    let sessions = store.sessions::<keys::ActiveSession>();
    let session = sessions
        .create(&fields::ActiveSession {
            user_id,
            device_id,
            created_at: Timestamp::now(),
            last_active: Timestamp::now(),
            ip_address: "192.0.2.1".to_owned(),
            user_agent: "curl".to_owned(),
        })
        .await?;
    let cookie = session.session_id.as_str(); // 43 characters, 256 random bits
    // ANCHOR_END: create
    assert_eq!(cookie.len(), 43);
    Ok(session)
}

async fn use_it(
    store: &Store,
    session: keys::ActiveSession,
) -> Result<keys::ActiveSession, Box<dyn std::error::Error>> {
    let cookie = session.session_id.as_str().to_owned();
    // ANCHOR: use
    // The cookie is hostile: what is not an id is refused here, and never reaches the server.
    let session = store.at(keys::ActiveSession { session_id: values::SessionId::new(&cookie)? });
    let Some(signed_in) = session.get().await? else {
        return Err("log in".into()); // gone, or revoked
    };
    session.touch().await?; // sets `last_active`
    // ANCHOR_END: use
    assert_eq!(signed_in.user_id, id(1));
    // ANCHOR: rotate
    // After a login or a change of rights, an id that was seen before must not work any more.
    let Some(session) = session.rotate().await? else { return Err("log in".into()) };
    // ANCHOR_END: rotate
    Ok(session)
}

async fn log_out(store: &Store, user_id: Uuid, session: keys::ActiveSession) -> Done {
    // ANCHOR: revoke
    let sessions = store.sessions::<keys::ActiveSession>();
    let of_user = keys::SessionIndex { user_id };
    for (session, signed_in) in sessions.list(&of_user).await? {
        println!("{} since {}", signed_in.user_agent, signed_in.created_at);
        assert!(session.session_id.as_str().len() > 20);
    }
    store.at(session.clone()).revoke().await?; // this device
    sessions.revoke_all(&of_user).await?; // everywhere
    // ANCHOR_END: revoke
    assert_eq!(store.at(session).get().await?, None);
    Ok(())
}

async fn once(store: &Store) -> Done {
    // ANCHOR: once
    let state: values::State = random_id()?;
    let login = fields::OauthState {
        provider: "example".to_owned(),
        redirect_uri: "/home".to_owned(),
        created_at: Timestamp::now(),
    };
    store.at(keys::OauthState { state: state.clone() }).set(&login).await?;
    // The provider sends the user back with the state: the first to bring it gets the login.
    let returned = store.at(keys::OauthState { state }).take().await?;
    // ANCHOR_END: once
    assert_eq!(returned, Some(login));
    Ok(())
}

async fn blacklist(store: &Store) -> Done {
    let token_jti = values::TokenJti::new("9b2e4f60")?;
    let left = Duration::from_secs(540);
    // ANCHOR: blacklist
    // An access token (JWT) that is revoked is remembered for as long as it would have been valid.
    let revoked = store.at(keys::TokenBlacklist { token_jti });
    revoked.living(left)?.set(&stored::TokenBlacklist::Revoked).await?;
    // ANCHOR_END: blacklist
    Ok(())
}

/// Stands for HMAC-SHA256 in the guide; the tests need no cryptography.
fn hmac(_secret: &str, token: &str) -> String {
    format!("{token}-next")
}

/// Stands for SHA-256.
fn sha256(token: &str) -> Result<values::TokenHash, keyward::ValueError> {
    values::TokenHash::new(format!("hash-of-{token}"))
}

async fn refresh(store: &Store) -> Done {
    let secret = "the application's own";
    let (user_id, device_id, session_id) = (id(1), id(2), "abc123".to_owned());
    // ANCHOR: issue
    let first: String = random_id()?; // the client gets it; only its hash is stored
    let issued_at = Timestamp::now();
    let login = fields::RefreshToken { user_id, device_id, session_id, issued_at, last_used: None };
    let token = store.at(keys::RefreshToken { token_hash: sha256(&first)? });
    assert!(token.issue(&login).await?); // `false` if the token exists already
    // ANCHOR_END: issue
    let presented = first;
    // ANCHOR: refresh
    let token = store.at(keys::RefreshToken { token_hash: sha256(&presented)? });
    let next = hmac(secret, &presented); // the same for the same token
    let successor = keys::RefreshToken { token_hash: sha256(&next)? };
    let issued_at = fields::RefreshToken::ISSUED_AT.to(&Timestamp::now());
    match token.refresh(&successor, [issued_at]).await {
        Ok(Some(refreshed)) if refreshed.successor == successor => {
            println!("a new access token for {}, and {next}", refreshed.fields.user_id);
        }
        Err(Error::Reused { .. }) => println!("log in; somebody else had this token"),
        Ok(_) | Err(Error::Revoked { .. }) => println!("log in"),
        Err(error) => return Err(error.into()), // the client asks again
    }
    // ANCHOR_END: refresh
    assert!(store.at(successor.clone()).get().await?.is_some());
    store.at(successor).revoke_family().await?;
    Ok(())
}
