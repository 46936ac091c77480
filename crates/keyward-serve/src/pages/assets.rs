//! Style and script: files of their own, so that the policy forbids everything inline.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use siphasher::sip::SipHasher13;
use std::hash::Hasher as _;
use std::sync::LazyLock;

static STYLE: LazyLock<String> = LazyLock::new(|| {
    [keyward_page::BASE, keyward_page::PARTS, include_str!("../../assets/serve.css")].concat()
});

static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    [keyward_page::SCRIPT, keyward_page::COPY, include_str!("../../assets/serve.js")].concat()
});

/// Part of the address, so that a browser keeps a file until it is another.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = SipHasher13::new();
    hasher.write(STYLE.as_bytes());
    hasher.write(SCRIPT.as_bytes());
    format!("{:016x}", hasher.finish())
});

/// `/assets/{version}/{file}`
pub(super) async fn file(Path((_, file)): Path<(String, String)>) -> Response {
    let (kind, text) = match file.as_str() {
        "style.css" => ("text/css; charset=utf-8", STYLE.as_str()),
        "script.js" => ("text/javascript; charset=utf-8", SCRIPT.as_str()),
        "icon.svg" => ("image/svg+xml", include_str!("../../assets/icon.svg")),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let kept = "private, max-age=31536000, immutable";
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, kept)], text).into_response()
}
