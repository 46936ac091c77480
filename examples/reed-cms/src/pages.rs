//! `page:cache:{path}:{locale}:{theme}`: pages, rendered from the graph once and read from Redis after that.

use crate::app::App;
use crate::entities::PUBLISHED;
use crate::problem::Problem;
use crate::reed_cms::fields::Entity;
use crate::reed_cms::keys;
use crate::reed_cms::values::{Locale, Name, PageCachePath, Theme, Type};
use crate::templates::{Piece, escape};
use axum::extract::{Query, State};
use axum::http::Uri;
use axum::response::Html;
use serde::Deserialize;
use std::pin::Pin;

/// How deep a page may be.
const DEEPEST: usize = 8;

/// The languages of the site. Others have no pages, so that nobody can fill the cache with them.
const LOCALES: [&str; 2] = ["de_DE", "en_GB"];

/// How a visitor wants to see a page.
#[derive(Debug, Deserialize)]
pub struct View {
    #[serde(default = "german")]
    locale: String,
    #[serde(default = "corporate")]
    theme: String,
}

fn german() -> String {
    LOCALES[0].to_owned()
}

fn corporate() -> String {
    "corporate".to_owned()
}

/// A page, by the name of its entity: `/` is `home`, and `/news/first` is `news.first`.
pub async fn show(
    State(app): State<App>,
    uri: Uri,
    Query(View { locale, theme }): Query<View>,
) -> Result<Html<String>, Problem> {
    if !LOCALES.contains(&locale.as_str()) {
        return Err(Problem::NotFound);
    }
    let path = PageCachePath::new(uri.path())?;
    let key = keys::PageCache::new(path, Locale::new(locale)?, Theme::new(theme)?)?;
    let page = app.site.at(key.clone());
    let page = page.find_or_load(|| app.render(&key)).await?;
    page.map(Html).ok_or(Problem::NotFound)
}

impl App {
    async fn render(&self, page: &keys::PageCache) -> Result<Option<String>, Problem> {
        let Some(name) = name_of(page.path().as_str()) else { return Ok(None) };
        let name = keys::Semantic { type_: Type::new("page")?, name };
        let Some(entity) = self.site.at(name).get().await? else { return Ok(None) };
        self.part(page, entity, DEEPEST).await
    }

    /// An entity with its children, if it is published.
    fn part<'a>(
        &'a self,
        page: &'a keys::PageCache,
        entity: keys::Entity,
        depth: usize,
    ) -> Pin<Box<dyn Future<Output = Result<Option<String>, Problem>> + Send + 'a>> {
        Box::pin(async move {
            let fields = self.site.at(entity.clone()).get().await?;
            let fields = fields.filter(|it| it.status.as_deref() == Some(PUBLISHED) && depth > 0);
            let Some(fields) = fields else { return Ok(None) };
            let Some(template) = self.template(&fields.type_, page.theme()).await? else {
                tracing::warn!(template = fields.type_, theme = %page.theme(), "there is none");
                return Ok(None);
            };
            let mut html = String::new();
            for piece in template {
                match piece {
                    Piece::Text(text) => html.push_str(&text),
                    Piece::Field(name) => escape(field(&fields, &name, page.locale()), &mut html),
                    Piece::Bundle(kind) => html.push_str(&self.bundle(&kind, page.theme()).await?),
                    Piece::Children => {
                        let children = self.children_of(&entity).await?;
                        self.parts(page, children, depth, &mut html).await?;
                    }
                    Piece::Places(below) => {
                        let placed = self.places(&below).await?;
                        self.parts(page, placed, depth, &mut html).await?;
                    }
                }
            }
            Ok(Some(html))
        })
    }

    async fn parts(
        &self,
        page: &keys::PageCache,
        entities: Vec<keys::Entity>,
        depth: usize,
        html: &mut String,
    ) -> Result<(), Problem> {
        for entity in entities {
            if let Some(part) = self.part(page, entity, depth - 1).await? {
                html.push_str(&part);
            }
        }
        Ok(())
    }
}

/// A field in the visitor's language, if the entity has it: `body_en_GB` before `body`.
fn field<'f>(fields: &'f Entity, name: &str, locale: &Locale) -> &'f str {
    let other = |wanted: &str| {
        let mut others = fields.others.iter();
        others.find(|(name, _)| name == wanted.as_bytes()).map(|(_, text)| text.as_str())
    };
    let any = || if name == "title" { Some(fields.title.as_str()) } else { other(name) };
    other(&format!("{name}_{locale}")).or_else(any).unwrap_or("")
}

/// The name of the page at a path. A dot in a path names none, so that no two paths have one page.
fn name_of(path: &str) -> Option<Name> {
    let path = path.strip_prefix('/')?;
    match path {
        "" => Name::new("home").ok(),
        _ if path.contains('.') || path == "home" => None,
        _ => Name::new(path.replace('/', ".")).ok(),
    }
}
