//! One document: its elements, what is below each, and what is next to each.

use super::{Known, Report};
use crate::document_library::{fields, keys};
use crate::front_matter;
use crate::import::stored::{Stored, StoredDocument, StoredElement, members_of_all};
use crate::import::{ContentHash, reach, title};
use crate::keyspace::{self, Below, ElementKey};
use crate::kind::Kind;
use crate::query::{QueryError, texts};
use crate::server::{Library, ServerError, SourceKeys};
use std::collections::{HashMap, HashSet};

/// How many elements are read in one round trip.
const AT_ONCE: usize = 200;
/// How often a document is looked at that changes meanwhile.
const ATTEMPTS: usize = 5;

/// Checks a document. Its keys are known from then on.
pub(super) async fn check(
    library: &Library,
    path: &str,
    document: &ElementKey,
    report: &mut Report,
    known: &mut Known,
) -> Result<(), QueryError> {
    let source_id = keyspace::source_id(path)
        .map_err(|error| ServerError::Strange { key: path.to_owned(), why: error.to_string() })?;
    let source = SourceKeys::new(&source_id);
    let lock = library.store.at(keys::SourceLock { source_id });
    let mut attempts = 0;
    loop {
        let before: Option<String> = library.ask(redis::cmd("GET").arg(&source.fence)).await?;
        let is_written = lock.exists().await.map_err(QueryError::from)?;
        let stored = Stored::read(library, &source).await?;
        let mut found = Report::default();
        Check { library, path, document, stored: &stored }.run(&mut found).await?;
        let after: Option<String> = library.ask(redis::cmd("GET").arg(&source.fence)).await?;
        attempts += 1;
        let may_be_half = !found.is_clean() && (is_written || before != after);
        if may_be_half && attempts < ATTEMPTS {
            continue;
        }
        let labels = known.labels.len();
        known.labels.push(stored.labels());
        let documents = stored.documents.into_iter().map(|it| it.name);
        let names = documents.chain(stored.elements.into_iter().map(|it| it.name));
        known.elements.extend(names.map(|name| (name, labels)));
        report.append(found);
        return Ok(());
    }
}

struct Check<'a> {
    library: &'a Library,
    path: &'a str,
    document: &'a ElementKey,
    stored: &'a Stored,
}

