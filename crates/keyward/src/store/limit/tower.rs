//! Limits in front of an HTTP service.

use super::several::{Allowances, Limits};
use super::{Allowance, seconds};
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// Checks limits before a request goes on, and answers 429 if one refuses.
///
/// The closure says which limits count for a request: `store.limits().and(&store.at(…))`. Without any, the
/// request goes on. Responses have the headers `RateLimit-Policy` and `RateLimit` of the IETF draft
/// `httpapi-ratelimit-headers`, and a refusal has `Retry-After`.
///
/// If a limit cannot be checked because its key holds something else, the request goes on, or is answered 503
/// where one of the limits has `on_outage = "closed"`.
#[derive(Clone)]
pub struct LimitLayer<F> {
    limits: F,
}

/// What [`LimitLayer`] makes of a service.
#[derive(Clone)]
pub struct LimitService<S, F> {
    inner: S,
    limits: F,
}

impl<F> LimitLayer<F> {
    /// A layer that asks these limits.
    pub fn new(limits: F) -> Self {
        LimitLayer { limits }
    }
}

impl<S, F: Clone> Layer<S> for LimitLayer<F> {
    type Service = LimitService<S, F>;

    fn layer(&self, inner: S) -> Self::Service {
        LimitService { inner, limits: self.limits.clone() }
    }
}

impl<S, F, B, R> Service<Request<B>> for LimitService<S, F>
where
    S: Service<Request<B>, Response = Response<R>, Future: Send> + Clone + Send + 'static,
    F: Fn(&Request<B>) -> Limits,
    B: Send + 'static,
    R: Default,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let limits = (self.limits)(&request);
        // The service that was ready takes this request; the clone is asked again.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        Box::pin(async move {
            let headers = match limits.check().await {
                Ok(allowances) if allowances.allowed => headers(&allowances),
                Ok(allowances) => {
                    return Ok(answer(StatusCode::TOO_MANY_REQUESTS, headers(&allowances)));
                }
                // The store has logged and counted it.
                Err(_) if limits.is_closed() => {
                    return Ok(answer(StatusCode::SERVICE_UNAVAILABLE, HeaderMap::new()));
                }
                Err(_) => HeaderMap::new(),
            };
            let mut response = inner.call(request).await?;
            response.headers_mut().extend(headers);
            Ok(response)
        })
    }
}

fn answer<R: Default>(status: StatusCode, headers: HeaderMap) -> Response<R> {
    let mut response = Response::new(R::default());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

fn headers(allowances: &Allowances) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut list = |name: HeaderName, items: Vec<String>| {
        // Names of definitions are letters, digits and underscores.
        if let (false, Ok(value)) = (items.is_empty(), HeaderValue::try_from(items.join(", "))) {
            headers.insert(name, value);
        }
    };
    list(POLICY, allowances.each.iter().map(Allowance::policy_item).collect());
    list(LIMIT, allowances.each.iter().filter_map(Allowance::limit_item).collect());
    // Where waiting does not help, nothing is promised.
    if let (false, Some(retry_after)) = (allowances.allowed, allowances.retry_after) {
        headers.insert(RETRY_AFTER, seconds(retry_after).into());
    }
    headers
}

impl<F> fmt::Debug for LimitLayer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LimitLayer")
    }
}

impl<S: fmt::Debug, F> fmt::Debug for LimitService<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitService").field("inner", &self.inner).finish_non_exhaustive()
    }
}
