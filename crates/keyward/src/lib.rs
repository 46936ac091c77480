//! Typed keys for Redis and Valkey, and a store that follows their convention, which is written down once
//! and checked when the program is compiled.
//!
//! A team declares its keys in `keyward.toml`:
//!
//! ```toml
#![doc = include_str!("../doc/keyward.toml")]
//! ```
//!
//! and [`keyspace!`] makes a module of it, named after the keyspace:
//!
//! ```
//! use keyward::Key as _;
//! # macro_rules! keyspace { ("keyward.toml") => { keyward::keyspace!("doc/keyward.toml"); } }
//! keyspace!("keyward.toml");
//!
//! use shop::{keys, values};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A key's fields are its parameters. Each has a type, and whatever has that type is good: building
//! // cannot fail, and no user can smuggle in a separator.
//! let user_id = keyward::Uuid::nil();
//! let cart = keys::Cart { user_id };
//! assert_eq!(cart.key(), "shop:cart:00000000-0000-0000-0000-000000000000");
//! assert_eq!(cart.slot(), 12_790);
//!
//! // Text from outside is checked once, where it comes in.
//! let sku = values::Sku::new("AB-1234")?;
//! assert!(values::Sku::new("ab:1234").is_err());
//!
//! // Keys are read back, of one definition or of any.
//! assert_eq!(keys::Cart::parse(cart.key()), Some(cart.clone()));
//! assert_eq!(shop::Key::parse("shop:cart:7"), None);
//! match shop::Key::parse("shop:stock:AB-1234:berlin") {
//!     Some(shop::Key::Stock(stock)) => assert_eq!(stock.sku, sku),
//!     other => panic!("{other:?}"),
//! }
//!
//! // Globs bind what is known. Events know what they make invalid.
//! assert_eq!(keys::Stock::glob(Some(sku.clone()), None), "shop:stock:AB-1234:*");
//! let event = shop::events::ProductMoved { sku };
//! assert_eq!(event.globs(), ["shop:stock:AB-1234:*"]);
//!
//! // What the schema says is there as constants.
//! assert_eq!(keys::Cart::PATTERN, "shop:cart:{user_id}");
//! assert_eq!(shop::ttl::CART, keyward::Ttl::Fixed(std::time::Duration::from_secs(172_800)));
//! # Ok(())
//! # }
//! ```
//!
//! A mistake in the schema is an error of the compiler, which quotes the line. The module is compiled
//! again when the schema changes; there is no build script, and nothing touches a network. If you
//! prefer to see the code, `keyward generate --lang rust` writes the same module as a file, and the
//! feature `macros` can be switched off.
//!
//! # The store
//!
//! [`Store`] is a connection whose handles follow the schema: what can be done to a key depends on what
//! it was declared to be, every write sets the declared TTL in the same step, and events remove what they
//! make invalid.
//!
//! ```no_run
//! # macro_rules! keyspace { ("keyward.toml") => { keyward::keyspace!("doc/keyward.toml"); } }
//! # keyspace!("keyward.toml");
//! # use shop::{events, keys, values};
//! # #[derive(Debug)] struct DatabaseError;
//! # async fn from_database(sku: &values::Sku) -> Result<u64, DatabaseError> { Ok(7) }
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let store = keyward::Store::connect("redis://127.0.0.1").await?;
//! let (sku, warehouse) = (values::Sku::new("AB-1234")?, values::Warehouse::new("berlin")?);
//!
//! let stock = store.at(keys::Stock { sku: sku.clone(), warehouse });
//! // From the server, or else from the loader: once, however many ask, and also while the server is
//! // away. Only the loader's own error can come out.
//! let left = stock.get_or_load(|| from_database(&sku)).await.map_err(|_| "the database is down")?;
//!
//! store.emit(events::ProductMoved { sku }).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Methods by kind: [`Handle`] lists them all. Cluster, Sentinel, TLS and what happens in an outage:
//! [`Builder`] and the guide.
//!
//! # What a module has
//!
//! | | |
//! |---|---|
//! | `keys::Cart` | a type for each definition; its fields are the parameters. Where a more specific definition takes some of its keys, they are private and `new` refuses what is reserved |
//! | `Key` | any of them, with `parse`, and `parse_former` for names before a migration |
//! | `values::Sku` | types that the schema declares: texts that are checked, enums, keys of several definitions |
//! | `values::Title::from_text` | a value from human text, where the schema has `from`; `texts` has the pipelines |
//! | `fields::Cart` | what a hash holds; [`Fields`] turns it into bytes and back |
//! | `stored::Permission` | words and keys that a key holds |
//! | `events::ProductMoved` | what happens, with `keys()` and `globs()` that become invalid |
//! | `ttl::CART`, `globs::lifecycles::CACHE` | constants |
//! | `Prefix` | what every key begins with. Where it has parameters, `key` and `glob` take it |
//! | `build`, `glob`, `event` | the same by name and from texts, for tools |
//!
//! # Types of parameters
//!
//! | schema | Rust |
//! |---|---|
//! | `uuid` | [`Uuid`] |
//! | `int`, `uint` | `i64`, `u64` |
//! | `date`, `unix`, `unix_ms` | [`Date`], [`Unix`], [`UnixMs`] |
//! | `ip` | [`IpAddr`](std::net::IpAddr) |
//! | `["a", "b"]` | an enum in `values` |
//! | `{ key = … }` | a key, or an enum of keys in `values` |
//! | everything else | a text in `values` |
//!
//! # Features
//!
//! On by default; each adds to the others.
//!
//! - `macros`: [`keyspace!`]
//! - `json`: fields and values that hold JSON, with serde
//! - `zstd`: values that are compressed
//! - `store`: the [`Store`], on the client `redis`; without it the crate needs no network
//! - `cluster`: a store at a cluster
//! - `tls`: a store at a server with TLS
//! - `metrics`: what a store does, counted by the crate `metrics`
//!
//! Not by default:
//!
//! - `cron`: repeating jobs of a queue by crontab expressions
//! - `tower`: [`LimitLayer`], rate limits in front of an HTTP service
//! - `tower-sessions`: `TowerSessions`, a session store for the crate of that name
//! - `text`: values of parameters from human text, where the schema has `from`
//! - `testing`: `testing::Server`, a throw-away server for an application's tests
//!
//! At run time there is neither TOML nor a template, and no proof is repeated.

