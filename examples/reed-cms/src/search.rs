//! `word:{word}` with `entity_words:{entity_id}`, and `query:cache:{query_hash}` in front of them.

use crate::app::App;
use crate::entities::PUBLISHED;
use crate::hash::sha256;
use crate::model::{Found, QueryResult};
use crate::problem::Problem;
use crate::reed_cms::fields::Entity;
use crate::reed_cms::keys;
use crate::reed_cms::values::{QueryHash, Word};
use axum::Json;
use axum::extract::{Query, State};
use keyward::queue::Failure;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Longer words are not searched for.
const LONGEST: usize = 64;

#[derive(Debug, Deserialize)]
pub struct Search {
    q: String,
    /// `any=true` finds entities with at least one of the words, instead of all
    #[serde(default)]
    any: bool,
}

/// Published entities by their words. What differs only in capitals, order and spaces is the same search.
pub async fn search(
    State(app): State<App>,
    Query(Search { q, any }): Query<Search>,
) -> Result<Json<QueryResult>, Problem> {
    let words = words(&q);
    let spelled: Vec<&str> = words.iter().map(Word::as_str).collect();
    let query = format!("{any} {}", spelled.join(" "));
    let cached = app.site.at(keys::QueryCache { query_hash: QueryHash::new(sha256(&query))? });
    Ok(Json(cached.get_or_load(|| app.find(words, any)).await?))
}

impl App {
    // ANCHOR: find
    async fn find(&self, words: BTreeSet<Word>, any: bool) -> Result<QueryResult, Problem> {
        let index = self.site.index::<keys::WordIndex>();
        let sets = sets(words)?;
        let mut entities = if any { index.any_of(sets).await? } else { index.all_of(sets).await? };
        entities.sort_by_key(|entity| entity.id);
        let read = self.site.get_many(entities.clone()).await?;
        let found = entities.iter().zip(read).filter_map(|(entity, fields)| {
            // An index may have a member too many. What the entity itself says counts.
            let fields = fields.filter(|fields| fields.status.as_deref() == Some(PUBLISHED))?;
            Some(Found { entity: entity.into(), title: fields.title })
        });
        Ok(QueryResult { found: found.collect() })
    }
    // ANCHOR_END: find

    /// Puts an entity into the sets of its words, and out of all others.
    pub async fn index(&self, entity: &keys::Entity) -> Result<(), Failure> {
        let fields = self.site.at(entity.clone()).get().await?;
        let words = fields.map(|fields| words_of(&fields)).unwrap_or_default();
        self.site.index::<keys::WordIndex>().assign(entity, sets(words)?).await?;
        Ok(())
    }

    /// All entities as the index should have them.
    pub async fn indexed(
        &self,
        entities: &[keys::Entity],
    ) -> Result<Vec<(keys::Entity, Vec<keys::WordIndex>)>, Problem> {
        let read = self.site.get_many(entities.to_vec()).await?;
        let there =
            entities.iter().zip(read).filter_map(|(entity, fields)| Some((entity, fields?)));
        there.map(|(entity, fields)| Ok((entity.clone(), sets(words_of(&fields))?))).collect()
    }
}

/// The words of an entity: of its title and of all other fields.
fn words_of(fields: &Entity) -> BTreeSet<Word> {
    let others = fields.others.iter().map(|(_, text)| text);
    others.chain([&fields.title]).flat_map(|text| words(text)).collect()
}

/// The words of a text, in lower case as the schema spells them.
fn words(text: &str) -> BTreeSet<Word> {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| it.len() <= LONGEST);
    words.filter_map(|word| Word::new(word).ok()).collect()
}

fn sets(words: BTreeSet<Word>) -> Result<Vec<keys::WordIndex>, Problem> {
    words.into_iter().map(|word| Ok(keys::WordIndex::new(word)?)).collect()
}
