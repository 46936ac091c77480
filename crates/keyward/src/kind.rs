//! What can be done to a key: its type, and what is inside.
//!
//! A handle of the store has the methods of its key's kind and no others: a hash has fields, a limit
//! can be checked, and a lock has nothing to `get`.

use std::marker::PhantomData;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $(<$($param:ident),+>)?;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name $(<$($param),+>)? ($(PhantomData<fn() -> ($($param,)+)>)?);
    )*};
}

kinds! {
    /// A string that holds a `V`, spelled by `C`
    Str<V, C>;
    /// A hash whose fields are an `F`
    Hash<F>;
    /// A list of `V`, each spelled by `C`
    List<V, C>;
    /// A set of `M`, each spelled by `C`
    Set<M, C>;
    /// A sorted set of `M`, each spelled by `C`, ordered by `S`
    SortedSet<M, C, S>;
    /// A stream whose entries are an `F`
    Stream<F>;
    /// A number that is counted up and down
    Counter;
    /// A number that is counted up to a bound, which `B` says: `Declared` or `ByCaller`
    Quota<B>;
    /// How often something may happen; who gives the number is `B`: `Declared` or `ByCaller`
    Limit<B>;
    /// A flag: a string that holds a `V`, spelled by `C`. `O` is the key that overrides it for one user, `()` if
    /// there is none
    Flag<V, C, O>;
    /// A lock
    Lock;
    /// A queue whose jobs are a `V`, each spelled by `C`
    Queue<V, C>;
    /// A session that holds what a `T` holds; the key that lists a user's sessions is an `I`
    Session<T, I>;
    /// A set of `M`, each spelled by `C`, that finds keys; its reverse is an `R`
    Index<M, C, R>;
    /// A refresh token whose fields are an `F`
    RefreshToken<F>;
    /// Something that the schema does not say
    Untyped;

    /// The schema says how long a key lives, or how much is allowed
    Declared;
    /// The caller says how long a key lives, or how much is allowed
    ByCaller;
    /// Nobody says how long a key lives, so that nothing can be written
    Undeclared;

    /// Spelled as its type is: text, a number, a word
    Plain;
    /// Spelled as JSON
    Json;
    /// Spelled as the fields of a stream's entry
    Entry;
    /// Spelled by `C`, and compressed
    Zstd<C>;
}

/// A limit whose number is known: the schema's, or the caller's behind `limited_to`.
#[diagnostic::on_unimplemented(
    message = "the schema leaves this limit to the caller",
    label = "the limit is not known",
    note = "give it first: `.limited_to(100)`"
)]
pub trait Known: sealed::Sealed {}

impl sealed::Sealed for Declared {}
impl Known for Declared {}

mod sealed {
    pub trait Sealed {}
}
