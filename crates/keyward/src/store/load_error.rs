//! The error of a load, which all who waited for it share.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// What a loader failed with. All callers who waited for the same load get it, so that it is shared: it
/// shows and compares as the loader's own error `E`, and `?` takes it wherever that is wanted.
///
/// `impl From<LoadError<DatabaseError>> for AppError` is all that an application with an error of its own
/// needs; [`into_inner`](LoadError::into_inner) gives the loader's error where it can be cloned.
pub struct LoadError<E>(Arc<E>);

impl<E> LoadError<E> {
    pub(crate) fn new(error: E) -> Self {
        LoadError(Arc::new(error))
    }

    /// The loader's error, shared.
    pub fn into_shared(self) -> Arc<E> {
        self.0
    }
}

impl<E: Clone> LoadError<E> {
    /// The loader's error, cloned if others wait for it too.
    pub fn into_inner(self) -> E {
        Arc::unwrap_or_clone(self.0)
    }
}

impl<E> Deref for LoadError<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.0
    }
}

impl<E> Clone for LoadError<E> {
    fn clone(&self) -> Self {
        LoadError(self.0.clone())
    }
}

impl<E: PartialEq> PartialEq for LoadError<E> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<E: fmt::Debug> fmt::Debug for LoadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: fmt::Display> fmt::Display for LoadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: Error> Error for LoadError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
