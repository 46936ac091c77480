//! Writes documents: adds, updates and removes them.
//!
//! One process at a time changes a document, under its lock. Everything is written by scripts that check the lock's
//! fence, in batches that a server runs within milliseconds, in an order in which no reader finds a link to something
//! that is not there:
//!
//! 1. new elements, each under the first free number of its name, noted in the list of what belongs to the file;
//! 2. how elements are linked to each other, and the sets that chunks are in;
//! 3. what is below each element, from the bottom up; then the document, and its place among all documents;
//! 4. what is not there any more disappears in reverse: from what is above it, then its links, then itself.
//!
//! The document has no `content_hash` from the first to the last step. Whoever adds it again then looks at all that is
//! stored, and completes it: no crash leaves anything that the next run does not repair.

mod args;
mod batch;
mod desired;
mod elements;
mod matching;
mod relations;
mod removal;
pub(crate) mod stored;

pub(crate) use desired::{ContentHash, element_hash, title};
pub use desired::{Desired, TextError};
pub use stored::Labels;

use crate::document_library::keys;
use crate::document_library::values::SourceId;
use crate::keyspace::{self, ElementKey};
use crate::server::{Call, Library, ServerError, SourceKeys, fenced, fenced_when_full};
use batch::Writer;
use elements::Slots;
use keyward::{Guard, Key as _, Ttl};
use matching::Choice;
use redis::{Script, from_redis_value};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;
use stored::Stored;
use thiserror::Error;

/// How long a document's lock is waited for. Whoever holds it for longer is at work: a lock of a process that died
/// expires after ten seconds.
const PATIENCE: Duration = Duration::from_secs(120);

static PLACE: LazyLock<Script> = LazyLock::new(|| fenced(include_str!("place.lua")));
static PLACE_WHEN_FULL: LazyLock<Script> =
    LazyLock::new(|| fenced_when_full(include_str!("place.lua")));
static ANNOUNCE: LazyLock<Script> = LazyLock::new(|| fenced_when_full("return 1"));
static TAKE_OVER: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("take_over.lua")));

/// Why a document was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The server
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Somebody else writes it
    #[error("another process has been writing this document for {} seconds: wait for it, or stop it", PATIENCE.as_secs())]
    Busy,
}

impl From<keyward::Error> for ImportError {
    fn from(error: keyward::Error) -> Self {
        ImportError::Server(error.into())
    }
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The document's key
    pub document: String,
    /// How many elements it has, without itself
    pub elements: usize,
    /// What was done
    pub change: Change,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing: it was there
    Unchanged,
    /// It is new
    Added,
    /// Some of it is new
    Updated {
        /// So many elements are new
        added: usize,
        /// So many are gone
        removed: usize,
    },
}

/// Adds a document, or makes the one that is stored equal to it.
///
/// # Errors
/// If the server cannot be asked or is full, or somebody else writes the document. Adding it again completes it.
pub async fn add(library: &Library, desired: &Desired<'_>) -> Result<Outcome, ImportError> {
    let import = Import::begin(library, desired.path, false).await?;
    let done = import.alone(import.write(desired)).await;
    import.end().await;
    done
}

/// What [`add`] would do, as far as it is known without doing it.
///
/// # Errors
/// If the server cannot be asked.
pub async fn preview(library: &Library, desired: &Desired<'_>) -> Result<Outcome, ServerError> {
    let source = SourceKeys::new(&source_id(desired.path)?);
    let stored = Stored::read(library, &source).await?;
    let elements = desired.tree.elements.len();
    let is_new = |choice: &&Choice| matches!(choice, Choice::Named(_));
    let (document, choices) = desired.choose(&stored);
    let document = match document {
        Choice::Old(at) => stored.documents[at].name.clone(),
        Choice::Named(identifier) => format!("doc:{identifier}"),
    };
    let change = if stored.is(&desired.content_hash).is_some() {
        Change::Unchanged
    } else if stored.documents.is_empty() && stored.elements.is_empty() {
        Change::Added
    } else {
        let added = choices.iter().filter(is_new).count();
        Change::Updated { added, removed: stored.elements.len() + added - elements }
    };
    Ok(Outcome { document, elements, change })
}

fn source_id(path: &str) -> Result<SourceId, ServerError> {
    let strange = |error: keyward::ValueError| error.to_string();
    keyspace::source_id(path)
        .map_err(|error| ServerError::Strange { key: path.to_owned(), why: strange(error) })
}

/// Removes the document of a path; how many elements it had, or `None` if there was none. Works on a full server.
///
/// # Errors
/// If the server cannot be asked, or somebody else writes the document. Removing it again completes it.
pub async fn remove(library: &Library, path: &str) -> Result<Option<usize>, ImportError> {
    let import = Import::begin(library, path, true).await?;
    let done = import.alone(import.remove()).await;
    import.end().await;
    done
}

/// A document that this process alone changes.
struct Import<'l> {
    path: &'l str,
    source: SourceKeys,
    writer: Writer<'l>,
    /// None on a full server, which gives no locks: then only the fence keeps others away
    guard: Option<Guard>,
}

