//! The rules that judge a Redis keyspace.
//!
//! A rule is one file under `src/rules/`: its documentation, its severity and what it looks for.
//! The file's name is the rule's name, and it is written nowhere else: in code a rule is a variant of
//! [`Rule`].
//!
//! ```no_run
//! # fn example(schema: &keyward_schema::model::Schema, today: keyward_schema::model::Date) {
//! use keyward_rules::{Options, check};
//!
//! for finding in check(schema, &Options { today }) {
//!     println!("{}: {}", finding.rule, finding.message);
//! }
//! # }
//! ```
//!
//! Some rules are live: they look at keys rather than at the schema. `audit` counts what breaks them, which
//! [`judge`] decides, and asks [`Live`] how serious that is and [`word`] how to say it.
//!
//! # Which rules apply
//! Rule sets are nested: `minimal` has the rules that every keyspace must keep, `recommended` those that
//! almost every team wants, `strict` all but opt-in rules. `[rules]` names the set and changes single rules:
//!
//! - `missing-owner = "error"` turns a rule on with that severity, `"off"` turns it off;
//! - a table without a severity (`stale-cache = { max = "1h" }`) turns it on with its own.
//!
//! # What a change breaks
//! Some rules are breaking: they compare two versions of a schema, see [`breaking`]. Each belongs to a [`Tier`].
//!
//! # What comes back
//! [`check`] returns findings in the order of their places. A finding that an `allow` of its
//! definition, event or migration, or of the whole schema, names is left out; an `allow` that left
//! nothing out is reported by `unused-allow`. A rule with more than [`MAX_FINDINGS`] findings is
//! cut, and its last one says how many there were.
//!
//! A rule's name that does not exist, in `[rules]` or in an `allow`, is a diagnostic of the rule
//! [`SCHEMA`]: the schema cannot be used as it is.
#![deny(missing_docs)]

mod allowing;
mod breaking;
mod check;
mod checklist;
mod context;
#[cfg(feature = "exchange")]
pub mod exchange;
mod finding;
mod fit;
mod live;
mod loss;
mod rule;
mod rules;
mod segment;
mod settings;
mod tag;
mod words;

#[cfg(test)]
mod harness;

pub use breaking::{BreakingOptions, Broken, Measured, MeasuredDefinition, OldAmount, breaking};
pub use check::{MAX_FINDINGS, Options, check, check_all, unsound};
pub use checklist::{State, Tick, checklist};
pub use keyward_schema::diagnostic::SCHEMA;
pub use live::{Case, Live, RAW_IPV6, Wording, word};
pub use rule::{Category, RuleOption, Tier, UnknownRule};
pub use rules::{Rule, judge};
