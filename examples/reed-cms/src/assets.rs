//! `asset:bundle:{type}:{hash}`: styles and scripts, named after the hash of their text.

use crate::app::App;
use crate::hash::sha256;
use crate::problem::Problem;
use crate::reed_cms::values::{AssetBundleType, Hash, TemplateCacheName, Theme};
use crate::reed_cms::{events, keys};
use crate::sessions::Editor;
use crate::templates::Deployed;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

/// Digits of the hash in a bundle's name.
const DIGITS: usize = 16;

/// A bundle. Another text has another path, so that browsers may keep it for ever.
pub async fn show(
    State(app): State<App>,
    Path((kind, hash)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let (type_, hash): (AssetBundleType, _) = (kind.parse()?, Hash::new(hash)?);
    let bundle = app.site.at(keys::AssetBundle { type_, hash: hash.clone() });
    // A server that was full may have evicted it.
    let again = async || Ok::<_, Problem>(app.find_bundle(type_, &hash));
    let bytes = bundle.find_or_load(again).await?.ok_or(Problem::NotFound)?;
    let media_type = match type_ {
        AssetBundleType::Css => "text/css; charset=utf-8",
        AssetBundleType::Js => "text/javascript; charset=utf-8",
    };
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((headers, bytes).into_response())
}

/// Other styles or scripts for a theme. Pages link to bundles by hash, so that they are rendered again.
pub async fn deploy(
    State(app): State<App>,
    _: Editor,
    Path((theme, kind)): Path<(String, String)>,
    Json(Deployed { source }): Json<Deployed>,
) -> Result<StatusCode, Problem> {
    let (theme, kind) = (Theme::new(theme)?, kind.parse()?);
    app.themes.put_sheet(&theme, kind, source);
    app.tell(events::TemplateChanged { name: TemplateCacheName::new("page")? }).await;
    Ok(StatusCode::NO_CONTENT)
}

impl App {
    /// The path of a theme's bundle. Every render stores it again, so that it outlives the page that links to it.
    pub async fn bundle(&self, kind: &str, theme: &Theme) -> Result<String, Problem> {
        let type_: AssetBundleType = kind.parse()?;
        let text = minified(&self.themes.sheet(theme.as_str(), type_));
        let hash = hash_of(&text)?;
        let path = format!("/assets/{}/{hash}", type_.as_str());
        self.site.at(keys::AssetBundle { type_, hash }).set(&text.into_bytes()).await?;
        Ok(path)
    }

    /// The bundle of any theme with this hash, made again.
    fn find_bundle(&self, type_: AssetBundleType, hash: &Hash) -> Option<Vec<u8>> {
        let themes = self.themes.names();
        let mut bundles = themes.iter().map(|theme| minified(&self.themes.sheet(theme, type_)));
        let found = bundles.find(|text| hash_of(text).as_ref().is_ok_and(|it| it == hash));
        found.map(String::into_bytes)
    }
}

fn hash_of(text: &str) -> Result<Hash, keyward::ValueError> {
    Hash::new(&sha256(text)[..DIGITS])
}

/// Without indentation and empty lines.
fn minified(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.flat_map(|line| [line, "\n"]).collect()
}
