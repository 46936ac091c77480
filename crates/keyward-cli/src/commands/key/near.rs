//! Why a key belongs to no definition, in words.

use crate::output::{ERROR, HELP};
use keyward_audit::lookup::{Near, nearest, shown};
use keyward_pattern::Keyspace;
use keyward_schema::Schema;
use serde_json::{Value, json};

/// The message about an unknown key.
pub(super) fn describe(key: &[u8], schemas: &[Schema], keyspaces: &[Keyspace]) -> String {
    let help = match nearest(key, schemas, keyspaces) {
        Ok(Near { definition, pattern, reason, .. }) => {
            format!("the nearest definition is `{definition}`, `{pattern}`: {reason}")
        }
        Err(why) => why,
    };
    let (error, key) = (ERROR.on("error"), shown(key));
    format!("{error}: no definition matches the key `{key}`\n{}: {help}\n", HELP.on("help"))
}

/// The same for programs; `null` where no definition is near.
pub(super) fn object(key: &[u8], schemas: &[Schema], keyspaces: &[Keyspace]) -> Value {
    match nearest(key, schemas, keyspaces) {
        Ok(Near { definition, pattern, segment, reason, .. }) => json!({
            "definition": definition,
            "pattern": pattern,
            "segment": segment,
            "reason": reason,
        }),
        Err(_) => Value::Null,
    }
}