mod codec;
mod date;
mod definition;
mod entry;
mod error;
mod field;
mod former;
#[doc(hidden)]
#[allow(missing_docs, reason = "no promise is made about it")]
pub mod generated;
mod key;
pub mod kind;
#[doc(hidden)]
pub mod mutant;
mod param;
#[doc(hidden)]
#[allow(missing_docs, reason = "no promise is made about it")]
pub mod shared;
#[cfg(feature = "store")]
mod store;
mod switch;
#[cfg(feature = "testing")]
pub mod testing;
mod timestamp;
mod unix;
mod value_macros;

pub use codec::Codec;
pub use date::Date;
pub use definition::{
    Algorithm, Behaviour, Definition, IndexOptions, Keep, Lifecycle, Param, Phase, SessionOptions,
    Stamp, Ties, Ttl,
};
pub use error::{BuildError, FieldError, FieldErrorKind, Reserved, ValueError};
#[cfg(feature = "store")]
pub use field::Change;
pub use field::{AnyFields, Field, FieldValue, Fields, Number, OpenFields};
pub use former::{FormerKey, KeyNames};
pub use key::{Event, Fixed, Key, Keyspace, Prefix};
#[cfg(feature = "macros")]
pub use keyward_macros::keyspace;
pub use keyward_pattern::slot;
/// Identifiers from human text: the pipelines of a schema.
#[cfg(feature = "text")]
pub use keyward_text as text;
pub use param::ParamValue;
#[cfg(feature = "tower-sessions")]
pub use store::TowerSessions;
#[cfg(feature = "store")]
pub use store::queue;
#[cfg(feature = "store")]
pub use store::{
    Allowance, Allowances, BreakerSettings, BreakerState, Builder, Cause, Clock, Counted, EntryId,
    EntryIdError, Error, Guard, Handle, Holder, Indexes, Invalidated, Lifespan, Limits, LoadError,
    Pipeline, Prefixed, Promise, Rebuild, Rebuilt, Refreshed, Request, Results, Score, Sessions,
    Standing, Store, Whole, random_id,
};
#[cfg(feature = "tower")]
pub use store::{LimitLayer, LimitService};
pub use switch::Switch;
pub use timestamp::Timestamp;
pub use unix::{Unix, UnixMs};
pub use uuid::Uuid;
