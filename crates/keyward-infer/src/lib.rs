//! Drafts a schema from the keys of a server that nobody declared.
//!
//! ```
//! use keyward_infer::{Observed, Options, Sketch, infer, write};
//!
//! let mut sketch = Sketch::default();
//! for user in 1..=50 {
//!     let mut cart = Observed::new(0, format!("user:{user}:cart").as_bytes(), "hash");
//!     cart.ttl = Some(86_000_000);
//!     sketch.observe(cart);
//! }
//! let text = write(&infer(&sketch, &Options::default()), "shop");
//! assert!(text.contains("pattern = \"user:{user_id:uint}:cart\"\n"));
//! assert!(text.contains("ttl = \"1d\"\n"));
//! ```
//!
//! # From keys to a schema
//!
//! 1. [`Sketch`]: a bounded sample, the same for the same keys in any order and in any number of parts.
//! 2. `cut`, `form`: a key as segments, and what each of them looks like.
//! 3. `tree`, `alike`, `spelling`: which places are words and which are values; families of keys.
//! 4. `typing`, `facts`, `references`, `names`: what a family's values are, and what a person would call them.
//! 5. `fit`: only what is sound stays in the [`Draft`]; the others are its rest.
//! 6. [`write()`]: a commented `keyward.toml`.
//!
//! No parameter's value gets into a draft, but for the words of an enum, which many keys share.
#![deny(missing_docs)]

mod alike;
mod compose;
mod content;
mod cut;
pub mod draft;
mod facts;
mod fit;
pub mod foreign;
mod form;
mod hash;
mod lifetime;
mod looks;
mod merge;
mod names;
mod reach;
mod references;
mod separators;
mod sketch;
mod snippet;
mod spelling;
mod thresholds;
mod tree;
mod types;
mod typing;
mod write;

pub use compose::{Options, infer};
pub use content::{Content, MOST_BYTES, MOST_ELEMENTS};
pub use draft::Draft;
pub use looks::{Look, can_be_drafted, looks};
pub use merge::{MergeError, Merged, merge, merge_into};
pub use sketch::{Observed, Sketch};
pub use snippet::{Piece, definition, snippet, ttl};
pub use thresholds::{Threshold, Thresholds};
pub use write::write;
