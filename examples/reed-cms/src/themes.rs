//! Templates, styles and scripts by theme: what a deployment brings. In memory, and at first what is in `themes/`.

use crate::reed_cms::values::{AssetBundleType, TemplateCacheName, Theme};
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

macro_rules! files {
    ($($theme:literal $file:literal),* $(,)?) => {
        &[$(($theme, $file, include_str!(concat!("../themes/", $theme, "/", $file)))),*]
    };
}

/// What there is at first: theme, file, text.
const FILES: &[(&str, &str, &str)] = files![
    "corporate" "page.html",
    "corporate" "hero-banner.html",
    "corporate" "link.html",
    "corporate" "text.html",
    "corporate" "site.css",
    "corporate" "site.js",
    "corporate.berlin" "hero-banner.html",
    "corporate.berlin" "site.css",
];

/// All files, by theme and name.
#[derive(Debug)]
pub struct Themes(RwLock<BTreeMap<(String, String), String>>);

impl Default for Themes {
    fn default() -> Self {
        let file = |&(theme, file, text): &(&str, &str, &str)| {
            ((theme.to_owned(), file.to_owned()), text.to_owned())
        };
        Themes(RwLock::new(FILES.iter().map(file).collect()))
    }
}

impl Themes {
    /// The source of a template. A variant such as `corporate.berlin` has those of `corporate` where it has none.
    pub fn template(&self, theme: &Theme, name: &TemplateCacheName) -> Option<String> {
        let variants = variants(theme.as_str());
        variants.rev().find_map(|theme| self.read(theme, &format!("{name}.html")))
    }

    /// Whether any theme has a template.
    pub fn has_template(&self, name: &str) -> bool {
        let files = self.0.read().unwrap_or_else(PoisonError::into_inner);
        files.keys().any(|(_, file)| file.strip_suffix(".html") == Some(name))
    }

    pub fn put_template(&self, theme: &Theme, name: &TemplateCacheName, source: String) {
        self.put(theme, format!("{name}.html"), source);
    }

    /// The styles or scripts of a theme: those of `corporate`, and then those of `corporate.berlin`.
    pub fn sheet(&self, theme: &str, kind: AssetBundleType) -> String {
        let file = format!("site.{}", kind.as_str());
        variants(theme).filter_map(|theme| self.read(theme, &file)).collect()
    }

    pub fn put_sheet(&self, theme: &Theme, kind: AssetBundleType, text: String) {
        self.put(theme, format!("site.{}", kind.as_str()), text);
    }

    /// All themes that have a file.
    pub fn names(&self) -> Vec<String> {
        let files = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<String> = files.keys().map(|(theme, _)| theme.clone()).collect();
        names.dedup();
        names
    }

    fn read(&self, theme: &str, file: &str) -> Option<String> {
        let files = self.0.read().unwrap_or_else(PoisonError::into_inner);
        files.get(&(theme.to_owned(), file.to_owned())).cloned()
    }

    fn put(&self, theme: &Theme, file: String, text: String) {
        let mut files = self.0.write().unwrap_or_else(PoisonError::into_inner);
        files.insert((theme.to_string(), file), text);
    }
}

/// `corporate`, `corporate.berlin` for `corporate.berlin`.
fn variants(theme: &str) -> impl DoubleEndedIterator<Item = &str> {
    let ends: Vec<usize> =
        theme.match_indices('.').map(|(at, _)| at).chain([theme.len()]).collect();
    ends.into_iter().map(|end| &theme[..end])
}
