//! Sessions of the crate `tower-sessions`, in a service of axum.

use super::cluster::store as cluster_store;
use super::{on_all, signed, signed_cluster};
use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::routing::{get, post};
use http::header::{COOKIE, SET_COOKIE};
use http::{Request, Response, StatusCode};
use keyward::{Error, Store, TowerSessions};
use keyward_testkit::{Cluster, Flavor, Server};
use signed::{fields, keys, values};
use std::time::{Duration, SystemTime};
use tower_service::Service as _;
use tower_sessions::session::{Id, Record};
use tower_sessions::{Session, SessionManagerLayer, SessionStore};

/// An application that knows its users by their sessions.
fn application(store: &Store) -> Result<Router, Error> {
    // ANCHOR: layer
    let sessions: TowerSessions<keys::Web> = store.tower_sessions(fields::Web::DATA)?;
    let layer = SessionManagerLayer::new(sessions).with_secure(false);
    let application = Router::new()
        .route("/login/{user}", post(login))
        .route("/user", get(user))
        .route("/logout", post(async |session: Session| session.flush().await.map_err(failed)))
        .layer(layer);
    // ANCHOR_END: layer
    Ok(application.route("/unused", get(async || "")))
}

// ANCHOR: login
async fn login(session: Session, Path(user): Path<u64>) -> Result<(), StatusCode> {
    session.insert("user", user).await.map_err(failed)?; // the field that the index needs
    session.cycle_id().await.map_err(failed) // an id that was seen before must not work any more
}

async fn user(session: Session) -> Result<String, StatusCode> {
    let user: Option<u64> = session.get("user").await.map_err(failed)?;
    user.map(|user| user.to_string()).ok_or(StatusCode::UNAUTHORIZED)
}
// ANCHOR_END: login

fn failed(error: impl std::fmt::Display) -> StatusCode {
    eprintln!("{error}");
    StatusCode::SERVICE_UNAVAILABLE
}

/// What is answered to a browser with this cookie, and its cookie afterwards.
async fn ask(application: &Router, method: &str, path: &str, cookie: &str) -> (StatusCode, String) {
    let request = Request::builder().method(method).uri(path).header(COOKIE, cookie);
    let answer: Response<_> =
        application.clone().call(request.body(Body::empty()).unwrap()).await.unwrap();
    let set = answer.headers().get(SET_COOKIE).map(|it| it.to_str().unwrap().to_owned());
    let set = set.and_then(|it| it.split(';').next().map(str::to_owned));
    (answer.status(), set.unwrap_or_else(|| cookie.to_owned()))
}

fn id_of(cookie: &str) -> &str {
    cookie.strip_prefix("id=").unwrap()
}

