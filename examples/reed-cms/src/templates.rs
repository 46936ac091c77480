//! `template:cache:{name}:{theme}`: templates, compiled once.
//!
//! A template is HTML with `{{title}}` and other fields, `{{children}}`, `{{places nav}}` for what is at `nav.1` to
//! `nav.9`, and `{{bundle css}}` for the path of a bundle.

use crate::app::App;
use crate::problem::Problem;
use crate::reed_cms::values::{AssetBundleType, TemplateCacheName, Theme};
use crate::reed_cms::{events, keys};
use crate::sessions::Editor;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    Text(String),
    Field(String),
    Children,
    Places(String),
    /// `css` or `js`
    Bundle(String),
}

/// A file of a theme.
#[derive(Debug, Deserialize)]
pub struct Deployed {
    pub source: String,
}

/// Another source for a template. What was made of the old one is removed, in all themes.
pub async fn deploy(
    State(app): State<App>,
    _: Editor,
    Path((theme, name)): Path<(String, String)>,
    Json(Deployed { source }): Json<Deployed>,
) -> Result<StatusCode, Problem> {
    let (theme, name) = (Theme::new(theme)?, TemplateCacheName::new(name)?);
    compile(&source)?;
    app.themes.put_template(&theme, &name, source);
    app.tell(events::TemplateChanged { name }).await;
    Ok(StatusCode::NO_CONTENT)
}

impl App {
    /// A template of a theme, compiled; `None` if the theme has none of this name.
    pub async fn template(&self, name: &str, theme: &Theme) -> Result<Option<Vec<Piece>>, Problem> {
        let name = TemplateCacheName::new(name)?;
        let key = keys::TemplateCache { name: name.clone(), theme: theme.clone() };
        let compiled = self.site.at(key);
        let compiled = compiled
            .find_or_load(async || {
                let Some(source) = self.themes.template(theme, &name) else { return Ok(None) };
                Ok::<_, Problem>(Some(bytes(&compile(&source)?)?))
            })
            .await?;
        let pieces = compiled.map(|bytes| serde_json::from_slice(&bytes));
        pieces.transpose().map_err(|error| Problem::Senseless(format!("`{name}`: {error}")))
    }
}

fn bytes(pieces: &[Piece]) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(pieces).map_err(|error| Problem::Senseless(error.to_string()))
}

fn compile(source: &str) -> Result<Vec<Piece>, Problem> {
    let mut pieces = Vec::new();
    let mut rest = source;
    while let Some((text, more)) = rest.split_once("{{") {
        let Some((inside, after)) = more.split_once("}}") else {
            return Err(Problem::Senseless(format!("`{{{{` is not closed: {more}")));
        };
        pieces.push(Piece::Text(text.to_owned()));
        pieces.push(piece(inside.trim())?);
        rest = after;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    pieces.retain(|piece| *piece != Piece::Text(String::new()));
    Ok(pieces)
}

fn piece(inside: &str) -> Result<Piece, Problem> {
    let words: Vec<&str> = inside.split_whitespace().collect();
    match words[..] {
        ["children"] => Ok(Piece::Children),
        ["places", below] => Ok(Piece::Places(below.to_owned())),
        ["bundle", kind] => Ok(Piece::Bundle(kind.parse::<AssetBundleType>()?.as_str().to_owned())),
        [field] => Ok(Piece::Field(field.to_owned())),
        _ => Err(Problem::Senseless(format!("`{{{{{inside}}}}}` is not part of a template"))),
    }
}

/// Text as HTML shows it.
pub fn escape(text: &str, html: &mut String) {
    for char in text.chars() {
        match char {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
}
