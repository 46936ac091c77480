//! `[server]`: the settings that the server must have.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::form::{Form, table, unknown_word};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::{Policy, Server};
use crate::settings;
use crate::span::Spanned;
use crate::syntax::{Item, Kind};
use crate::tables::belongs_elsewhere;
use keyward_fact::Size;
use keyward_pattern::nearest;

table! {
    /// `[server]`: the settings that the server must have.
    ServerTable {
        /// The memory that the server may use.
        optional maxmemory: Size,
        /// Which keys the server evicts when its memory is full.
        optional maxmemory_policy = "maxmemory-policy": Policy,
        /// When the server writes a snapshot; an empty string turns snapshots off.
        optional save: Save,
        /// Whether the server keeps an append-only file.
        optional appendonly: YesNo,
        /// Any other setting, with its name in `redis.conf`.
        rest other: Setting,
    }
}

/// `save`: the snapshot points.
#[derive(Debug)]
pub(crate) struct Save(pub(crate) String);

impl Form for Save {
    fn what() -> String {
        "snapshot points such as `\"900 1 300 10\"` or `[\"900 1\", \"300 10\"]`, or `\"\"` for none"
            .to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let text = match &item.kind {
            Kind::String(text) => text.clone(),
            Kind::Array(_) => {
                let points: Vec<Spanned<String>> = Vec::read(item, decoder)?;
                points.into_iter().map(|point| point.value).collect::<Vec<_>>().join(" ")
            }
            _ => return decoder.mismatch(item),
        };
        let numbers: Vec<&str> = text.split_ascii_whitespace().collect();
        let all_numbers =
            numbers.iter().all(|number| number.parse::<u64>().is_ok_and(|number| number > 0));
        if all_numbers && numbers.len().is_multiple_of(2) {
            return Some(Save(numbers.join(" ")));
        }
        let message = format!("{} must be {}", decoder.here(), Self::what());
        decoder.error(&item.span, message, "not pairs of seconds and changes")
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        let text = json!({ "type": "string", "pattern": "^\\s*([0-9]+\\s+[0-9]+(\\s+|$))*$" });
        json!({ "anyOf": [text, { "type": "array", "items": text }] })
    }
}

/// A switch in `redis.conf`.
#[derive(Debug)]
pub(crate) struct YesNo(pub(crate) bool);

impl Form for YesNo {
    fn what() -> String {
        "`true`, `false`, `\"yes\"` or `\"no\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::Boolean(value) => Some(YesNo(*value)),
            Kind::String(text) => match text.as_str() {
                "yes" => Some(YesNo(true)),
                "no" => Some(YesNo(false)),
                other => unknown_word(&item.span, other, &["yes", "no"], decoder),
            },
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "enum": [true, false, "yes", "no"] })
    }
}

/// The value of any other setting.
#[derive(Debug)]
pub(crate) struct Setting(pub(crate) String);

impl Form for Setting {
    fn what() -> String {
        "a string, a whole number, `true` or `false`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let text = match &item.kind {
            Kind::String(text) => text.clone(),
            Kind::Integer(Some(number)) => number.to_string(),
            Kind::Boolean(value) => if *value { "yes" } else { "no" }.to_owned(),
            _ => return decoder.mismatch(item),
        };
        Some(Setting(text))
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": ["string", "integer", "boolean"] })
    }
}

/// Resolves the settings; a name that no server knows is an error.
pub(crate) fn lower(table: ServerTable, errors: &mut Vec<Diagnostic>) -> Server {
    let mut other = Vec::with_capacity(table.other.len());
    for (name, value) in table.other {
        if settings::SECRETS.contains(&name.as_str()) {
            errors.push(
                Diagnostic::schema(
                    format!("`{}` is a secret", *name),
                    name.span.clone(),
                    "a schema is shared",
                )
                .help("leave it out, and keep it where the server's other secrets are"),
            );
        } else if settings::NAMES.binary_search(&name.as_str()).is_err() {
            let message = format!("`{}` is not a setting of a Redis or Valkey server", *name);
            let diagnostic = Diagnostic::schema(message, name.span.clone(), "unknown setting");
            let own = ["maxmemory", "maxmemory-policy", "save", "appendonly"];
            let known = settings::NAMES.iter().copied().chain(own);
            let meant = nearest(&name, known).map(|near| format!("did you mean `{near}`?"));
            errors.push(match belongs_elsewhere(&name).or(meant) {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            });
        } else {
            other.push((name, Spanned::new(value.value.0, value.span)));
        }
    }
    Server {
        maxmemory: table.maxmemory,
        maxmemory_policy: table.maxmemory_policy,
        save: table.save.map(|save| Spanned::new(save.value.0, save.span)),
        appendonly: table.appendonly.map(|switch| Spanned::new(switch.value.0, switch.span)),
        other,
    }
}