fn record(user: u64, lives: Duration) -> Record {
    let data = [("user".to_owned(), user.into())].into();
    Record { id: Id::default(), data, expiry_date: (SystemTime::now() + lives).into() }
}

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn sessions_of_an_application_are_listed_and_revoked_by_the_store() {
    on_all(async |server: &Server, store: Store| {
        let application = application(&store).unwrap();
        assert_eq!(ask(&application, "GET", "/user", "").await.0, StatusCode::UNAUTHORIZED);
        let (status, cookie) = ask(&application, "POST", "/login/7", "").await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(ask(&application, "GET", "/user", &cookie).await.0, StatusCode::OK);

        // The store knows it as every other session.
        let sessions = store.sessions::<keys::Web>();
        let listed = sessions.list(&keys::Webs { user: 7 }).await.unwrap();
        let [(key, fields)] = &listed[..] else { panic!("{listed:?}") };
        assert_eq!(key.session_id.as_str(), id_of(&cookie));
        assert_eq!((fields.user, &fields.data["user"]), (7, &7.into()));

        // Another login has another id, and the old one is over.
        let (status, again) = ask(&application, "POST", "/login/8", &cookie).await;
        assert_eq!(status, StatusCode::OK);
        assert_ne!(again, cookie);
        assert_eq!(ask(&application, "GET", "/user", &cookie).await.0, StatusCode::UNAUTHORIZED);
        assert!(sessions.list(&keys::Webs { user: 7 }).await.unwrap().is_empty());
        assert_eq!(sessions.list(&keys::Webs { user: 8 }).await.unwrap().len(), 1);

        // Logging out everywhere reaches it, and whoever logs out leaves a tombstone.
        let (_, other) = ask(&application, "POST", "/login/8", "").await;
        assert_eq!(sessions.revoke_all(&keys::Webs { user: 8 }).await.unwrap(), 2);
        for cookie in [&again, &other] {
            assert_eq!(ask(&application, "GET", "/user", cookie).await.0, StatusCode::UNAUTHORIZED);
        }
        let (_, cookie) = ask(&application, "POST", "/login/9", "").await;
        assert_eq!(ask(&application, "POST", "/logout", &cookie).await.0, StatusCode::OK);
        assert_eq!(ask(&application, "GET", "/user", &cookie).await.0, StatusCode::UNAUTHORIZED);
        let said = format!("sg:logged_out:{}", id_of(&cookie));
        assert_eq!(server.command(&["EXISTS", &said]).integer(), 1);
        assert_eq!(server.command(&["EXISTS", "sg:webs:9"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_session_of_tower_sessions_that_was_revoked_is_not_saved_again() {
    on_all(async |_: &Server, store: Store| {
        let sessions: TowerSessions<keys::Web> = store.tower_sessions(fields::Web::DATA).unwrap();
        let mut record = record(7, HOUR);
        sessions.create(&mut record).await.unwrap();
        record.data.insert("cart".to_owned(), "tea".into());
        sessions.save(&record).await.unwrap();
        let loaded = sessions.load(&record.id).await.unwrap().unwrap();
        assert_eq!(loaded.data, record.data);
        let session_id = values::SessionId::new(record.id.to_string()).unwrap();
        let web = store.at(keys::Web { session_id });
        assert!(web.get_field(fields::Web::SEEN).await.unwrap().is_some(), "saving is using");

        // Whose it is decides where it is listed.
        let mut stolen = record.clone();
        stolen.data.insert("user".to_owned(), 8.into());
        let error = sessions.save(&stolen).await.unwrap_err().to_string();
        assert!(error.contains("`user`") && error.contains("call `cycle_id`"), "{error}");

        web.revoke().await.unwrap();
        assert_eq!(sessions.load(&record.id).await.unwrap(), None);
        let error = sessions.save(&record).await.unwrap_err().to_string();
        assert!(error.contains("revoked"), "{error}");
        let error = sessions.create(&mut record).await.unwrap_err().to_string();
        assert!(error.contains("revoked"), "{error}");
        assert_eq!(sessions.load(&record.id).await.unwrap(), None);
        sessions.delete(&record.id).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_session_of_tower_sessions_ends_by_the_schema_or_by_its_own_date() {
    on_all(async |server: &Server, store: Store| {
        let sessions: TowerSessions<keys::Web> = store.tower_sessions(fields::Web::DATA).unwrap();
        let ttl =
            |record: &Record| server.command(&["PTTL", &format!("sg:web:{}", record.id)]).integer();
        let mut long = record(7, 100 * HOUR);
        sessions.create(&mut long).await.unwrap();
        assert!((3_500_000..=3_600_000).contains(&ttl(&long)), "the schema's hour");
        let mut short = record(7, Duration::from_secs(600));
        sessions.create(&mut short).await.unwrap();
        assert!((500_000..=600_000).contains(&ttl(&short)));
        let loaded = sessions.load(&short.id).await.unwrap().unwrap();
        let end = SystemTime::from(loaded.expiry_date).duration_since(SystemTime::now()).unwrap();
        assert!(end <= Duration::from_secs(600));

        // Loading restarts nothing, saving does.
        server.command(&["EXPIRE", &format!("sg:web:{}", long.id), "100"]);
        sessions.load(&long.id).await.unwrap().unwrap();
        assert!(ttl(&long) <= 100_000);
        sessions.save(&long).await.unwrap();
        assert!(ttl(&long) > 3_500_000);
        long.expiry_date = (SystemTime::now() + Duration::from_secs(60)).into();
        sessions.save(&long).await.unwrap();
        assert!(ttl(&long) <= 60_000);

        // An id that is taken is not used twice.
        let taken = short.id;
        let mut other = Record { id: taken, ..record(8, HOUR) };
        sessions.create(&mut other).await.unwrap();
        assert_ne!(other.id, taken);
        assert_eq!(sessions.load(&taken).await.unwrap().unwrap().data, short.data);
    })
    .await;
}

#[tokio::test]
async fn what_does_not_fit_tower_sessions_is_refused() {
    on_all(async |server: &Server, store: Store| {
        let error = store.tower_sessions::<keys::Locker, _, _>(fields::Locker::DATA).unwrap_err();
        assert!(matches!(error, Error::Settings(_)), "{error:?}");
        assert!(error.to_string().contains("`locker` cannot hold sessions of tower-sessions"));

        // A field that must be there, and one that is not of its type.
        let sessions: TowerSessions<keys::Web> = store.tower_sessions(fields::Web::DATA).unwrap();
        let mut nobody = Record { data: [].into(), ..record(7, HOUR) };
        let error = sessions.create(&mut nobody).await.unwrap_err().to_string();
        assert!(error.contains("`user`") && error.contains("missing"), "{error}");
        nobody.data.insert("user".to_owned(), "Ann".into());
        let error = sessions.create(&mut nobody).await.unwrap_err().to_string();
        assert!(error.contains("`user`"), "{error}");
        // What another program wrote.
        let id = Id::default();
        server.command(&["HSET", &format!("sg:web:{id}"), "user", "7", "data", "[1]"]);
        server.command(&["EXPIRE", &format!("sg:web:{id}"), "100"]);
        let error = sessions.load(&id).await.unwrap_err().to_string();
        assert!(error.contains("`data`"), "{error}");
        assert_eq!(server.command(&["DBSIZE"]).integer(), 1, "nothing was written");

        // A UUID for an id, and fields that come and go.
        let baskets: TowerSessions<keys::Basket> =
            store.tower_sessions(fields::Basket::DATA).unwrap();
        let mut basket = record(7, HOUR);
        basket.data.insert("coupon".to_owned(), "SPRING".into());
        baskets.create(&mut basket).await.unwrap();
        let bytes = basket.id.0.to_le_bytes();
        let key = format!("sg:basket:{}", keyward::Uuid::from_bytes(bytes));
        assert_eq!(server.command(&["HGET", &key, "coupon"]).text(), "SPRING");
        basket.data.remove("coupon");
        baskets.save(&basket).await.unwrap();
        assert_eq!(server.command(&["HEXISTS", &key, "coupon"]).integer(), 0);
        assert_eq!(baskets.load(&basket.id).await.unwrap().unwrap().data, basket.data);
    })
    .await;
}

#[tokio::test]
async fn sessions_of_tower_sessions_live_on_a_cluster() {
    use signed_cluster::{fields, keys};
    let cluster = Cluster::start(Flavor::Redis);
    let store = cluster_store(&cluster).await;
    let sessions: TowerSessions<keys::Web> = store.tower_sessions(fields::Web::DATA).unwrap();
    let mut first = record(7, HOUR);
    sessions.create(&mut first).await.unwrap();
    sessions.save(&first).await.unwrap();
    assert_eq!(sessions.load(&first.id).await.unwrap().unwrap().data, first.data);
    let revoked = store.sessions::<keys::Web>().revoke_all(&keys::Webs { user: 7 }).await.unwrap();
    assert_eq!(revoked, 1);
    assert_eq!(sessions.load(&first.id).await.unwrap(), None);
    assert!(sessions.save(&first).await.is_err());
}
