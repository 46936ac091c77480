//! Chapter 10: what happened, counted in windows and for each user and day.

use crate::app::App;
use crate::media_gateway::fields::UserActivity;
use crate::media_gateway::keys;
use crate::media_gateway::values::{MetricName, Window};
use crate::problem::Problem;
use crate::sessions::User;
use axum::Json;
use axum::extract::{Path, State};
use keyward::{Date, Error, Field, Uuid};
use serde_json::{Map, Value, json};

/// What was counted in each window.
pub async fn counters(
    State(app): State<App>,
    User(_): User,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    let metric_name = MetricName::new(name)?;
    let mut counted = Map::new();
    for &window in Window::ALL {
        let counter =
            app.store.at(keys::MetricCounter { metric_name: metric_name.clone(), window });
        counted.insert(window.as_str().to_owned(), counter.get().await?.into());
    }
    Ok(Json(Value::Object(counted)))
}

/// What the user did today.
pub async fn activity(State(app): State<App>, User(user_id): User) -> Result<Json<Value>, Problem> {
    let today = app.store.at(keys::UserActivity { user_id, date: Date::today() }).get().await?;
    let count =
        |field: fn(&UserActivity) -> Option<i64>| today.as_ref().and_then(field).unwrap_or(0);
    Ok(Json(json!({
        "searches": count(|it| it.searches),
        "content_views": count(|it| it.content_views),
        "watchlist_adds": count(|it| it.watchlist_adds),
        "recommendations_requested": count(|it| it.recommendations_requested),
    })))
}

/// What the store has counted: hits, misses, refusals, failures.
pub async fn prometheus(State(app): State<App>) -> String {
    app.counted.render()
}

impl App {
    // ANCHOR: count
    /// Counts in all windows, in one round trip. Nobody waits for a number, so that a failure is only logged.
    pub async fn count(&self, metric: &str) {
        if let Err(error) = self.count_in_all_windows(metric).await {
            tracing::warn!(metric, %error, "not counted");
        }
    }

    async fn count_in_all_windows(&self, metric: &str) -> Result<(), Error> {
        let metric_name =
            MetricName::new(metric).map_err(|error| Error::Settings(error.to_string()))?;
        let mut batch = self.store.pipeline();
        let counter = |&window| {
            let key = keys::MetricCounter { metric_name: metric_name.clone(), window };
            batch.add(self.store.at(key).add(1))
        };
        let counted: Vec<_> = Window::ALL.iter().map(counter).collect();
        let mut results = batch.run().await?;
        counted.into_iter().try_for_each(|it| results.take(it).map(|_| ()))
    }
    // ANCHOR_END: count

    /// Adds one to what a user did today.
    pub async fn note(&self, user_id: Uuid, what: Field<UserActivity, i64>) {
        let today = self.store.at(keys::UserActivity { user_id, date: Date::today() });
        if let Err(error) = today.increment(what, 1).await {
            tracing::warn!(%error, "a user's activity was not counted");
        }
    }
}
