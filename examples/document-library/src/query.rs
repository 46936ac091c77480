//! Reads what is stored: lists, elements with what is around them, whole texts.

use crate::document_library::fields;
use crate::document_library::keys;
use crate::import::stored::members;
use crate::import::{ContentHash, element_hash};
use crate::keyspace::{self, ElementKey};
use crate::kind::Kind;
use crate::server::{Library, ServerError};
use thiserror::Error;

/// How many elements are read in one round trip.
const AT_ONCE: usize = 200;

/// Why something was not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// There is no such element
    #[error("`{0}` is not in the library: `library list` shows all documents")]
    Unknown(String),
    /// It is a part of a document, where a document was asked for
    #[error(
        "`{part}` is a {kind} of `{document}`: `library read {document}` prints the whole, `library show {part}` this {kind}"
    )]
    Part {
        /// The key
        part: String,
        /// What it is
        kind: Kind,
        /// The document that it is a part of
        document: String,
    },
    /// The import of the document is not finished
    #[error("the import of `{document}` was not finished: run `library add {source_path}` again")]
    Unfinished {
        /// The document
        document: String,
        /// The path of its file
        source_path: String,
    },
    /// Somebody changed it meanwhile
    #[error("`{0}` was changed while it was read: read it again")]
    Changed(String),
    /// Something of it is not as it was written
    #[error(
        "`{document}` is damaged: {what}. `library remove {source_path}`, then `library add {source_path}` repairs it"
    )]
    Damaged {
        /// The document
        document: String,
        /// What is damaged
        what: String,
        /// The path of its file
        source_path: String,
    },
    /// A name that no category, author or tag has
    #[error("`{0}` gives no name: write two letters or more")]
    Nameless(String),
    /// The server
    #[error(transparent)]
    Server(#[from] ServerError),
}

impl From<keyward::Error> for QueryError {
    fn from(error: keyward::Error) -> Self {
        QueryError::Server(error.into())
    }
}

/// `title`, `source` and `content_hash` of a document.
type DocumentRow = (Option<String>, Option<String>, Option<String>);
/// `title` or `text`, `position` and `parent` of an element.
type ElementRow = (Option<String>, Option<u64>, Option<String>);

/// A document in a list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its key
    pub key: String,
    /// Its title
    pub title: String,
    /// The path of its file
    pub source: String,
    /// How many elements are below it
    pub elements: u64,
    /// Whether its last import was finished
    pub is_complete: bool,
}

/// The documents after so many others, in the order of their paths; none at the end.
///
/// # Errors
/// If the server cannot be asked.
pub async fn documents(library: &Library, from: usize) -> Result<Vec<Listed>, QueryError> {
    let keys = placed(library, from).await?.into_iter().map(|(_, key)| key).collect::<Vec<_>>();
    listed(library, &keys).await
}

/// The paths of documents after so many others, with their documents.
pub(crate) async fn placed(
    library: &Library,
    from: usize,
) -> Result<Vec<(String, ElementKey)>, QueryError> {
    let mut cmd = redis::cmd("ZRANGE");
    cmd.arg(keys::Paths {}.key()).arg(from).arg(from + AT_ONCE - 1);
    let paths: Vec<String> = library.ask(&cmd).await?;
    let mut all = redis::pipe();
    for path in &paths {
        all.get(source_document(path)?);
    }
    let documents: Vec<Option<String>> =
        if paths.is_empty() { Vec::new() } else { library.ask_all(&all).await? };
    let named = paths.into_iter().zip(documents).map(|(path, document)| {
        let key = document.as_deref().and_then(keyspace::parse);
        match key {
            Some(key) => Ok((path, key)),
            None => Err(QueryError::Server(ServerError::Strange {
                key: source_document(&path)?,
                why: format!("it should name the document of {path}"),
            })),
        }
    });
    named.collect()
}

/// The key of the document that was made of a file.
///
/// # Errors
/// If the server cannot be asked.
pub async fn document_of(library: &Library, path: &str) -> Result<Option<String>, QueryError> {
    Ok(library.ask(redis::cmd("GET").arg(source_document(path)?)).await?)
}

