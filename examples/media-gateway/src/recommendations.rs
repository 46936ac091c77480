//! Chapter 6: what to watch next. The answers are expensive to compute and good for some minutes.

use crate::app::App;
use crate::catalogue::Read;
use crate::media_gateway::fields::{UserActivity, UserPreferences};
use crate::media_gateway::keys;
use crate::media_gateway::values::{ContentId, Region, Timeframe};
use crate::model::ContentRecommendation;
use crate::problem::Problem;
use crate::sessions::User;
use axum::Json;
use axum::extract::{Path, State};
use serde_json::Value;

/// What a user may like, best first.
pub async fn for_user(
    State(app): State<App>,
    User(user_id): User,
) -> Result<Json<Vec<ContentRecommendation>>, Problem> {
    let preferences = app.preferences(user_id).await?;
    let recommended = app.store.at(keys::UserRecommendations { user_id });
    let recommended = recommended.get_or_load(|| app.recommend(&preferences)).await?;
    app.note(user_id, UserActivity::RECOMMENDATIONS_REQUESTED).await;
    Ok(Json(recommended))
}

/// What resembles a title.
pub async fn similar(
    State(app): State<App>,
    User(_): User,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let content_id = ContentId::new(id)?;
    app.title(content_id.clone()).await?;
    let similar = app.store.at(keys::SimilarContent { content_id: content_id.clone() });
    let ranked = similar.get_or_load(|| app.catalogue.similar(&content_id)).await?;
    app.with_titles(ranked).await
}

/// What is on the rise in a region.
pub async fn trending(
    State(app): State<App>,
    User(_): User,
    Path((region, timeframe)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let (region, timeframe) = (Region::new(region)?, Timeframe::new(timeframe)?);
    let trending = app.store.at(keys::TrendingContent { region, timeframe });
    let ranked = trending.get_or_load(|| app.catalogue.trending()).await?;
    app.with_titles(ranked).await
}

impl App {
    /// Titles of the genres that a user likes, the most popular first.
    async fn recommend(&self, preferences: &UserPreferences) -> Read<Vec<ContentRecommendation>> {
        let liked = |genres: &[String]| {
            preferences.favorite_genres.iter().find(|genre| genres.contains(genre)).cloned()
        };
        let ranked =
            self.catalogue.ranked(|_, meta| liked(&meta.genres).map(|_| meta.popularity_score));
        let mut recommended = Vec::new();
        for (id, score) in ranked {
            let Some(meta) = self.catalogue.title(&id).await? else { continue };
            let because = liked(&meta.genres).unwrap_or_default();
            recommended.push(ContentRecommendation {
                content_id: id.to_string(),
                title: meta.title,
                score,
                because: format!("you like {because}"),
            });
        }
        Ok(recommended)
    }
}
