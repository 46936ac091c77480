//! Chapter 4: content, read from the catalogue once and from Redis after that.

use crate::app::App;
use crate::catalogue::Ranked;
use crate::hash::sha256;
use crate::media_gateway::fields::{ContentMeta, UserActivity};
use crate::media_gateway::values::{ContentId, ContentType, Platform, QueryHash, Region};
use crate::media_gateway::{events, keys};
use crate::model::Content;
use crate::problem::Problem;
use crate::sessions::User;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
pub struct Search {
    q: String,
}

#[derive(Debug, Deserialize)]
pub struct Rename {
    title: String,
}

/// A title.
pub async fn show(
    State(app): State<App>,
    User(user_id): User,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let meta = app.title(ContentId::new(&id)?).await?;
    app.count("views").await;
    app.note(user_id, UserActivity::CONTENT_VIEWS).await;
    Ok(Json(json!({
        "id": id,
        "title": meta.title,
        "content_type": meta.content_type,
        "release_date": meta.release_date.to_string(),
        "popularity_score": meta.popularity_score,
        "average_rating": meta.average_rating,
        "genres": meta.genres,
        "platforms": meta.platforms,
    })))
}

/// Where a title can be watched, and for how much.
pub async fn offer(
    State(app): State<App>,
    User(_): User,
    Path((id, platform, region)): Path<(String, String, String)>,
) -> Result<Json<Value>, Problem> {
    let content_id = ContentId::new(id)?;
    // `DE` and `de` are one region: the schema says `normalize = "lower"`.
    let (platform, region) = (Platform::new(platform)?, Region::new(region)?);
    let key = keys::ContentAvailability {
        content_id: content_id.clone(),
        platform: platform.clone(),
        region: region.clone(),
    };
    let offer = app.store.at(key);
    let offer = offer.find_or_load(|| app.catalogue.offer(&content_id, &platform, &region)).await?;
    let offer = offer.ok_or(Problem::NotFound)?;
    Ok(Json(json!({
        "availability_type": offer.availability_type,
        "price_cents": offer.price_cents,
        "deep_link": offer.deep_link,
        "video_qualities": offer.video_qualities,
        "expires_at": offer.expires_at.map(|time| time.to_string()),
    })))
}

/// Titles by their words. What differs only in capitals and spaces is the same search.
pub async fn search(
    State(app): State<App>,
    User(user_id): User,
    Query(Search { q }): Query<Search>,
) -> Result<Json<Vec<Content>>, Problem> {
    let words = q.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let results = app.store.at(keys::SearchResults { query_hash: QueryHash::new(sha256(&words))? });
    let found = results.get_or_load(|| app.catalogue.search(&words)).await?;
    app.count("searches").await;
    app.note(user_id, UserActivity::SEARCHES).await;
    Ok(Json(found))
}

/// What is watched most in a region.
pub async fn popular(
    State(app): State<App>,
    User(_): User,
    Path((region, content_type)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let (region, content_type) = (Region::new(region)?, ContentType::new(content_type)?);
    let popular = app.store.at(keys::PopularContent { region, content_type: content_type.clone() });
    let ranked = popular.get_or_load(|| app.catalogue.popular(&content_type)).await?;
    app.with_titles(ranked).await
}

/// Another title for a title: an editor corrects it.
pub async fn rename(
    State(app): State<App>,
    User(_): User,
    Path(id): Path<String>,
    Json(Rename { title }): Json<Rename>,
) -> Result<StatusCode, Problem> {
    let content_id = ContentId::new(id)?;
    let Ok(renamed) = app.catalogue.rename(&content_id, title).await;
    app.tell(events::ContentUpdated { content_id }).await;
    if renamed { Ok(StatusCode::NO_CONTENT) } else { Err(Problem::NotFound) }
}

impl App {
    // ANCHOR: title
    /// What a title is.
    pub async fn title(&self, content_id: ContentId) -> Result<ContentMeta, Problem> {
        let meta = self.store.at(keys::ContentMeta { content_id: content_id.clone() });
        let found = meta.find_or_load(|| self.catalogue.title(&content_id)).await?;
        found.ok_or(Problem::NotFound)
    }
    // ANCHOR_END: title

    /// A ranking as a page shows it, the highest first, with a title for each id. A sorted set comes from Redis with the
    /// lowest first.
    pub async fn with_titles(&self, mut ranked: Ranked) -> Result<Json<Value>, Problem> {
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let mut shown = Vec::new();
        for (id, score) in ranked {
            let meta = self.title(id.clone()).await?;
            shown.push(json!({ "id": id.as_str(), "title": meta.title, "score": score }));
        }
        Ok(Json(Value::Array(shown)))
    }
}
