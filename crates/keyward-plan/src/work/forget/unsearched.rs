//! What a schema does not say enough about to look for somebody there.

use keyward_fact::KeyType;
use keyward_schema::Schema;
use keyward_schema::model::{Role, Value};

/// What is not searched, and why. `is_searched` says whether somebody is looked for in a field of a definition, or in its
/// values where the field is empty.
pub(super) fn of(
    schema: &Schema,
    is_searched: &dyn Fn(usize, &str) -> bool,
    by_name: bool,
) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (at, definition) in schema.keys.iter().enumerate() {
        let mut add = |what: String, why: &str| all.push((what, why.to_owned()));
        let name = &*definition.name;
        let is_counted = matches!(
            definition.role.as_deref(),
            Some(
                Role::Counter(_)
                    | Role::Quota(_)
                    | Role::RateLimit(_)
                    | Role::Lock(_)
                    | Role::Flag(_)
            )
        );
        if is_counted {
            continue;
        }
        if let Some(Role::Queue(_)) = definition.role.as_deref() {
            add(format!("jobs of `{name}`"), "what a job holds is the application's");
            continue;
        }
        if definition.key_type.as_deref() == Some(&KeyType::Stream) {
            add(format!("entries of `{name}`"), "entries of streams are not searched");
            continue;
        }
        for field in &definition.fields {
            if let Some(why) = opaque(&field.value).filter(|_| !is_searched(at, &field.name)) {
                add(format!("field `{}` of `{name}`", *field.name), why);
            }
        }
        if definition.open {
            add(format!("other fields of `{name}`"), "they are not declared");
        }
        let held = definition.value.as_ref().or(definition.member.as_ref());
        match held {
            Some(value) => {
                if let Some(why) = opaque(value).filter(|_| !is_searched(at, "")) {
                    add(format!("values of `{name}`"), why);
                }
            }
            None if definition.fields.is_empty() && !definition.open && !is_searched(at, "") => {
                add(format!("values of `{name}`"), "what they hold is not declared");
            }
            None => {}
        }
    }
    for migration in &schema.migrations {
        for rename in migration.renames.iter().filter(|it| it.convert.is_some()) {
            let what = format!("values under `{}`", rename.from.as_str());
            all.push((what, "they are converted, and were found by their names only".to_owned()));
        }
    }
    if by_name {
        let why = "all keys were known by name, and no other key was looked at".to_owned();
        all.push(("keys of no definition".to_owned(), why));
    }
    all
}

/// Why nobody can be found in such a value, if so.
fn opaque(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Json { zstd: true, .. } => "it is compressed",
        Value::Json { .. } => "JSON is not searched",
        Value::Bytes => "bytes are not searched: they may be encrypted or compressed",
        Value::Text => "free text is not searched",
        _ => return None,
    })
}
