//! `/events`: server-sent events, one for each change. They say that something is new; pages ask for what they show.

use crate::state::Shared;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// How often a line is sent that says nothing, so that a proxy keeps the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) async fn stream(
    State(shared): State<Shared>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let stream = unfold(shared.events(), async |mut events| {
        let event = match events.recv().await {
            Ok(event) => Event::default().event(event.name()).json_data(&event).ok()?,
            // Whoever missed some asks for everything.
            Err(RecvError::Lagged(_)) => Event::default().event("reload").data("{}"),
            Err(RecvError::Closed) => return None,
        };
        Some((Ok(event), events))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}
