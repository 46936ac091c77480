//! The truth about titles: what an application would read from its database. All of them are made up.

#![allow(clippy::unused_async, reason = "a database would be awaited")]

use crate::media_gateway::fields::{ContentAvailability, ContentMeta};
use crate::media_gateway::values::{ContentId, ContentType, Platform, Region};
use crate::model::Content;
use keyward::Date;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

/// A database could fail here.
pub type Read<T> = Result<T, Infallible>;
/// Titles with a score, the highest first.
pub type Ranked = Vec<(ContentId, f64)>;

/// Id, title, type, year, popularity, rating, genres, platforms.
type Row<'a> = (&'a str, &'a str, &'a str, u16, f64, Option<f64>, &'a [&'a str], &'a [&'a str]);

const TITLES: &[Row<'_>] = &[
    ("long-tide", "The Long Tide", "movie", 2021, 71.5, Some(7.9), &["drama"], &["lumen", "orbit"]),
    (
        "glass-harbour",
        "Glass Harbour",
        "series",
        2024,
        88.0,
        Some(8.4),
        &["crime", "drama"],
        &["lumen"],
    ),
    ("two-keys", "Two Keys", "movie", 2019, 40.25, None, &["comedy"], &["orbit"]),
    (
        "night-ferry",
        "The Night Ferry",
        "movie",
        2023,
        64.0,
        Some(7.1),
        &["crime"],
        &["lumen", "orbit"],
    ),
    (
        "orchard-street",
        "Orchard Street",
        "series",
        2022,
        52.0,
        Some(6.8),
        &["comedy", "drama"],
        &["orbit"],
    ),
    (
        "last-lighthouse",
        "The Last Lighthouse",
        "movie",
        2026,
        93.5,
        Some(8.8),
        &["drama", "mystery"],
        &["lumen"],
    ),
];

/// All titles.
#[derive(Debug)]
pub struct Catalogue {
    titles: RwLock<BTreeMap<ContentId, ContentMeta>>,
    /// The highest fence that has written what a platform says
    fences: Mutex<HashMap<Platform, u64>>,
}

impl Catalogue {
    pub async fn title(&self, id: &ContentId) -> Read<Option<ContentMeta>> {
        Ok(self.titles().get(id).cloned())
    }

    /// Where, and for how much: a series is included in a subscription, a movie is rented.
    pub async fn offer(
        &self,
        id: &ContentId,
        platform: &Platform,
        region: &Region,
    ) -> Read<Option<ContentAvailability>> {
        let titles = self.titles();
        let offered =
            titles.get(id).filter(|it| it.platforms.iter().any(|on| on == platform.as_str()));
        Ok(offered.map(|meta| ContentAvailability {
            availability_type: if is(meta, "series") { "subscription" } else { "rent" }.to_owned(),
            price_cents: (!is(meta, "series")).then_some(399),
            deep_link: format!("https://{platform}.example/{region}/{id}"),
            video_qualities: ["hd", "uhd"].map(str::to_owned).to_vec(),
            expires_at: None,
        }))
    }

    /// Titles with these words, by id.
    pub async fn search(&self, words: &str) -> Read<Vec<Content>> {
        let titles = self.titles();
        let found = titles.iter().filter(|(_, meta)| meta.title.to_lowercase().contains(words));
        let content = |(id, meta): (&ContentId, &ContentMeta)| Content {
            content_id: id.to_string(),
            title: meta.title.clone(),
            content_type: meta.content_type.clone(),
        };
        Ok(found.map(content).collect())
    }

    pub async fn popular(&self, content_type: &ContentType) -> Read<Ranked> {
        Ok(self.ranked(|_, meta| is(meta, content_type.as_str()).then_some(meta.popularity_score)))
    }

    /// Titles by how many genres they share with this one.
    pub async fn similar(&self, id: &ContentId) -> Read<Ranked> {
        let Some(this) = self.titles().get(id).cloned() else { return Ok(Vec::new()) };
        Ok(self.ranked(|other, meta| {
            let shared = this.genres.iter().filter(|one| meta.genres.contains(one));
            Some(shared.map(|_| 1.0).sum()).filter(|shared| other != id && *shared > 0.0)
        }))
    }

    /// What is on the rise: the newest, since nobody counts plays here.
    pub async fn trending(&self) -> Read<Ranked> {
        Ok(self.ranked(|_, meta| Some(f64::from(meta.release_date.year()))))
    }

    pub async fn rename(&self, id: &ContentId, title: String) -> Read<bool> {
        let mut titles = self.titles.write().unwrap_or_else(PoisonError::into_inner);
        let Some(meta) = titles.get_mut(id) else { return Ok(false) };
        meta.title = title;
        Ok(true)
    }

    /// What a platform has, for those who read it again.
    pub async fn on_platform(&self, platform: &Platform) -> Read<Vec<ContentId>> {
        let titles = self.titles();
        let on =
            titles.iter().filter(|(_, it)| it.platforms.iter().any(|on| on == platform.as_str()));
        Ok(on.map(|(id, _)| id.clone()).collect())
    }

    /// Notes how often a title was watched on a platform; `false` if a run with a higher fence has written since. That
    /// run has the newer numbers, even if this one was stopped for an hour and does not know that its lock is lost.
    pub async fn watched(
        &self,
        platform: &Platform,
        fence: u64,
        id: &ContentId,
        times: f64,
    ) -> Read<bool> {
        let mut fences = self.fences.lock().unwrap_or_else(PoisonError::into_inner);
        let highest = fences.entry(platform.clone()).or_default();
        if fence < *highest {
            return Ok(false);
        }
        *highest = fence;
        let mut titles = self.titles.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(meta) = titles.get_mut(id) {
            meta.popularity_score += times;
        }
        Ok(true)
    }

    /// The highest first, and titles with the same score by id.
    pub fn ranked(&self, score: impl Fn(&ContentId, &ContentMeta) -> Option<f64>) -> Ranked {
        let titles = self.titles();
        let scored = titles.iter().filter_map(|(id, meta)| Some((id.clone(), score(id, meta)?)));
        let mut ranked: Ranked = scored.collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        ranked
    }

    fn titles(&self) -> RwLockReadGuard<'_, BTreeMap<ContentId, ContentMeta>> {
        self.titles.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is(meta: &ContentMeta, content_type: &str) -> bool {
    meta.content_type == content_type
}

impl Default for Catalogue {
    fn default() -> Self {
        let texts = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let row = |&(id, title, kind, year, popularity, rating, genres, platforms): &Row<'_>| {
            let meta = ContentMeta {
                title: title.to_owned(),
                content_type: kind.to_owned(),
                release_date: Date::new(year, 11, 15).expect("a day"),
                popularity_score: popularity,
                average_rating: rating,
                genres: texts(genres),
                platforms: texts(platforms),
            };
            (ContentId::new(id).expect("an id of the schema"), meta)
        };
        Catalogue {
            titles: RwLock::new(TITLES.iter().map(row).collect()),
            fences: Mutex::default(),
        }
    }
}
