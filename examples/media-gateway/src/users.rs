//! Chapter 5: user data. Each change is made to the truth first, and then told.

use crate::app::App;
use crate::media_gateway::fields::{UserActivity, UserPreferences, WatchProgress};
use crate::media_gateway::values::ContentId;
use crate::media_gateway::{events, keys};
use crate::people::Person;
use crate::problem::Problem;
use crate::sessions::User;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::{Timestamp, Unix, Uuid};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
pub struct Profile {
    display_name: String,
}

#[derive(Debug, Deserialize)]
pub struct Preferences {
    favorite_genres: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Watched {
    position_seconds: i64,
    duration_seconds: i64,
    device_id: Uuid,
}

pub async fn profile(State(app): State<App>, User(user_id): User) -> Result<Json<Value>, Problem> {
    let profile = app.store.at(keys::UserProfile { user_id });
    let load = async || Ok(app.people.find(user_id).await?.map(|person| person.profile));
    let it = profile.find_or_load(load).await?.ok_or(Problem::NotFound)?;
    Ok(Json(json!({
        "email": it.email,
        "display_name": it.display_name,
        "avatar_url": it.avatar_url,
        "is_premium": it.is_premium,
        "subscription_tier": it.subscription_tier,
    })))
}

// ANCHOR: change
pub async fn set_profile(
    State(app): State<App>,
    User(user_id): User,
    Json(Profile { display_name }): Json<Profile>,
) -> Result<StatusCode, Problem> {
    app.change(user_id, |person| person.profile.display_name = display_name).await?;
    app.tell(events::UserProfileUpdated { user_id }).await;
    Ok(StatusCode::NO_CONTENT)
}
// ANCHOR_END: change

pub async fn preferences(
    State(app): State<App>,
    User(user_id): User,
) -> Result<Json<Value>, Problem> {
    let it = app.preferences(user_id).await?;
    Ok(Json(json!({
        "favorite_genres": it.favorite_genres,
        "preferred_languages": it.preferred_languages,
        "subscribed_platforms": it.subscribed_platforms,
        "max_content_rating": it.max_content_rating,
    })))
}

pub async fn set_preferences(
    State(app): State<App>,
    User(user_id): User,
    Json(Preferences { favorite_genres }): Json<Preferences>,
) -> Result<StatusCode, Problem> {
    app.change(user_id, |person| person.preferences.favorite_genres = favorite_genres).await?;
    app.tell(events::PreferencesChanged { user_id }).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The latest first: a sorted set is in the order of its scores, from the lowest.
pub async fn watchlist(
    State(app): State<App>,
    User(user_id): User,
) -> Result<Json<Value>, Problem> {
    let watchlist = app.store.at(keys::UserWatchlist { user_id });
    let load = async || {
        let person = app.people.find(user_id).await?;
        Ok(person.map(|person| person.watchlist).unwrap_or_default())
    };
    let mut listed = watchlist.get_or_load(load).await?;
    listed.sort_by_key(|&(_, added)| std::cmp::Reverse(added));
    let mut shown = Vec::new();
    for (id, added) in listed {
        let meta = app.title(id.clone()).await?;
        shown.push(json!({ "id": id.as_str(), "title": meta.title, "added_at": added.get() }));
    }
    Ok(Json(Value::Array(shown)))
}

pub async fn add_to_watchlist(
    State(app): State<App>,
    User(user_id): User,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let content_id = ContentId::new(id)?;
    app.title(content_id.clone()).await?;
    app.change(user_id, |person| {
        if person.watchlist.iter().all(|(listed, _)| *listed != content_id) {
            person.watchlist.push((content_id, Unix::now()));
        }
    })
    .await?;
    app.tell(events::WatchlistChanged { user_id }).await;
    app.note(user_id, UserActivity::WATCHLIST_ADDS).await;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn take_off_watchlist(
    State(app): State<App>,
    User(user_id): User,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let content_id = ContentId::new(id)?;
    app.change(user_id, |person| person.watchlist.retain(|(listed, _)| *listed != content_id))
        .await?;
    app.tell(events::WatchlistChanged { user_id }).await;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn progress(
    State(app): State<App>,
    User(user_id): User,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let content_id = ContentId::new(id)?;
    let progress = app.store.at(keys::WatchProgress { user_id, content_id: content_id.clone() });
    let load = async || {
        let person = app.people.find(user_id).await?;
        Ok(person.and_then(|mut person| person.progress.remove(&content_id)))
    };
    let it = progress.find_or_load(load).await?.ok_or(Problem::NotFound)?;
    Ok(Json(json!({
        "position_seconds": it.position_seconds,
        "duration_seconds": it.duration_seconds,
        "completion_rate": it.completion_rate,
        "last_watched": it.last_watched.as_str(),
        "device_id": it.device_id,
    })))
}

/// Where a user stopped; a player says so every few seconds.
pub async fn save_progress(
    State(app): State<App>,
    User(user_id): User,
    Path(id): Path<String>,
    Json(position): Json<Watched>,
) -> Result<StatusCode, Problem> {
    let content_id = ContentId::new(id)?;
    app.title(content_id.clone()).await?;
    let progress = watched(&position)
        .ok_or_else(|| Problem::Senseless("a position is between 0 and the duration".to_owned()))?;
    let key = content_id.clone();
    app.change(user_id, |person| _ = person.progress.insert(key, progress)).await?;
    app.tell(events::ProgressSaved { user_id, content_id }).await;
    app.count("plays").await;
    Ok(StatusCode::NO_CONTENT)
}

fn watched(position: &Watched) -> Option<WatchProgress> {
    let at = u32::try_from(position.position_seconds).ok()?;
    let of = u32::try_from(position.duration_seconds).ok().filter(|of| *of > 0 && at <= *of)?;
    Some(WatchProgress {
        position_seconds: at.into(),
        duration_seconds: of.into(),
        completion_rate: f64::from(at) / f64::from(of),
        last_watched: Timestamp::now(),
        device_id: position.device_id,
    })
}

impl App {
    /// What a user likes and may see.
    pub async fn preferences(&self, user_id: Uuid) -> Result<UserPreferences, Problem> {
        let preferences = self.store.at(keys::UserPreferences { user_id });
        let load = async || Ok(self.people.find(user_id).await?.map(|person| person.preferences));
        preferences.find_or_load(load).await?.ok_or(Problem::NotFound)
    }

    /// Changes the truth about a user.
    async fn change(&self, user_id: Uuid, change: impl FnOnce(&mut Person)) -> Result<(), Problem> {
        let Ok(changed) = self.people.change(user_id, change).await;
        if changed { Ok(()) } else { Err(Problem::NotFound) }
    }
}
