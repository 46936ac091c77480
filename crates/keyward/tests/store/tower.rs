//! Limits in front of an HTTP service.

use super::everything::keys;
use super::on_all;
use http::{HeaderMap, Request, Response, StatusCode};
use keyward::{Limits, Store};
use keyward_testkit::Server;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use tower_layer::Layer as _;
use tower_service::Service;

/// Answers every request that reaches it.
#[derive(Clone)]
struct Hello;

impl Service<Request<()>> for Hello {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(Response::new("hello".to_owned())))
    }
}

/// The answer to `GET /{path}`.
async fn get(store: &Store, path: &str) -> Response<String> {
    // ANCHOR: layer
    let limits = {
        let store = store.clone();
        move |request: &Request<()>| -> Limits {
            let Ok(id) = request.uri().path()[1..].parse() else { return store.limits() };
            let (burst, minute) = (store.at(keys::Even { id }), store.at(keys::Fixed { id }));
            store.limits().and(&burst).and(&minute)
        }
    };
    let layer = keyward::LimitLayer::new(limits);
    // ANCHOR_END: layer
    let request = Request::get(path).body(()).unwrap();
    layer.layer(Hello).call(request).await.unwrap()
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_service_is_limited_with_the_standard_headers() {
    on_all(async |server: &Server, store: Store| {
        let policy = Some(r#""even";q=3;w=60, "fixed";q=3;w=60"#);
        let first = get(&store, "/7").await;
        assert_eq!((first.status(), first.body().as_str()), (StatusCode::OK, "hello"));
        assert_eq!(header(first.headers(), "RateLimit-Policy"), policy);
        let limit = header(first.headers(), "RateLimit").unwrap();
        assert_eq!(limit, r#""even";r=2;t=20, "fixed";r=2;t=60"#);
        assert_eq!(header(first.headers(), "Retry-After"), None);
        get(&store, "/7").await;
        get(&store, "/7").await;
        let refused = get(&store, "/7").await;
        assert_eq!(
            (refused.status(), refused.body().as_str()),
            (StatusCode::TOO_MANY_REQUESTS, "")
        );
        assert_eq!(header(refused.headers(), "RateLimit-Policy"), policy);
        let after: u64 = header(refused.headers(), "Retry-After").unwrap().parse().unwrap();
        assert!((1..=60).contains(&after), "{after}");
        // Who is not limited sees no headers.
        let free = get(&store, "/about").await;
        assert_eq!((free.status(), free.headers().len()), (StatusCode::OK, 0));
        // Something else under the key of a limit that is closed in doubt.
        server.command(&["RPUSH", "ev:even:8", "a"]);
        assert_eq!(get(&store, "/8").await.status(), StatusCode::SERVICE_UNAVAILABLE);
    })
    .await;
}
