//! What a person sees: whole output and exit code of every command, for good input and bad.

mod audit;
mod audit_checklist;
mod audit_live;
mod audit_lost;
mod audit_partial;
mod audit_resume;
mod audit_truth;
mod breaking;
mod check;
mod docs;
mod exit_codes;
mod explain;
mod files;
mod fmt;
mod formats;
mod generate;
mod help;
mod hostile;
mod infer;
mod init;
mod key;
mod plan;
mod plan_faults;
mod queue;
mod sarif;
mod secrets;
mod serve;
mod services;
mod stream;
mod unseen;
mod watch;

use keyward_testkit::Cli;

/// The program, in an empty folder.
fn cli() -> Cli {
    Cli::new(env!("CARGO_BIN_EXE_keyward"))
}

/// The program, beside this schema.
fn shop(schema: &str) -> Cli {
    let cli = cli();
    cli.write("keyward.toml", schema);
    cli
}

/// A schema without findings.
const SHOP: &str = r#"version = 1

[keyspace]
name = "shop"
prefix = "shop:"

[params]
user_id = "uint"
sku = "slug"
ip = "ip"

[keys.cart]
doc = "What a customer is about to buy"
owner = "checkout"
group = "buying"
pattern = "cart:{user_id}"
type = "hash"
open = true
ttl = "7d"
lifecycle = "retained"

[keys.price]
doc = "An article's price"
owner = "catalogue"
pattern = "price:{sku}"
value = "uint"
ttl = "10m"

[keys.search]
doc = "What a search found"
owner = "catalogue"
group = "finding"
pattern = "search:{query:encoded}"
value = "json"
ttl = "1m..5m"

[keys.login_limit]
doc = "Attempts to log in"
owner = "accounts"
pattern = "login:{ip}:limit"
rate_limit = { limit = 10, window = "1m" }

[events.price_changed]
doc = "The catalogue has a new price"
params = { sku = "slug" }
invalidates = ["price"]
"#;
