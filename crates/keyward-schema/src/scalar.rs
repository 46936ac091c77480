//! Single values: text, numbers, durations, sizes, shares, days, patterns, and words.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::form::{Form, words};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::{
    Algorithm, Case, Date, Invalidate, Keep, Level, Lifecycle, OnFull, OnOutage, OnWrite, Phase,
    Policy, Recase, RuleSet, Severity, Ties,
};
use crate::span::Span;
use crate::spelling;
use crate::syntax::{Item, Kind};
use keyward_fact::{Duration, Size};
use keyward_pattern::{Template, Type};

/// The longest duration in a schema: ten years.
pub(crate) const LONGEST: Duration = Duration::from_days(3_653);

/// A duration as a regular expression, for JSON Schema.
pub(crate) const DURATION_PATTERN: &str = "([0-9]+(ms|[wdhms]))+";

impl Form for String {
    fn what() -> String {
        "a string".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(text) => Some(text.clone()),
            _ => decoder.mismatch(item),
        }
    }

    fn fix(item: &Item) -> Option<String> {
        match item.kind {
            Kind::Integer(Some(number)) => Some(format!("\"{number}\"")),
            Kind::Boolean(value) => Some(format!("\"{value}\"")),
            _ => None,
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string" })
    }
}

/// A string with something in it.
#[derive(Debug, Clone)]
pub(crate) struct NonEmpty(pub(crate) String);

impl Form for NonEmpty {
    fn what() -> String {
        "a string that is not empty".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(text) if !text.trim().is_empty() => Some(NonEmpty(text.clone())),
            Kind::String(text) => {
                let blank = if text.is_empty() { "empty" } else { "blank" };
                let message = format!("{} cannot be {blank}", decoder.here());
                decoder.error(&item.span, message, "write at least one character")
            }
            _ => decoder.mismatch(item),
        }
    }

    fn fix(item: &Item) -> Option<String> {
        String::fix(item)
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": "\\S" })
    }
}

impl Form for bool {
    fn what() -> String {
        "`true` or `false`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match item.kind {
            Kind::Boolean(value) => Some(value),
            _ => decoder.mismatch(item),
        }
    }

    fn fix(item: &Item) -> Option<String> {
        let value = match &item.kind {
            Kind::String(text) => match text.trim().to_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => true,
                "false" | "no" | "off" | "0" => false,
                _ => return None,
            },
            Kind::Integer(Some(0)) => false,
            Kind::Integer(Some(1)) => true,
            _ => return None,
        };
        Some(value.to_string())
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "boolean" })
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integer<const MIN: u64, const MAX: u64>(pub(crate) u64);

/// A count of something: at least one.
pub(crate) type Count = Integer<1, { i64::MAX as u64 }>;
/// More than one
pub(crate) type Several = Integer<2, { i64::MAX as u64 }>;

impl<const MIN: u64, const MAX: u64> Form for Integer<MIN, MAX> {
    fn what() -> String {
        match (MIN, MAX) {
            (0, _) if MAX >= i64::MAX as u64 => "a whole number".to_owned(),
            (1.., _) if MAX >= i64::MAX as u64 => format!("a whole number from {MIN}"),
            _ => format!("a whole number from {MIN} to {MAX}"),
        }
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::Integer(number) = item.kind else { return decoder.mismatch(item) };
        match number.and_then(|number| u64::try_from(number).ok()) {
            Some(number) if (MIN..=MAX).contains(&number) => Some(Integer(number)),
            _ => {
                let message = format!("{} must be {}", decoder.here(), Self::what());
                decoder.error(&item.span, message, "outside that range")
            }
        }
    }

    fn fix(item: &Item) -> Option<String> {
        let Kind::String(text) = &item.kind else { return None };
        let number = text.trim().replace(['_', ',', ' '], "").parse().ok()?;
        (MIN..=MAX).contains(&number).then(|| number.to_string())
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        let mut schema = json!({ "type": "integer", "minimum": MIN });
        if MAX < i64::MAX as u64 {
            schema["maximum"] = json!(MAX);
        }
        schema
    }
}

impl Form for Duration {
    fn what() -> String {
        "a duration such as `\"1h30m\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::String(text) = &item.kind else { return decoder.mismatch(item) };
        duration(text, 0, item, spelling::duration(text), decoder)
    }