pub(crate) fn source_document(path: &str) -> Result<String, QueryError> {
    let strange = |error: keyward::ValueError| ServerError::Strange {
        key: path.to_owned(),
        why: error.to_string(),
    };
    let source_id = keyspace::source_id(path).map_err(strange)?;
    Ok(keys::SourceDocument { source_id }.key())
}

/// What a list shows of documents.
pub(crate) async fn listed(
    library: &Library,
    documents: &[ElementKey],
) -> Result<Vec<Listed>, QueryError> {
    let mut found = Vec::with_capacity(documents.len());
    for documents in documents.chunks(AT_ONCE) {
        let mut all = redis::pipe();
        for key in documents {
            all.cmd("HMGET").arg(keyspace::text(key)).arg(&["title", "source", "content_hash"]);
            all.cmd("ZCARD").arg(keyspace::below(key).map(|it| it.sequence));
        }
        let rows: Vec<redis::Value> = library.ask_all(&all).await?;
        for (key, row) in documents.iter().zip(rows.chunks(2)) {
            let row = redis::Value::Array(row.to_vec());
            let ((title, source, hash), elements): (DocumentRow, u64) =
                redis::from_redis_value(row).map_err(|error| ServerError::Client(error.into()))?;
            found.push(Listed {
                key: keyspace::text(key),
                title: title.unwrap_or_default(),
                source: source.unwrap_or_default(),
                elements,
                is_complete: hash.is_some(),
            });
        }
    }
    Ok(found)
}

/// An element with what is around it.
#[derive(Debug)]
pub struct Card {
    /// The element
    pub element: Named,
    /// Its text, of a chunk
    pub text: Option<String>,
    /// From the document down to its parent
    pub above: Vec<Named>,
    /// The one before it
    pub previous: Option<Named>,
    /// The one after it
    pub next: Option<Named>,
    /// How many siblings are listed: the nearest ones
    pub siblings: usize,
    /// How many there are
    pub all_siblings: usize,
    /// Its children, in reading order
    pub children: Vec<Named>,
    /// How many elements are below it
    pub descendants: u64,
    /// The fields of a document
    pub document: Option<fields::Document>,
}

/// An element as a person recognises it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its key
    pub key: ElementKey,
    /// Its title, or the beginning of its text
    pub title: String,
    /// Its place in the document; 0 of a document
    pub position: u64,
    /// Its parent, except of a document
    pub parent: Option<ElementKey>,
}

/// An element with what is around it.
///
/// # Errors
/// If there is none with this key, or the server cannot be asked.
pub async fn show(library: &Library, key: &str) -> Result<Card, QueryError> {
    let unknown = || QueryError::Unknown(key.to_owned());
    let key = keyspace::parse(key).ok_or_else(unknown)?;
    let element = named_one(library, &key).await?.ok_or_else(unknown)?;
    let link = |name: String| async move {
        let target: Option<String> = library.ask(redis::cmd("GET").arg(name)).await?;
        match target.as_deref().and_then(keyspace::parse) {
            Some(target) => named_one(library, &target).await,
            None => Ok(None),
        }
    };
    let (previous, next) =
        (link(keyspace::previous(&key)).await?, link(keyspace::next(&key)).await?);
    let siblings = library.ask(redis::cmd("SCARD").arg(keyspace::siblings(&key))).await?;
    let all_siblings = all_siblings(library, &element).await?;
    let (mut children, mut descendants) = (Vec::new(), 0);
    if let Some(below) = keyspace::below(&key) {
        children = named(library, &members(library, &below.children).await?).await?;
        children.sort_by_key(|child| child.position);
        descendants = library.ask(redis::cmd("SCARD").arg(below.all_descendants)).await?;
    }
    let text = match &key {
        ElementKey::Chunk(chunk) => {
            library.store.at(chunk.clone()).get_field(fields::Chunk::TEXT).await?
        }
        _ => None,
    };
    let document = match &key {
        ElementKey::Document(document) => library.store.at(document.clone()).get().await?,
        _ => None,
    };
    let above = above(library, &element).await?;
    Ok(Card {
        element,
        text,
        above,
        previous,
        next,
        siblings,
        all_siblings,
        children,
        descendants,
        document,
    })
}

