//! Chapter 3: how often a client may ask.

use crate::media_gateway::{keys, values};
use crate::sessions::User;
use axum::extract::{ConnectInfo, MatchedPath, Request};
use keyward::{LimitLayer, Limits, Store};
use std::net::SocketAddr;

/// Requests of a client to one endpoint in a minute.
const API: u64 = 120;
/// Searches of a user in an hour.
const SEARCHES: u64 = 30;
/// Requests of a user for recommendations in five minutes.
const RECOMMENDATIONS: u64 = 5;

/// Answers 429 if one of the limits refuses. All of them are asked in one round trip, and a request that is
/// refused is counted in none.
pub fn layer(store: &Store) -> LimitLayer<impl Fn(&Request) -> Limits + Clone + use<>> {
    let store = store.clone();
    LimitLayer::new(move |request: &Request| limits_of(&store, request))
}

// ANCHOR: limits
/// The limits that count for a request.
fn limits_of(store: &Store, request: &Request) -> Limits {
    let mut limits = store.limits();
    let user = request.extensions().get().map(|&User(user_id)| user_id);
    let path = request.extensions().get().map_or("", MatchedPath::as_str);
    if let Some(key) = api_limit(request, path) {
        limits = limits.and(&store.at(key).limited_to(API));
    }
    match (user, path) {
        (Some(user_id), "/search") => {
            limits.and(&store.at(keys::SearchLimit { user_id }).limited_to(SEARCHES))
        }
        (Some(user_id), "/recommendations") => {
            let limit = store.at(keys::RecommendationLimit { user_id });
            limits.and(&limit.limited_to(RECOMMENDATIONS))
        }
        _ => limits,
    }
}

/// By user, or by address where nobody is signed in. The path is the route's, not the request's: ids in it
/// would give every title a limit of its own.
fn api_limit(request: &Request, path: &str) -> Option<keys::ApiLimit> {
    let extensions = request.extensions();
    let client = if let Some(User(user_id)) = extensions.get() {
        user_id.to_string()
    } else {
        let ConnectInfo(address) = extensions.get::<ConnectInfo<SocketAddr>>()?;
        address.ip().to_string()
    };
    let (client, endpoint) = (values::Client::new(client).ok()?, values::Endpoint::new(path).ok()?);
    keys::ApiLimit::new(client, endpoint).ok()
}
// ANCHOR_END: limits