    fn fix(item: &Item) -> Option<String> {
        match item.kind {
            Kind::Integer(Some(number)) if number > 0 => Some(format!("\"{number}s\"")),
            _ => None,
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": format!("^{DURATION_PATTERN}$") })
    }
}

/// Reads a duration that starts at `offset` in a string. `meant` is what the whole string should
/// be if it cannot be read.
pub(crate) fn duration(
    text: &str,
    offset: usize,
    item: &Item,
    meant: Option<String>,
    decoder: &mut Decoder<'_>,
) -> Option<Duration> {
    const WRITTEN: &str =
        "durations are written `500ms`, `60s`, `5m`, `24h`, `7d`, `2w` or `1h30m`";
    let here = decoder.here();
    let (message, help) = match text.parse::<Duration>() {
        Ok(duration) if duration.is_zero() => {
            (format!("{here} cannot be `{text}`: it must be longer than zero"), None)
        }
        Ok(duration) if duration > LONGEST => {
            (format!("{here} cannot be `{text}`: it is longer than ten years"), None)
        }
        Ok(duration) => return Some(duration),
        Err(error) => {
            let problem = match text {
                "" => error.to_string(),
                _ if text.contains(char::is_whitespace) => format!("`{text}` has a space in it"),
                _ if text.contains(['.', ',']) => format!("`{text}` has a fraction"),
                _ if text.contains(|c: char| c.is_ascii_digit()) => error.to_string(),
                _ => format!("`{text}` is not a duration"),
            };
            (format!("{here} cannot be read: {problem}"), Some(WRITTEN.to_owned()))
        }
    };
    let span = decoder.inside(&item.span, offset..offset + text.len());
    let span = if text.is_empty() { item.span.clone() } else { span };
    let mut diagnostic = Diagnostic::schema(message, span, "");
    diagnostic.help.extend(meant.map(|meant| format!("write `\"{meant}\"`")).or(help));
    decoder.report(diagnostic)
}

impl Form for Size {
    fn what() -> String {
        "a size such as `\"64kb\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let size = match &item.kind {
            Kind::String(text) => text.parse().map_err(|error: keyward_fact::SizeError| {
                if text.contains(char::is_whitespace) {
                    format!("`{text}` has a space in it")
                } else {
                    error.to_string()
                }
            }),
            Kind::Integer(Some(bytes)) => u64::try_from(*bytes)
                .map(Size::from_bytes)
                .map_err(|_| "a size cannot be negative".to_owned()),
            _ => return decoder.mismatch(item),
        };
        match size {
            Ok(size) => Some(size),
            Err(problem) => {
                let message = format!("{} cannot be read: {problem}", decoder.here());
                let meant = match &item.kind {
                    Kind::String(text) => spelling::size(text),
                    _ => None,
                };
                let help = meant.map_or_else(
                    || {
                        "sizes are written as in redis.conf: `512`, `100b`, `64kb`, `4mb`, `2gb`"
                            .to_owned()
                    },
                    |meant| format!("write `\"{meant}\"`"),
                );
                decoder.report(Diagnostic::schema(message, item.span.clone(), "").help(help))
            }
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "anyOf": [
            { "type": "string", "pattern": "^[0-9]+([kKmMgG]?[bB]?)$" },
            { "type": "integer", "minimum": 0 },
        ] })
    }
}

/// A share in per cent: above 0, up to 100.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Percent(pub(crate) f64);

impl Form for Percent {
    fn what() -> String {
        "a share such as `\"80%\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::String(text) = &item.kind else { return decoder.mismatch(item) };
        match share(text) {
            Some(share) if share > 0.0 && share <= 100.0 => Some(Percent(share)),
            _ => {
                let message =
                    format!("{} must be {}, above 0%, up to 100%", decoder.here(), Self::what());
                decoder.error(&item.span, message, "not a percentage in that range")
            }
        }
    }

    fn fix(item: &Item) -> Option<String> {
        match item.kind {
            Kind::Integer(Some(number @ 1..=99)) => Some(format!("\"{number}%\"")),
            _ => None,
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?%$" })
    }
}

fn share(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%').filter(|number| {
        number.starts_with(|first: char| first.is_ascii_digit())
            && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    });
    number?.parse().ok()
}

/// How much shorter than its TTL a key may live: above 0, below 100 per cent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jitter(pub(crate) f64);

impl Form for Jitter {
    fn what() -> String {
        "a share such as `\"10%\"`, above 0% and below 100%".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::String(text) = &item.kind else { return decoder.mismatch(item) };
        let label = match share(text) {
            Some(share) if share > 0.0 && share < 100.0 => return Some(Jitter(share)),
            Some(share) if share >= 100.0 => "nothing would be left of the TTL",
            Some(_) => "leave it out instead",
            None => "not a percentage in that range",
        };
        let message = format!("{} must be {}", decoder.here(), Self::what());
        decoder.error(&item.span, message, label)
    }

    fn fix(item: &Item) -> Option<String> {
        Percent::fix(item)
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        Percent::schema(schemas)
    }
}

impl Form for Date {
    fn what() -> String {
        "a date such as `2026-12-31`, without quotes".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match item.kind {
            Kind::Datetime(Some(date)) => Some(date),
            Kind::Datetime(None) => {
                let message = format!("{} must be {}", decoder.here(), Self::what());
                decoder.error(&item.span, message, "a day only, without a time")
            }
            _ => decoder.mismatch(item),
        }
    }

    fn fix(item: &Item) -> Option<String> {
        let Kind::String(text) = &item.kind else { return None };
        let day = text.trim();
        let parsed = toml::de::DeValue::parse(day).ok()?;
        let toml::de::DeValue::Datetime(date) = parsed.get_ref() else { return None };
        (date.time.is_none() && date.offset.is_none()).then(|| day.to_owned())
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        // How a TOML date reaches a JSON Schema validator differs: taplo hands over a string.
        json!({ "type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" })
    }
}