/// How many other children its parent has, or how many other documents there are.
async fn all_siblings(library: &Library, element: &Named) -> Result<usize, QueryError> {
    let with_itself: usize = match element.parent.as_ref().and_then(keyspace::below) {
        Some(parent) => library.ask(redis::cmd("SCARD").arg(parent.children)).await?,
        None => library.ask(redis::cmd("ZCARD").arg(keys::Paths {}.key())).await?,
    };
    Ok(with_itself.saturating_sub(1))
}

/// What is above an element, from the document down.
///
/// # Errors
/// If the server cannot be asked.
pub async fn above(library: &Library, element: &Named) -> Result<Vec<Named>, QueryError> {
    let mut above = Vec::new();
    let mut parent = element.parent.clone();
    // A document has four levels: whatever is stored, this ends.
    while let Some(key) = parent.take().filter(|_| above.len() < Kind::ALL.len()) {
        let Some(found) = named_one(library, &key).await? else { break };
        parent.clone_from(&found.parent);
        above.push(found);
    }
    above.reverse();
    Ok(above)
}

async fn named_one(library: &Library, key: &ElementKey) -> Result<Option<Named>, QueryError> {
    Ok(named(library, std::slice::from_ref(key)).await?.pop())
}

/// Elements as a person recognises them; those that are not there are left out.
pub(crate) async fn named(
    library: &Library,
    keys: &[ElementKey],
) -> Result<Vec<Named>, QueryError> {
    let mut found = Vec::with_capacity(keys.len());
    for keys in keys.chunks(AT_ONCE) {
        let mut all = redis::pipe();
        for key in keys {
            let title = if keyspace::kind(key) == Kind::Chunk { "text" } else { "title" };
            all.cmd("HMGET").arg(keyspace::text(key)).arg(&[title, "position", "parent"]);
        }
        let rows: Vec<ElementRow> = library.ask_all(&all).await?;
        for (key, (title, position, parent)) in keys.iter().zip(rows) {
            let Some(title) = title else { continue };
            let (key, position) = (key.clone(), position.unwrap_or(0));
            let parent = parent.as_deref().and_then(keyspace::parse);
            found.push(Named { key, title: first_words(&title), position, parent });
        }
    }
    Ok(found)
}

