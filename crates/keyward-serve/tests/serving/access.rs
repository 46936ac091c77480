//! Who is answered.

use crate::instance::{Instance, Place, with_token};
use keyward_testkit::Server;
use std::io::{Read as _, Write as _};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn without_a_token_only_this_machine_is_answered() {
    let server = Server::redis();
    let place = Place::new();
    let instance = place.start(&server.url());
    let with =
        |name: &str, value: &str| instance.send("GET", "/metrics", &[(name, value)], "").status;
    assert_eq!(with("Host", "localhost:1234"), 200);
    assert_eq!(with("Host", "evil.example"), 403, "a name that resolves to loopback");
    let sent = |origin: &str| {
        let headers = [("Origin", origin), ("Content-Type", "application/json")];
        instance.send("POST", "/api/v1/servers/main/key", &headers, "{\"key\":\"a\"}").status
    };
    assert_eq!(sent(&format!("http://{}", instance.address)), 200);
    assert_eq!(sent("http://evil.example"), 403);
    assert_eq!(sent("null"), 403);
    assert_eq!(instance.send("DELETE", "/api/v1/servers", &[], "").status, 405);

    let head = instance.get("/").head.to_lowercase();
    for header in [
        "content-security-policy: default-src 'self'",
        "x-content-type-options: nosniff",
        "referrer-policy: same-origin",
        "x-frame-options: deny",
        "cache-control: no-store",
    ] {
        assert!(head.contains(header), "no `{header}` in\n{head}");
    }
}

#[test]
fn another_address_needs_a_token() {
    let place = Place::new();
    let mut config = place.config("redis://127.0.0.1:1");
    config.listen = "0.0.0.0:0".parse().unwrap();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let error = keyward_serve::serve(&config, &stop, |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`0.0.0.0:0` can be reached from other machines: this needs a token"
    );
}

#[test]
fn a_token_is_asked_for_and_a_form_takes_it() {
    let server = Server::redis();
    let place = Place::new();
    let instance = Instance::start(with_token(place.config(&server.url()), TOKEN));
    let get = |path: &str, headers: &[(&str, &str)]| instance.send("GET", path, headers, "");
    assert_eq!(instance.get("/healthz").status, 200);
    for path in ["/api/v1/servers", "/metrics", "/events", "/api/v1/openapi.json"] {
        let refused = instance.get(path).is(401);
        assert!(refused.head.to_lowercase().contains("www-authenticate: bearer"), "{path}");
    }
    let page = instance.get("/").is(303);
    assert!(page.head.to_lowercase().contains("location: /login"), "{}", page.head);
    let bearer = format!("Bearer {TOKEN}");
    get("/api/v1/servers", &[("Authorization", &bearer)]).is(200);
    get("/api/v1/servers", &[("Authorization", &bearer), ("Host", "keys.example.com")]).is(200);
    let wrong = ("Authorization", &bearer[..bearer.len() - 1]);
    let refused = get("/api/v1/servers", &[wrong]).is(401);
    assert!(refused.text.contains("this is not the token"), "{}", refused.text);
    let small = format!("bearer {TOKEN}");
    get("/api/v1/servers", &[("Authorization", &small)]).is(200);
    get("/api/v1/servers", &[("Authorization", &bearer), wrong]).is(400);
    let own = format!("http://{}", instance.address);
    let origins =
        [("Authorization", &*bearer), ("Origin", &*own), ("Origin", "http://evil.example")];
    instance.send("POST", "/api/v1/servers/main/key", &origins, "{}").is(400);

    instance.get("/login").is(200);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    instance.send("POST", "/login", &form, "token=wrong").is(401);
    let entered = instance.send("POST", "/login", &form, &format!("token={TOKEN}")).is(303);
    let cookie = entered.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains(TOKEN), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    get("/s/main", &[("Cookie", cookie)]).is(200);
    get("/s/main", &[("Cookie", "keyward=1")]).is(303);
}

