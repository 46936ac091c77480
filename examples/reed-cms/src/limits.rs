//! `rate:{action}:{identifier}`: how often somebody may do something in 15 minutes.

use crate::app::App;
use crate::reed_cms::keys;
use crate::reed_cms::values::{Action, Identifier};
use crate::sessions::Editor;
use axum::extract::{ConnectInfo, MatchedPath, Request};
use keyward::{LimitLayer, Limits};
use std::net::SocketAddr;

/// Attempts to sign in, by address.
const LOGINS: u64 = 10;
/// Searches, by address.
const SEARCHES: u64 = 60;
/// Changes, by editor.
const CHANGES: u64 = 1000;

/// Answers 429 if a limit refuses.
pub fn layer(app: &App) -> LimitLayer<impl Fn(&Request) -> Limits + Clone + use<>> {
    let app = app.clone();
    LimitLayer::new(move |request: &Request| limits_of(&app, request))
}

/// The limit that counts for a request.
fn limits_of(app: &App, request: &Request) -> Limits {
    let extensions = request.extensions();
    let address =
        extensions.get().map(|ConnectInfo(address): &ConnectInfo<SocketAddr>| address.ip());
    let (key, limit) = match extensions.get().map_or("", MatchedPath::as_str) {
        "/api/login" if request.method() == "POST" => {
            (address.and_then(|ip| key("login", &ip)), LOGINS)
        }
        "/api/search" => (address.and_then(|ip| key("search", &ip)), SEARCHES),
        _ if !request.method().is_safe() => {
            (extensions.get().and_then(|editor: &Editor| key("change", &editor.id)), CHANGES)
        }
        _ => (None, 0),
    };
    match key {
        Some(key) => app.site.limits().and(&app.site.at(key).limited_to(limit)),
        None => app.site.limits(),
    }
}

/// `rate:login:192.168.1.1`, for example.
fn key(action: &str, identifier: &impl ToString) -> Option<keys::RateLimit> {
    let identifier = Identifier::new(identifier.to_string()).ok()?;
    Some(keys::RateLimit { action: Action::new(action).ok()?, identifier })
}