/// One line of a text.
fn first_words(text: &str) -> String {
    const SHOWN: usize = 72;
    let mut line = text.split_whitespace().take(SHOWN).collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(SHOWN) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Writes a document's text, as it was in its file, and checks that it is.
///
/// # Errors
/// If there is no such document, its import was not finished, it changes meanwhile or is damaged; or if it cannot be
/// written.
pub async fn read<E: From<QueryError>>(
    library: &Library,
    key: &str,
    mut write: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let unknown = || QueryError::Unknown(key.to_owned());
    let document = keyspace::parse(key).ok_or_else(unknown)?;
    let ElementKey::Document(typed) = &document else {
        return Err(no_document(library, &document).await?.into());
    };
    let fields = library.store.at(typed.clone()).get().await.map_err(QueryError::from)?;
    let fields::Document { front_matter, content_hash: hash, source, .. } =
        fields.ok_or_else(unknown)?;
    let Some(hash) = hash else {
        let document = key.to_owned();
        return Err(QueryError::Unfinished { document, source_path: source }.into());
    };
    let front_matter = front_matter.unwrap_or_default();
    let mut digest = ContentHash::new(&front_matter);
    let mut damaged = None;
    write(&front_matter)?;
    let mut from = 0;
    loop {
        let some = sequence(library, &document, from).await?;
        if some.is_empty() {
            break;
        }
        from += some.len();
        for (key, text) in some.iter().zip(texts(library, &some).await?) {
            let name = || keyspace::text(key);
            let what = match &text {
                None => Some(format!("`{}` is not there", name())),
                Some(text) if text.is_genuine(key) => None,
                Some(_) => Some(format!("`{}` is not what was written", name())),
            };
            damaged = damaged.or(what);
            if let Some(text) = text {
                digest.update(&text.own_hash(key));
                write(&text.source)?;
            }
        }
    }
    if digest.finish() == hash {
        return Ok(());
    }
    Err(difference(library, typed, &hash, &source, damaged).await?.into())
}

/// Why a text is not what its document's hash is of: somebody is changing it, or it is damaged.
async fn difference(
    library: &Library,
    document: &keys::Document,
    hash: &str,
    source: &str,
    damaged: Option<String>,
) -> Result<QueryError, QueryError> {
    let name = document.key();
    let now = library.store.at(document.clone()).get_field(fields::Document::CONTENT_HASH).await?;
    let source_id = keyspace::source_id(source)
        .map_err(|error| ServerError::Strange { key: source.to_owned(), why: error.to_string() })?;
    let is_written = library.store.at(keys::SourceLock { source_id }).exists().await?;
    if now.as_deref() != Some(hash) || is_written {
        return Ok(QueryError::Changed(name));
    }
    let what = damaged.unwrap_or_else(|| {
        format!("`{name}:sequence` or its front matter is not what was written")
    });
    Ok(QueryError::Damaged { document: name, what, source_path: source.to_owned() })
}

/// Why a key names no document.
async fn no_document(library: &Library, key: &ElementKey) -> Result<QueryError, QueryError> {
    let part = keyspace::text(key);
    let Some(element) = named_one(library, key).await? else {
        return Ok(QueryError::Unknown(part));
    };
    Ok(match above(library, &element).await?.first() {
        Some(it) if keyspace::kind(&it.key) == Kind::Document => {
            QueryError::Part { part, kind: keyspace::kind(key), document: keyspace::text(&it.key) }
        }
        _ => QueryError::Unknown(part),
    })
}

/// What is below an element, in reading order, after so many others.
pub(crate) async fn sequence(
    library: &Library,
    key: &ElementKey,
    from: usize,
) -> Result<Vec<ElementKey>, QueryError> {
    let Some(below) = keyspace::below(key) else { return Ok(Vec::new()) };
    let mut cmd = redis::cmd("ZRANGE");
    cmd.arg(&below.sequence).arg(from).arg(from + AT_ONCE - 1);
    let names: Vec<String> = library.ask(&cmd).await?;
    let parse = |name: String| {
        keyspace::parse(&name).ok_or_else(|| {
            let why = format!("`{name}` is not the key of an element");
            QueryError::Server(ServerError::Strange { key: below.sequence.clone(), why })
        })
    };
    names.into_iter().map(parse).collect()
}

/// What an element says of its text.
pub(crate) struct Text {
    /// The title of a heading
    pub(crate) title: String,
    /// As it stands in the file
    pub(crate) source: String,
    content_hash: Option<String>,
}

impl Text {
    /// The hash of what is there.
    fn own_hash(&self, key: &ElementKey) -> String {
        element_hash(keyspace::kind(key), &self.title, &self.source)
    }

    /// Whether its content hash is of what is there.
    pub(crate) fn is_genuine(&self, key: &ElementKey) -> bool {
        self.content_hash.as_ref() == Some(&self.own_hash(key))
    }
}

/// The texts of elements; `None` of those that have none.
pub(crate) async fn texts(
    library: &Library,
    keys: &[ElementKey],
) -> Result<Vec<Option<Text>>, QueryError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut all = redis::pipe();
    for key in keys {
        let source = if keyspace::kind(key) == Kind::Chunk { "text" } else { "heading" };
        all.cmd("HMGET").arg(keyspace::text(key)).arg(&[source, "title", "content_hash"]);
    }
    let rows: Vec<[Option<String>; 3]> = library.ask_all(&all).await?;
    let text = |[source, title, content_hash]: [Option<String>; 3]| {
        Some(Text { title: title.unwrap_or_default(), source: source?, content_hash })
    };
    Ok(rows.into_iter().map(text).collect())
}
