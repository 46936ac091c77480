//! The application, on real servers, over real HTTP.

mod audit;
mod content;
mod documents;
mod flags;
mod harness;
mod jobs;
mod limits;
mod sessions;
mod sync;
mod users;

// What tests know of Redis they know from the same schema.
keyward::keyspace!("keyward.toml");

use keyward::Uuid;

const ADA: Uuid = Uuid::from_u128(0x7c9e_6679_7425_40de_944b_e07f_c1f9_0ae7);
const BOB: Uuid = Uuid::from_u128(0x1b4e_28ba_2fa1_41d2_883f_0016_d3cc_a427);
