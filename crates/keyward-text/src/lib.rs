//! Identifiers from human text.
//!
//! A [`Pipeline`] turns a heading or a sentence into a word that can stand in a key: lower case, no umlauts, no
//! symbols, not too long. Its [`Options`] say which dictionaries it uses. The order of the steps is fixed.
//!
//! ```
//! use keyward_text::{Numbers, Options, Pipeline};
//! use std::time::SystemTime;
//!
//! let headings = Pipeline::new(&Options {
//!     abbreviations: &[("VaR", "value at risk")],
//!     numbers: Some(Numbers::German),
//!     max_len: Some(30),
//!     ..Options::default()
//! })?;
//! let now = SystemTime::now();
//! assert_eq!(headings.name("## 5 Strategien", now), "fuenf_strategien");
//! assert_eq!(headings.name("VaR Berechnung", now), "value_at_risk_berechnung");
//! assert_eq!(headings.name("Diversifikation: Der Schlüssel zum Erfolg", now), "diversifikation_der_schluessel");
//!
//! // A text without a name gets one from the clock, such as `special_chars_20240101_120000`.
//! assert!(headings.name("!?!", now).starts_with("special_chars_"));
//! # Ok::<(), keyward_text::OptionsError>(())
//! ```
//!
//! # The steps
//!
//! | step | what it does | on |
//! |---|---|---|
//! | `unicode` | composes letters and their accents (NFC), so that equal texts have equal names | always |
//! | `markdown` | removes the markers of headings, lists, quotes, emphasis, code and links; texts of links stay | always |
//! | `lower_case` | writes all letters in lower case | always |
//! | `abbreviations` | writes abbreviations in full, except directly after their long form | with a dictionary |
//! | `numbers` | spells numbers up to 10¹⁵ | with a language |
//! | `letters` | writes ä, ö, ü, ß as ae, oe, ue, ss, and other scripts in Latin letters | always |
//! | `symbols` | speaks the symbols of the dictionary, and removes the others | always |
//! | `spaces` | writes white space as `_` | always |
//! | `underscores` | leaves one `_` of several | always |
//! | `stop_words` | removes the words of the list, except from long forms and from words for symbols | with a list |
//! | `words` | leaves the first words | with a number |
//! | `limit` | shortens the identifier | with a limit |
//! | `trim` | removes what stands before the first letter, and a `_` at the end | always |
//! | `fallback` | names a text by the clock if nothing was left of it | if needed |
//!
//! Stop words are removed from what was written. In the long form of an abbreviation and in the words for a symbol they
//! stay, since they were written by nobody: with `at` as a stop word, `VaR @ home` is `value_at_risk_at_home`, and
//! `Value at Risk at home` is `value_risk_home`.
//!
//! # Guarantees
//!
//! The result of any text has at least two characters and at most `max_len`, matches `[a-z][a-z0-9_]*`, and does not
//! end in `_`. Nothing panics. Time and memory are linear in the text, and of a long text only the beginning is read
//! where that decides the name.
#![deny(missing_docs)]

mod abbreviations;
mod error;
mod fallback;
mod letters;
mod markdown;
mod normal;
mod numbers;
mod options;
mod pipeline;
mod shorten;
mod symbols;
mod words;

pub use error::OptionsError;
pub use options::{Numbers, Options, Shorten};
pub use pipeline::{Pipeline, Step};
