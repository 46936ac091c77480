//! How long a key lives, as it is written; which parameter decides is resolved with the definition.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::form::{AnyName, Form, Map, table};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::Ttl;
use crate::scalar::duration;
use crate::span::Spanned;
use crate::spelling;
use crate::syntax::{Item, Kind};
use keyward_fact::Duration;

/// A TTL as written.
#[derive(Debug)]
pub(crate) enum TtlForm {
    /// Everything that needs no parameter
    Plain(Ttl),
    /// `{ by = "window" }`
    By(TtlBy),
}

table! {
    /// A TTL that depends on the value of a parameter.
    TtlBy {
        /// The parameter. Its type must be an enum.
        required by: String,
        /// The TTL for each word of the enum. Optional if the words are durations.
        optional values: Map<AnyName, Duration>,
    }
}

table! {
    /// A TTL that the application passes, such as the expiry of a token.
    TtlCaller {
        /// Always `true`.
        required caller: bool,
        /// The longest TTL that the application may pass.
        optional max: Duration,
    }
}

impl Form for TtlForm {
    fn what() -> String {
        "a TTL such as `\"7d\"`, `\"1m..5m\"` or `\"none\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(text) => plain(text, item, decoder).map(TtlForm::Plain),
            Kind::Table(entries) if entries.iter().any(|entry| entry.key.value == "caller") => {
                caller(item, decoder).map(TtlForm::Plain)
            }
            Kind::Table(entries) if entries.iter().any(|entry| entry.key.value == "by") => {
                TtlBy::read(item, decoder).map(TtlForm::By)
            }
            Kind::Table(_) => {
                let message = format!("{} must be {}", decoder.here(), Self::what());
                let diagnostic =
                    Diagnostic::schema(message, item.span.clone(), "has neither `by` nor `caller`");
                decoder.report(
                    diagnostic
                        .help("a parameter decides: `{ by = \"window\" }`")
                        .help("the application decides: `{ caller = true, max = \"24h\" }`"),
                )
            }
            _ => decoder.mismatch(item),
        }
    }

    fn fix(item: &Item) -> Option<String> {
        match item.kind {
            Kind::Integer(Some(..=0)) | Kind::Boolean(false) => Some("\"none\"".to_owned()),
            _ => Duration::fix(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        schemas.shared("ttl", |schemas| {
            use crate::scalar::DURATION_PATTERN;
            let pattern = format!("^(none|{DURATION_PATTERN}(\\.\\.{DURATION_PATTERN})?)$");
            json!({ "anyOf": [
                { "type": "string", "pattern": pattern },
                TtlBy::schema(schemas),
                TtlCaller::schema(schemas),
            ] })
        })
    }
}

fn plain(text: &str, item: &Item, decoder: &mut Decoder<'_>) -> Option<Ttl> {
    if text == "none" {
        return Some(Ttl::None);
    }
    let meant = if spelling::is_never(text) {
        Some("none".to_owned())
    } else {
        spelling::range(text).or_else(|| spelling::duration(text))
    };
    let Some((from, to)) = text.split_once("..") else {
        return duration(text, 0, item, meant, decoder).map(Ttl::Fixed);
    };
    let shortest = duration(from, 0, item, meant.clone(), decoder);
    let longest = duration(to, from.len() + 2, item, meant, decoder);
    let (shortest, longest) = (shortest?, longest?);
    if shortest < longest {
        return Some(Ttl::Range(shortest, longest));
    }
    let message = format!("{} is a range that ends before it starts", decoder.here());
    let label = format!("{} is not shorter than {}", shortest.human(), longest.human());
    let help = if shortest == longest {
        format!("write `\"{shortest}\"`")
    } else {
        format!("write `\"{longest}..{shortest}\"`")
    };
    decoder.report(Diagnostic::schema(message, item.span.clone(), label).help(help))
}

fn caller(item: &Item, decoder: &mut Decoder<'_>) -> Option<Ttl> {
    let table = TtlCaller::read(item, decoder)?;
    if !table.caller.value {
        let message = "`caller` can only be `true`";
        return decoder.error(&table.caller.span, message, "leave the table out instead");
    }
    Some(Ttl::Caller { max: table.max.map(|max| max.value) })
}

/// The TTL of each word of an enum, as `{ by = … }` says.
///
/// `words` are the words of the parameter, `None` if its type is not an enum.
pub(crate) fn resolve(
    ttl: &Spanned<TtlBy>,
    words: Option<&[String]>,
) -> Result<Ttl, Box<Diagnostic>> {
    let by = &ttl.value.by;
    let Some(words) = words else {
        return Err(Box::new(
            Diagnostic::schema(
                format!("`{}` cannot decide the TTL: its type is not an enum", **by),
                by.span.clone(),
                "accepts any value",
            )
            .help(format!("give it words: `{} = [\"1h\", \"1d\"]`", **by)),
        ));
    };
    let values = ttl.value.values.as_ref();
    if let Some((unknown, _)) =
        values.iter().flat_map(|map| &map.entries).find(|(word, _)| !words.contains(word))
    {
        let known = words.iter().map(String::as_str);
        let mut diagnostic = Diagnostic::schema(
            format!("`{}` has no word `{}`", **by, **unknown),
            unknown.span.clone(),
            "this TTL would never be used",
        );
        if let Some(near) = keyward_pattern::nearest(unknown, known) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        return Err(Box::new(diagnostic));
    }
    let mut resolved = Vec::with_capacity(words.len());
    for word in words {
        let given = values.and_then(|map| map.entries.iter().find(|(name, _)| **name == *word));
        let duration = match given {
            Some((_, duration)) => Some(duration.value),
            None => word.parse().ok().filter(|duration: &Duration| {
                !duration.is_zero() && *duration <= crate::scalar::LONGEST
            }),
        };
        let Some(duration) = duration else {
            let place = values.map_or(&by.span, |values| &values.span);
            return Err(Box::new(
                Diagnostic::schema(
                    format!("there is no TTL for the word `{word}` of `{}`", **by),
                    place.clone(),
                    "not a duration, and `values` has no entry for it",
                )
                .help(format!("add `{word}` to `values`: `values = {{ {word} = \"1d\" }}`")),
            ));
        };
        resolved.push((word.clone(), duration));
    }
    Ok(Ttl::By { param: by.value.clone(), values: resolved })
}