impl Form for Template {
    fn what() -> String {
        "a pattern such as `\"user:{user_id}\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::String(text) = &item.kind else { return decoder.mismatch(item) };
        let template = read_template(text, item, decoder)?;
        if let Some(bytes) = template.bytes().first() {
            let span = decoder.inside(&item.span, bytes.clone());
            let message = format!("{} cannot contain bytes in hex", decoder.here());
            let help =
                "write the characters; only old names and globs of `[foreign]` have bytes in hex";
            return decoder.report(Diagnostic::schema(message, span, "").help(help));
        }
        if let Some(hole) = template.holes().find(|hole| hole.ty == Some(Type::Raw)) {
            let span = decoder.inside(&item.span, hole.span.clone());
            return decoder.report(only_in_old_names(span));
        }
        Some(template)
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "minLength": 1 })
    }
}

fn read_template(text: &str, item: &Item, decoder: &mut Decoder<'_>) -> Option<Template> {
    match Template::parse(text) {
        Ok(template) => Some(template),
        Err(error) => {
            let span = decoder.inside(&item.span, error.span.clone());
            let span = if text.is_empty() { item.span.clone() } else { span };
            let message = format!("{} cannot be read: {error}", decoder.here());
            let mut diagnostic = Diagnostic::schema(message, span, "");
            diagnostic.help.extend(error.help());
            decoder.report(diagnostic)
        }
    }
}

/// Why a parameter of a definition cannot be `raw`.
pub(crate) fn only_in_old_names(span: Span) -> Diagnostic {
    Diagnostic::schema("`raw` is a type for old names only", span, "its values may contain braces")
        .help("use `encoded`, which writes every character that a key should not contain as `%XX`")
}

/// The pattern of an old name, which other rules held for: it may have bytes in hex and `raw` values.
#[derive(Debug, Clone)]
pub(crate) struct OldPattern(pub(crate) Template);

impl Form for OldPattern {
    fn what() -> String {
        Template::what()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::String(text) = &item.kind else { return decoder.mismatch(item) };
        read_template(text, item, decoder).map(OldPattern)
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        Template::schema(schemas)
    }
}

/// One character that may separate segments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Separator(pub(crate) char);

impl Form for Separator {
    fn what() -> String {
        "one ASCII punctuation character such as `\":\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::String(text) = &item.kind else { return decoder.mismatch(item) };
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(char), None) if char.is_ascii_punctuation() => Some(Separator(char)),
            _ => {
                let message = format!("{} must be {}", decoder.here(), Self::what());
                decoder.error(&item.span, message, "not one such character")
            }
        }
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string", "pattern": "^[!-/:-@\\[-`{-~]$" })
    }
}

words!(Level: "`\"must\"` or `\"should\"`", [("must", Level::Must), ("should", Level::Should)]);
words!(Case: "`\"lower\"` or `\"any\"`", [("lower", Case::Lower), ("any", Case::Any)]);
words!(Policy: "an eviction policy such as `\"noeviction\"`",
    Policy::ALL.map(|policy| (policy.name(), policy)));
words!(RuleSet: "`\"minimal\"`, `\"recommended\"` or `\"strict\"`", 
    RuleSet::ALL.map(|set| (set.name(), set)));
words!(Severity: "`\"error\"`, `\"warn\"` or `\"off\"`",
    Severity::ALL.map(|severity| (severity.name(), severity)));
words!(Lifecycle: "a lifecycle such as `\"cache\"`",
    Lifecycle::ALL.map(|lifecycle| (lifecycle.name(), lifecycle)));
words!(OnWrite: "`\"set\"` or `\"keep\"`", [("set", OnWrite::Set), ("keep", OnWrite::Keep)]);
words!(OnFull: "`\"trim\"` or `\"refuse\"`", [("trim", OnFull::Trim), ("refuse", OnFull::Refuse)]);
words!(Ties: "`\"first\"` or `\"last\"`", [("first", Ties::First), ("last", Ties::Last)]);
words!(Keep: "`\"first\"` or `\"last\"`", [("first", Keep::First), ("last", Keep::Last)]);
words!(Invalidate: "`\"index\"` or `\"scan\"`",
    [("index", Invalidate::Index), ("scan", Invalidate::Scan)]);
words!(Algorithm: "`\"fixed-window\"`, `\"sliding-window\"` or `\"gcra\"`", [
    ("fixed-window", Algorithm::FixedWindow),
    ("sliding-window", Algorithm::SlidingWindow),
    ("gcra", Algorithm::Gcra),
]);
words!(OnOutage: "`\"open\"` or `\"closed\"`",
    [("open", OnOutage::Open), ("closed", OnOutage::Closed)]);
words!(Phase: "`\"dual-write\"`, `\"read-fallback\"` or `\"cleanup\"`", [
    ("dual-write", Phase::DualWrite),
    ("read-fallback", Phase::ReadFallback),
    ("cleanup", Phase::Cleanup),
]);
words!(Recase: "`\"lower\"` or `\"upper\"`", [("lower", Recase::Lower), ("upper", Recase::Upper)]);
