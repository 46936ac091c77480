//! The application, on real servers, over real HTTP.

mod api;
mod documents;
mod harness;
mod invalidation;
mod keyspace;
mod lost;
mod outage;
mod watched;

// What tests know of Redis they know from the same schema.
keyward::keyspace!("keyward.toml");

use keyward::Uuid;

const ADA: Uuid = Uuid::from_u128(0xada);
const BOB: Uuid = Uuid::from_u128(0xb0b);
const EVE: Uuid = Uuid::from_u128(0xe5e);

/// An id for the rest.
fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}