impl Check<'_> {
    async fn run(&self, report: &mut Report) -> Result<(), QueryError> {
        let again = format!("run `library add {}` again", self.path);
        let Some(document) = self.stored.documents.iter().find(|it| it.key == *self.document)
        else {
            report.find(
                &keyspace::text(self.document),
                format!("the document is not there: {again}"),
            );
            return Ok(());
        };
        if document.content_hash.is_none() || self.stored.documents.len() > 1 {
            report.find(&document.name, format!("its import was not finished: {again}"));
        }
        if let ElementKey::Document(key) = self.document {
            let source =
                self.library.store.at(key.clone()).get_field(fields::Document::SOURCE).await;
            if source.map_err(QueryError::from)?.as_deref() != Some(self.path) {
                let path = self.path;
                report.find(
                    &document.name,
                    format!("its `source` is not {path}, the file that it came from: run `library remove {path}`, then \
                             `library add {path}`"),
                );
            }
        }
        for key in &self.stored.missing {
            // The text of the file is as it was, so that adding it alone would change nothing.
            let path = self.path;
            let anew = format!("run `library remove {path}`, then `library add {path}`");
            report.find(&keyspace::text(key), format!("the element is not there: {anew}"));
        }
        let tree = self.tree(document, report);
        self.texts(document, report).await?;
        self.below(&tree, report).await?;
        self.links(&tree, report).await?;
        self.catalogue(document, report).await
    }

    /// The children of each element, by name, as the elements themselves tell.
    fn tree<'s>(&'s self, document: &'s StoredDocument, report: &mut Report) -> Tree<'s> {
        let mut tree = Tree { children: HashMap::new(), above: HashMap::new() };
        let kinds: HashMap<&str, (Kind, u64)> =
            std::iter::once((document.name.as_str(), (Kind::Document, 0)))
                .chain(
                    self.stored
                        .elements
                        .iter()
                        .map(|it| (it.name.as_str(), (keyspace::kind(&it.key), it.position))),
                )
                .collect();
        for (at, element) in self.stored.elements.iter().enumerate() {
            if element.position != at as u64 + 1 {
                report.find(
                    &element.name,
                    format!("its position is {}, and it is number {}", element.position, at + 1),
                );
            }
            match kinds.get(element.parent.as_str()) {
                Some((kind, position))
                    if *kind < keyspace::kind(&element.key) && *position < element.position =>
                {
                    tree.children.entry(&element.parent).or_default().push(&element.name);
                    tree.above.insert(&element.name, &element.parent);
                }
                _ => report.find(
                    &element.name,
                    format!("its parent `{}` is not above it", element.parent),
                ),
            }
        }
        tree
    }

    /// Whether texts and titles are what was written.
    async fn texts(
        &self,
        document: &StoredDocument,
        report: &mut Report,
    ) -> Result<(), QueryError> {
        let mut hash = ContentHash::new(&document.front_matter);
        let mut first_chapter = None;
        for elements in self.stored.elements.chunks(AT_ONCE) {
            let keys: Vec<ElementKey> = elements.iter().map(|it| it.key.clone()).collect();
            for (element, text) in elements.iter().zip(texts(self.library, &keys).await?) {
                hash.update(&element.content_hash);
                if !text.as_ref().is_some_and(|text| text.is_genuine(&element.key)) {
                    let what = match keyspace::kind(&element.key) {
                        Kind::Chunk => "its text is not the one that its content hash is of",
                        _ => "its title or heading is not the one that its content hash is of",
                    };
                    report.find(&element.name, what);
                }
                if keyspace::kind(&element.key) == Kind::Chapter {
                    first_chapter = first_chapter.or(text.map(|text| text.title));
                }
            }
        }
        if document.content_hash.as_ref().is_some_and(|it| *it != hash.finish()) {
            report.find(
                &document.name,
                "its front matter and elements are not those that its content hash is of",
            );
        }
        // Front matter that cannot be read is not the one that was written.
        let own = front_matter::parse(&document.front_matter).ok().and_then(|it| it.0.title);
        if document.title != title(self.path, own.as_deref(), first_chapter.as_deref()) {
            report.find(&document.name, "its title is not that of its file");
        }
        Ok(())
    }

    async fn below(&self, tree: &Tree<'_>, report: &mut Report) -> Result<(), QueryError> {
        let elements = self.stored.elements.iter().map(|it| (&it.key, it.name.as_str()));
        let name = keyspace::text(self.document);
        let all = std::iter::once((self.document, name.as_str())).chain(elements);
        let mut wanted: HashMap<&str, Vec<(&str, u64)>> = HashMap::new();
        for element in &self.stored.elements {
            let mut above = tree.above.get(element.name.as_str());
            while let Some(parent) = above {
                wanted.entry(parent).or_default().push((&element.name, element.position));
                above = tree.above.get(parent);
            }
        }
        let all: Vec<(&str, Below)> =
            all.filter_map(|(key, name)| Some((name, keyspace::below(key)?))).collect();
        let sets: Vec<String> = all
            .iter()
            .flat_map(|(_, it)| [it.children.clone(), it.all_descendants.clone()])
            .collect();
        let there = members_of_all(self.library, &sets).await?;
        let texts =
            |members: &[ElementKey]| members.iter().map(keyspace::text).collect::<HashSet<_>>();
        let of = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<HashSet<_>>();
        for ((name, below), there) in all.iter().zip(there.chunks(2)) {
            let children = tree.children.get(name).map_or(&[][..], Vec::as_slice);
            if texts(&there[0]) != of(children) {
                report.find(&below.children, "these are not the elements whose parent it is");
            }
            let wanted = wanted.get(name).map_or(&[][..], Vec::as_slice);
            let descendants: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
            if texts(&there[1]) != of(&descendants) {
                report
                    .find(&below.all_descendants, "these are not its children and all below them");
            }
        }
        self.sequences(&all, &wanted, report).await
    }

    /// Whether each sequence is the reading order. Most are short, and many of those are read in one round trip.
    async fn sequences(
        &self,
        all: &[(&str, Below)],
        wanted: &HashMap<&str, Vec<(&str, u64)>>,
        report: &mut Report,
    ) -> Result<(), QueryError> {
        let page = |key: &str, from: usize| {
            let mut cmd = redis::cmd("ZRANGE");
            cmd.arg(key).arg(from).arg(from + AT_ONCE - 1).arg("WITHSCORES");
            cmd
        };
        for some in all.chunks(AT_ONCE) {
            let mut first = redis::pipe();
            for (_, below) in some {
                first.add_command(page(&below.sequence, 0));
            }
            let first: Vec<Vec<(String, u64)>> = self.library.ask_all(&first).await?;
            for ((name, below), mut there) in some.iter().zip(first) {
                let mut wanted = wanted.get(name).map_or(&[][..], Vec::as_slice);
                let mut from = 0;
                loop {
                    let (now, later) = wanted.split_at(wanted.len().min(AT_ONCE));
                    let same = |(a, b): (&(String, u64), &(&str, u64))| (a.0.as_str(), a.1) == *b;
                    if there.len() != now.len() || !there.iter().zip(now).all(same) {
                        let what = "it is not the order in which the document is read";
                        report.find(&below.sequence, what);
                        break;
                    }
                    if there.len() < AT_ONCE {
                        break;
                    }
                    from += AT_ONCE;
                    wanted = later;
                    there = self.library.ask(&page(&below.sequence, from)).await?;
                }
            }
        }
        Ok(())
    }

    async fn links(&self, tree: &Tree<'_>, report: &mut Report) -> Result<(), QueryError> {
        let elements = &self.stored.elements;
        let name = |at: Option<usize>| at.and_then(|at| elements.get(at)).map(|it| it.name.clone());
        let places: HashMap<&str, usize> = tree
            .children
            .values()
            .flat_map(|all| all.iter().enumerate().map(|(at, name)| (*name, at)))
            .collect();
        let range: Vec<usize> = (0..elements.len()).collect();
        for some in range.chunks(AT_ONCE) {
            let mut all = redis::pipe();
            for at in some {
                let key = &elements[*at].key;
                all.get(keyspace::next(key)).get(keyspace::previous(key));
                // At most as many as the schema allows.
                all.smembers(keyspace::siblings(key));
            }
            let rows: Vec<redis::Value> = self.library.ask_all(&all).await?;
            for (at, row) in some.iter().zip(rows.chunks(3)) {
                let row = redis::Value::Array(row.to_vec());
                let (next, previous, siblings): (Option<String>, Option<String>, HashSet<String>) =
                    redis::from_redis_value(row)
                        .map_err(|error| ServerError::Client(error.into()))?;
                let StoredElement { key, name: own, parent, .. } = &elements[*at];
                if next != name(Some(at + 1)) {
                    report.find(&keyspace::next(key), "it is not the next element of the document");
                }
                if previous != name(at.checked_sub(1)) {
                    report.find(
                        &keyspace::previous(key),
                        "it is not the previous element of the document",
                    );
                }
                let Some(place) = places.get(own.as_str()) else { continue };
                let children = &tree.children[parent.as_str()];
                let near = &children
                    [place.saturating_sub(reach())..children.len().min(place + reach() + 1)];
                let near: HashSet<String> =
                    near.iter().filter(|it| *it != own).map(|it| (*it).to_owned()).collect();
                if siblings != near {
                    report.find(&keyspace::siblings(key), "these are not the children around it");
                }
            }
        }
        Ok(())
    }

    /// Whether chunks are in the sets of their tags and levels, and the document in those of its authors and categories.
    async fn catalogue(
        &self,
        document: &StoredDocument,
        report: &mut Report,
    ) -> Result<(), QueryError> {
        let chunks: Vec<&StoredElement> = self
            .stored
            .elements
            .iter()
            .filter(|it| keyspace::kind(&it.key) == Kind::Chunk)
            .collect();
        let mut sets: Vec<(String, Option<Kind>)> =
            Kind::ALL.iter().map(|kind| (keyspace::level(*kind).key(), Some(*kind))).collect();
        for tag in &document.labels.tags {
            sets.extend(keyspace::tag(tag).ok().map(|key| (key.key(), None)));
        }
        for (set, level) in &sets {
            for chunks in chunks.chunks(AT_ONCE) {
                let mut cmd = redis::cmd("SMISMEMBER");
                cmd.arg(set).arg(chunks.iter().map(|it| it.name.as_str()).collect::<Vec<_>>());
                let has: Vec<bool> = self.library.ask(&cmd).await?;
                for (chunk, has) in chunks.iter().zip(has) {
                    let parent = keyspace::parse(&chunk.parent).map(|key| keyspace::kind(&key));
                    let wanted =
                        level.is_none_or(|kind| kind == Kind::Chunk || Some(kind) == parent);
                    if has != wanted {
                        let word =
                            if wanted { "is not in it" } else { "is in it, and should not be" };
                        report.find(set, format!("`{}` {word}", chunk.name));
                    }
                }
            }
        }
        let labels = &document.labels;
        let categories = labels
            .categories
            .iter()
            .filter_map(|it| keyspace::category(it).ok())
            .map(|it| it.key());
        let authors =
            labels.authors.iter().filter_map(|it| keyspace::author(it).ok()).map(|it| it.key());
        for set in categories.chain(authors) {
            let has: bool =
                self.library.ask(redis::cmd("SISMEMBER").arg(&set).arg(&document.name)).await?;
            if !has {
                report.find(&set, format!("`{}` is not in it", document.name));
            }
        }
        Ok(())
    }
}

/// What elements say about themselves.
struct Tree<'s> {
    /// In reading order
    children: HashMap<&'s str, Vec<&'s str>>,
    /// The parent of each
    above: HashMap<&'s str, &'s str>,
}
