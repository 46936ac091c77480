//! How declarations are named in messages.

use keyward_schema::model::{JsonType, Value};

/// A type of value, as a schema writes it.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Text => "text".to_owned(),
        Value::Int => "int".to_owned(),
        Value::Uint => "uint".to_owned(),
        Value::Float => "float".to_owned(),
        Value::Bool => "bool".to_owned(),
        Value::Uuid => "uuid".to_owned(),
        Value::Timestamp => "timestamp".to_owned(),
        Value::Date => "date".to_owned(),
        Value::Unix => "unix".to_owned(),
        Value::UnixMs => "unix_ms".to_owned(),
        Value::Bytes => "bytes".to_owned(),
        Value::Enum(words) => {
            const SHOWN: usize = 4;
            let shown: Vec<&str> = words.iter().take(SHOWN).map(String::as_str).collect();
            let more = if words.len() > SHOWN { " | …" } else { "" };
            format!("{}{more}", shown.join(" | "))
        }
        Value::Json { of, zstd } => {
            let of = match of {
                None => "json".to_owned(),
                Some(JsonType::Named(name)) => format!("json {name}"),
                Some(JsonType::Array(item)) => format!("json [{}]", self::value(item)),
            };
            if *zstd { format!("{of}, compressed") } else { of }
        }
        Value::Ref { definition, param } => format!("ref {definition}.{param}"),
        Value::Key(names) => format!("key of {}", names.join(", ")),
    }
}
