//! Finds what is broken in this repository's documents without building them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::markdown::{anchors, links};
use crate::repository;

/// The book's pages and the documents beside it, by their paths from the root.
pub fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in ["", "docs/src", "examples"] {
        collect(Path::new(folder), !folder.is_empty(), &mut pages);
    }
    pages.sort();
    pages
}

fn collect(folder: &Path, deeply: bool, pages: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(repository().join(folder)) else { return };
    for entry in entries {
        let name = entry.expect("a folder of the repository is readable").file_name();
        let path = folder.join(&name);
        let generated = name == "target" || name == "node_modules";
        if repository().join(&path).is_dir() {
            if deeply && !generated {
                collect(&path, deeply, pages);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

/// Every link of a page that leads nowhere: to a missing file or to a heading that is not there.
/// Links to the web are not followed.
pub fn broken_links(page: &Path) -> Vec<String> {
    let text = read(page);
    let folder = page.parent().unwrap_or(Path::new(""));
    let is_broken = |target: &str| {
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = if path.is_empty() { page.to_owned() } else { normal(&folder.join(path)) };
        !repository().join(&path).exists()
            || (!anchor.is_empty() && !anchors(&read(&path)).contains(anchor))
    };
    links(&text)
        .into_iter()
        .filter(|(_, target)| !target.contains("://") && !target.starts_with("mailto:"))
        .filter(|(_, target)| is_broken(target))
        .map(|(line, target)| format!("{}:{line}: `{target}` leads nowhere", page.display()))
        .collect()
}

/// Pages of the book that its table of contents does not name: nobody would find them.
pub fn unlisted_pages() -> Vec<PathBuf> {
    let summary = Path::new("docs/src/SUMMARY.md");
    let listed: BTreeSet<_> = links(&read(summary))
        .into_iter()
        .map(|(_, target)| normal(&Path::new("docs/src").join(target)))
        .collect();
    pages()
        .into_iter()
        .filter(|page| page.starts_with("docs/src") && page != summary && !listed.contains(page))
        .collect()
}

fn read(page: &Path) -> String {
    fs::read_to_string(repository().join(page))
        .unwrap_or_else(|error| panic!("`{}` cannot be read: {error}", page.display()))
}

/// `a/../b` is `b`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}
