//! Who may ask, and with what headers every answer goes out.
//!
//! Without a token, only pages of this machine may ask: a request's `Host` must be a loopback name, so that no site
//! that resolves to 127.0.0.1 reads what is served (DNS rebinding). With a token, each request carries it as a bearer
//! token, or the cookie that the login form sets.

use super::Problem;
use crate::folder::random;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use keyward_audit::live::Secret;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use subtle::ConstantTimeEq as _;
use tokio::time::timeout;

/// How long a request may take until its answer begins.
const REQUEST: Duration = Duration::from_secs(30);

/// The cookie's name.
const COOKIE: &str = "keyward";

/// What answers may do in a browser: only what comes from here.
const POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // With `no-referrer`, browsers send forms with `Origin: null`, which would be refused as another site's.
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Decides who may ask.
#[derive(Debug)]
pub(crate) struct Guard {
    token: Option<Secret>,
    /// What the cookie holds, as long as this process runs
    session: Secret,
}

impl Guard {
    pub(crate) fn new(token: Option<Secret>) -> io::Result<Self> {
        Ok(Guard { token, session: Secret::new(random()?) })
    }

    /// Whether a text is the token.
    pub(super) fn is_token(&self, given: &str) -> bool {
        self.token.as_ref().is_some_and(|token| is_same(token, given))
    }

    /// The cookie of whoever gave the token.
    pub(super) fn cookie(&self) -> String {
        let session = self.session.expose();
        format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200")
    }

    fn lets_in(&self, headers: &HeaderMap) -> bool {
        if self.token.is_none() {
            return true;
        }
        let bearer = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
        // The scheme's capitals do not matter: RFC 9110, 11.1.
        let bearer = bearer.and_then(|it| it.split_once(' '));
        let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        if bearer.is_some_and(|(_, given)| self.is_token(given.trim())) {
            return true;
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut pairs = cookies.flat_map(|it| it.split(';')).filter_map(|it| it.split_once('='));
        pairs.any(|(name, value)| name.trim() == COOKIE && is_same(&self.session, value.trim()))
    }
}

fn is_same(secret: &Secret, given: &str) -> bool {
    secret.expose().as_bytes().ct_eq(given.as_bytes()).into()
}

/// Stands before every route.
pub(super) async fn protect(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match refuse(&guard, &request) {
        Some(refused) => refused,
        None => match timeout(REQUEST, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Problem::new(StatusCode::REQUEST_TIMEOUT, "it took too long").into_response(),
        },
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn refuse(guard: &Guard, request: &Request) -> Option<Response> {
    let headers = request.headers();
    if let Some(text) = ambiguous(request) {
        return Some(Problem::bad(text).into_response());
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if guard.token.is_none() && !is_loopback(host) {
        let text = "without a token, only `localhost` and loopback addresses are served";
        return Some(Problem::new(StatusCode::FORBIDDEN, text).into_response());
    }
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let is_own = |origin: &str| origin.split_once("://").is_some_and(|(_, own)| own == host);
    if !request.method().is_safe() && origin.is_some_and(|origin| !is_own(origin)) {
        let text = "another site sent this request";
        return Some(Problem::new(StatusCode::FORBIDDEN, text).into_response());
    }
    let path = request.uri().path();
    let is_open = ["/healthz", "/readyz", "/login"].contains(&path) || path.starts_with("/assets/");
    if is_open || guard.lets_in(headers) {
        return None;
    }
    let is_program = ["/api/", "/metrics", "/events"].iter().any(|it| path.starts_with(it));
    if is_program || !request.method().is_safe() {
        let text = if headers.contains_key(header::AUTHORIZATION) {
            "this is not the token: `Authorization: Bearer TOKEN` is needed"
        } else {
            "a token is needed"
        };
        let problem = Problem::new(StatusCode::UNAUTHORIZED, text);
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return Some((challenge, problem).into_response());
    }
    Some(Redirect::to("/login").into_response())
}

/// Why a request does not say clearly whom it asks: a proxy before this server may read it otherwise.
fn ambiguous(request: &Request) -> Option<&'static str> {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    if request.uri().authority().is_some() {
        return Some("write the path alone, not the whole address");
    }
    if request.headers().get_all(header::ORIGIN).iter().count() > 1 {
        return Some("there is more than one `Origin`");
    }
    if request.headers().get_all(header::AUTHORIZATION).iter().count() > 1 {
        return Some("there is more than one `Authorization`");
    }
    match hosts {
        0 if request.version() >= Version::HTTP_11 => Some("there is no `Host`"),
        0 | 1 => None,
        _ => Some("there is more than one `Host`"),
    }
}

/// Whether a `Host` names this machine, whatever its port.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:9736", "127.1.2.3", "[::1]:80", "[::1]"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["", "evil.example", "127.0.0.1.evil.example:80", "[::2]", "10.0.0.1", ":80", "["]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn the_token_or_its_cookie_lets_in_and_nothing_else_does() {
        let guard = Guard::new(Some(Secret::new("0123456789abcdef"))).expect("random numbers");
        let with = |name: HeaderName, value: &str| {
            let value = HeaderValue::from_str(value).expect("a header");
            guard.lets_in(&HeaderMap::from_iter([(name, value)]))
        };
        assert!(with(header::AUTHORIZATION, "Bearer 0123456789abcdef"));
        assert!(with(header::AUTHORIZATION, "bearer 0123456789abcdef"));
        assert!(with(header::COOKIE, guard.cookie().split(';').next().unwrap_or_default()));
        assert!(with(header::COOKIE, &format!("a=b; {COOKIE}={}", guard.session.expose())));
        assert!(!with(header::AUTHORIZATION, "Bearer 0123456789abcdeF"));
        assert!(!with(header::AUTHORIZATION, "Basic 0123456789abcdef"));
        assert!(!with(header::COOKIE, "keyward=0123456789abcdef"));
        assert!(!with(header::COOKIE, "keyward="));
    }
}