#[test]
fn who_dawdles_is_cut_off_and_large_requests_are_refused() {
    let server = Server::redis();
    let place = Place::new();
    let instance = place.start(&server.url());
    let mut slow = instance.connect();
    write!(slow, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").unwrap();
    let mut silent = instance.connect();
    instance.get("/healthz").is(200);
    let mut rest = Vec::new();
    // Whether with an answer or without one, both end.
    slow.read_to_end(&mut rest).unwrap();
    silent.read_to_end(&mut rest).unwrap();
    let large = format!("{{\"key\":\"{}\"}}", "a".repeat(100_000));
    let refused = instance.send(
        "POST",
        "/api/v1/servers/main/key",
        &[("Content-Type", "application/json")],
        &large,
    );
    assert_eq!(refused.status, 413, "{refused:?}");
    assert!(refused.text.contains("longer than 64 KiB"), "{refused:?}");
    let form = format!("key={}", "a".repeat(100_000));
    let kind = [("Content-Type", "application/x-www-form-urlencoded")];
    let refused = instance.send("POST", "/s/main/key", &kind, &form);
    assert_eq!(refused.status, 413, "{refused:?}");
    assert!(refused.text.contains("longer than 64 KiB"), "{refused:?}");
    let mut long = instance.connect();
    // It may be cut off before all of it is sent.
    let _ = write!(long, "GET / HTTP/1.1\r\nX-Long: {}\r\n\r\n", "a".repeat(100_000));
    let mut answer = String::new();
    let _ = long.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    instance.get("/healthz").is(200);
}

#[test]
fn whom_a_request_asks_must_be_clear() {
    let server = Server::redis();
    let place = Place::new();
    let instance = place.start(&server.url());
    let ask = |head: &str| {
        let mut stream = instance.connect();
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let own = &instance.address;
    assert!(ask(&format!("GET /metrics HTTP/1.1\r\nHost: {own}")).starts_with("HTTP/1.1 200"));
    for (head, why) in [
        (
            format!("GET /metrics HTTP/1.1\r\nHost: {own}\r\nHost: evil.example"),
            "more than one `Host`",
        ),
        (format!("GET /metrics HTTP/1.1\r\nHost: {own}\r\nHost: {own}"), "more than one `Host`"),
        (format!("GET http://{own}/metrics HTTP/1.1\r\nHost: {own}"), "the path alone"),
        (format!("GET http://evil.example/metrics HTTP/1.1\r\nHost: {own}"), "the path alone"),
        ("GET /metrics HTTP/1.1\r\nX: y".to_owned(), "no `Host`"),
    ] {
        let answer = ask(&head);
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(why), "{head}: {answer}");
        assert!(!answer.contains("keyward_"), "{head}: {answer}");
    }
}

#[test]
fn every_error_of_the_api_is_json() {
    let server = Server::redis();
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    let json = [("Content-Type", "application/json")];
    for (method, path, body, status) in [
        ("GET", "/api/v1/nothing", "", 404),
        ("GET", "/api/v1/servers/nobody/overview", "", 404),
        ("GET", "/api/v1/servers/main/nothing", "", 404),
        ("GET", "/api/v1/servers/main/definitions/shop/%FF", "", 400),
        ("GET", "/api/v1/servers/main/history?from=yesterday", "", 400),
        ("GET", "/api/v1/servers/main/history?from=-1", "", 400),
        ("GET", "/api/v1/servers/main/history?from=1&from=2", "", 400),
        ("GET", "/api/v1/servers/main/compare", "", 400),
        ("GET", "/api/v1/servers/main/compare?from=1", "", 400),
        ("GET", "/api/v1/servers/main/compare?from=2&to=1", "", 400),
        ("GET", "/api/v1/servers/main/compare?from=1&to=2", "", 404),
        ("DELETE", "/api/v1/servers", "", 405),
        ("GET", "/api/v1/servers/main/key", "", 405),
        ("POST", "/api/v1/servers/main/key", "{\"key\": \"zebra", 400),
    ] {
        let answer = instance.send(method, path, &json, body).is(status);
        let head = answer.head.to_lowercase();
        assert!(head.contains("content-type: application/json"), "{method} {path}: {head}");
        let error = answer.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(!error.is_empty() && !error.contains("zebra"), "{method} {path}: {error}");
    }
}
