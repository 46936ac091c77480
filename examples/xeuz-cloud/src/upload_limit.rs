//! Ten uploads a minute.

use crate::problem::Problem;
use crate::xeuz_cloud::keys;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use keyward::{Allowance, Key as _, Store, Uuid};
use std::time::Duration;

// ANCHOR: check
/// Counts an upload; the headers that say how many are left.
pub async fn check(store: &Store, user_id: Uuid) -> Result<HeaderMap, Problem> {
    match store.at(keys::UploadLimit { user_id }).check().await {
        Ok(allowance) if allowance.allowed => Ok(headers(&allowance)),
        Ok(allowance) => Err(Problem::TooManyUploads(headers(&allowance))),
        Err(error) => {
            // Something else stands under the key. That is no fault of the user's.
            tracing::warn!(%error, "the upload limit cannot be checked");
            Ok(HeaderMap::new())
        }
    }
}
// ANCHOR_END: check

/// While Redis is away, nothing is counted, and nothing is said.
fn headers(allowance: &Allowance) -> HeaderMap {
    let limit = keys::UploadLimit::DEFINITION.behaviour.limit.unwrap_or(0);
    let counted = [
        (HeaderName::from_static("x-ratelimit-limit"), limit.into()),
        (HeaderName::from_static("x-ratelimit-remaining"), allowance.remaining.into()),
        (HeaderName::from_static("x-ratelimit-reset"), seconds(allowance.reset)),
    ];
    let refused = allowance.retry_after.map(|wait| (header::RETRY_AFTER, seconds(wait)));
    let counted = counted.into_iter().filter(|_| !allowance.outage);
    counted.chain(refused.filter(|_| !allowance.allowed)).collect()
}

fn seconds(time: Duration) -> HeaderValue {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).into()
}