impl<'l> Import<'l> {
    /// Waits for the lock. `when_full` is for what frees memory.
    async fn begin(
        library: &'l Library,
        path: &'l str,
        when_full: bool,
    ) -> Result<Import<'l>, ImportError> {
        let source_id = source_id(path)?;
        let source = SourceKeys::new(&source_id);
        let lock = library.store.at(keys::SourceLock { source_id });
        let guard = match lock.acquire_within(PATIENCE).await.map_err(ServerError::from) {
            Ok(guard) => Some(guard.ok_or(ImportError::Busy)?),
            Err(ServerError::OutOfMemory) if when_full => None,
            Err(error) => return Err(error.into()),
        };
        let fence = match &guard {
            Some(guard) => guard.fence(),
            None => take_over(library, &source.fence).await?,
        };
        let writer = Writer {
            library,
            fence_key: source.fence.clone(),
            fence,
            remembered_ms: remembered_ms(),
            when_full,
            under_way: Mutex::new(None),
        };
        Ok(Import { path, source, writer, guard })
    }

    /// Does the work as long as the lock is held.
    async fn alone<R>(
        &self,
        work: impl Future<Output = Result<R, ServerError>>,
    ) -> Result<R, ImportError> {
        let lost = async {
            match &self.guard {
                Some(guard) => guard.lost().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            done = work => Ok(done?),
            () = lost => Err(ServerError::Fenced.into()),
        }
    }

    /// Releases the lock, after what was sent.
    async fn end(self) {
        // What was done is done, and what failed has failed. The lock is free after its TTL.
        _ = self.writer.settle().await;
        if let Some(guard) = self.guard {
            _ = guard.release().await;
        }
    }

    /// What is stored. From now on nobody else changes it: whoever had the lock before is refused.
    async fn stored(&self) -> Result<Stored, ServerError> {
        self.writer.run(&self.writer.call(&ANNOUNCE, &[])).await?;
        Stored::read(self.writer.library, &self.source).await
    }

    async fn write(&self, desired: &Desired<'_>) -> Result<Outcome, ServerError> {
        let stored = self.stored().await?;
        let elements = desired.tree.elements.len();
        if let Some(document) = stored.is(&desired.content_hash) {
            let document = document.name.clone();
            return Ok(Outcome { document, elements, change: Change::Unchanged });
        }
        let writer = &self.writer;
        let slots = Slots::fill(writer, &self.source, desired, &stored).await?;
        let mut batch = writer.batch(&slots.all);
        relations::link(&mut batch, desired, &stored, &slots, writer.library.limits.members)
            .await?;
        relations::gather(writer, &mut batch, &slots).await?;
        relations::catalogue(&mut batch, desired, &slots)?;
        batch.send().await?;
        self.place(Some(slots.document())).await?;
        let gone = slots.gone(&stored);
        let (documents, labels) = (&stored.documents, stored.labels());
        removal::remove(writer, &mut batch, &self.source, &gone, documents, &labels).await?;
        // Only after all is removed: until then the import is not finished.
        relations::finish(&mut batch, desired, &stored, &slots)?;
        batch.send().await?;
        writer.settle().await?;
        let change = if stored.documents.is_empty() && stored.elements.is_empty() {
            Change::Added
        } else {
            Change::Updated { added: slots.added(), removed: gone.len() }
        };
        Ok(Outcome { document: keyspace::text(slots.document()), elements, change })
    }

    async fn remove(&self) -> Result<Option<usize>, ServerError> {
        let stored = self.stored().await?;
        let writer = &self.writer;
        let mut batch = writer.batch(&[]);
        for document in &stored.documents {
            batch.command(&["HDEL", &document.name, "content_hash"]);
        }
        batch.send().await?;
        self.place(None).await?;
        let (documents, elements) = (&stored.documents, &stored.elements);
        let mut gone: Vec<ElementKey> = documents.iter().map(|it| it.key.clone()).collect();
        gone.extend(elements.iter().map(|it| it.key.clone()));
        gone.extend(stored.missing.iter().cloned());
        if gone.is_empty() {
            return Ok(None);
        }
        let labels = stored.labels();
        removal::remove(writer, &mut batch, &self.source, &gone, documents, &labels).await?;
        batch.send().await?;
        writer.settle().await?;
        Ok(Some(elements.len()))
    }

    /// Gives the document its place among the others, or takes it away.
    async fn place(&self, document: Option<&ElementKey>) -> Result<(), ServerError> {
        let script = if self.writer.when_full { &PLACE_WHEN_FULL } else { &PLACE };
        let mut call = self.writer.call(script, &[&keys::Paths {}.key(), &self.source.document]);
        call.arg(self.path).arg(document.map(keyspace::text).unwrap_or_default());
        call.arg(reach()).arg(bound::<keys::Paths>());
        self.writer.run(&call).await.map(|_| ())
    }
}

/// The fence of whoever takes a document over on a full server.
async fn take_over(library: &Library, fence_key: &str) -> Result<u64, ServerError> {
    let mut call = Call::new(&TAKE_OVER, &[fence_key]);
    call.arg(remembered_ms());
    from_redis_value(library.run(&call).await?).map_err(|error| ServerError::Client(error.into()))
}

/// How many siblings an element has on each side at most.
pub fn reach() -> usize {
    usize::try_from(bound::<keys::Siblings>() / 2).unwrap_or(usize::MAX)
}

/// How many members the schema allows.
fn bound<K: keyward::Key>() -> u64 {
    K::DEFINITION.behaviour.max_len.unwrap_or(0)
}

/// How long a fence is remembered after it was first seen, as the schema says.
fn remembered_ms() -> u64 {
    match keys::SourceFence::TTL {
        Ttl::Fixed(ttl) => u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX),
        _ => 86_400_000,
    }
}
