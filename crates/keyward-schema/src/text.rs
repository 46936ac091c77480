//! `[text.*]` as written → the model: what a pipeline extends is filled in, its examples are run, and what it makes
//! is a value of the parameters that take it.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::form::{AnyName, Form, Map, table, words};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::{Numbers, ParamDeclaration, Shorten, TextPipeline};
use crate::scalar::{Count, Integer, NonEmpty};
use crate::span::Spanned;
use crate::syntax::{Item, Kind};
use keyward_pattern::nearest;
use std::collections::{HashMap, HashSet};

table! {
    /// `[text.<id>]`: how human text becomes an identifier. The order of the steps is fixed.
    TextTable {
        /// Which texts it is for.
        optional doc: String,
        /// Another pipeline, whose options apply where this one sets none. Examples are not taken over.
        optional extends: NonEmpty,
        /// Abbreviations and their long forms, such as `VaR = "value at risk"`. An abbreviation directly after its long form stays.
        optional abbreviations: Map<AnyName, NonEmpty>,
        /// The language in which numbers up to 10¹⁵ are spelled. Without it, digits stay.
        optional numbers: Numbers,
        /// Symbols and the words for them, such as `"&" = "and"`. All other symbols are removed.
        optional symbols: Map<AnyName, NonEmpty>,
        /// Words that are left out, written as people write them: `für` is found as `fuer` too. They stay in the long forms of abbreviations and in the words for symbols, which the text does not have: with `at`, `VaR` is `value_at_risk`, and `Value at Risk` is `value_risk`.
        optional stop_words: Vec<Spanned<NonEmpty>>,
        /// How many words stay: the first that are not stop words.
        optional words: Count,
        /// The maximum length of a result, in characters. The minimum is what a name by the clock needs, such as `e_20240101_120000`.
        optional max_len: Integer<17, 4000>,
        /// How a longer result is shortened: `"cut"` keeps its beginning; `"vowels"` removes vowels, and cuts if that is not enough. Default: `"cut"`.
        optional shorten: Shorten,
        /// Whether a text that already has the form of a result stays as it is. Default: `false`.
        optional idempotent: bool,
        /// Texts and their results, which `keyward check` compares. The clock of examples stands at 2024-01-01 12:00:00 UTC.
        optional examples: Vec<Spanned<Example>>,
    }
}

words!(Numbers: "`\"de\"` or `\"en\"`", [("de", Numbers::German), ("en", Numbers::English)]);
words!(Shorten: "`\"cut\"` or `\"vowels\"`", [("cut", Shorten::Cut), ("vowels", Shorten::Vowels)]);

/// A text and its result.
#[derive(Debug)]
pub(crate) struct Example {
    text: Spanned<String>,
    result: Spanned<String>,
}

impl Form for Example {
    fn what() -> String {
        "a text and its result such as `[\"Größe & Wert\", \"groesse_wert\"]`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Kind::Array(items) = &item.kind else { return decoder.mismatch(item) };
        let [text, result] = items.as_slice() else { return decoder.mismatch(item) };
        let text = String::spanned(text, decoder)?;
        Some(Example { text, result: String::spanned(result, decoder)? })
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 })
    }
}

/// The pipelines, each with what it takes from others.
pub(crate) fn lower(entries: &[Entry], errors: &mut Vec<Diagnostic>) -> Vec<TextPipeline> {
    let by_name: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(at, (name, _))| (name.as_str(), at)).collect();
    let mut circles = HashSet::new();
    let mut pipelines = Vec::with_capacity(entries.len());
    for at in 0..entries.len() {
        let chain = chain(at, entries, &by_name, &mut circles, errors);
        let pipeline = filled(&chain, errors);
        #[cfg(feature = "text")]
        run::check(&pipeline, errors);
        pipelines.push(pipeline);
    }
    pipelines
}

type Entry = (Spanned<String>, Spanned<TextTable>);

/// A pipeline and those it extends, the nearest first.
fn chain<'e>(
    start: usize,
    entries: &'e [Entry],
    by_name: &HashMap<&str, usize>,
    circles: &mut HashSet<usize>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<&'e Entry> {
    let mut chain = vec![start];
    let mut last = start;
    while let Some(extends) = &entries[last].1.extends {
        let name = extends.value.0.as_str();
        let Some(&next) = by_name.get(name) else {
            if last == start {
                let message = format!("there is no text pipeline `{name}`");
                let error = Diagnostic::schema(message, extends.span.clone(), "unknown");
                errors.push(error.help(unknown(name, by_name.keys().copied())));
            }
            break;
        };
        if let Some(first) = chain.iter().position(|at| *at == next) {
            let circle = &chain[first..];
            if !circle.iter().any(|at| circles.contains(at)) {
                let names: Vec<&str> = circle.iter().map(|at| entries[*at].0.as_str()).collect();
                let names = format!("`{}` → `{name}`", names.join("` → `"));
                let message = format!("text pipelines extend each other: {names}");
                errors.push(
                    Diagnostic::schema(message, extends.span.clone(), "closes the circle")
                        .help("remove one `extends`"),
                );
            }
            circles.extend(circle);
            break;
        }
        chain.push(next);
        last = next;
    }
    chain.into_iter().map(|at| &entries[at]).collect()
}

fn unknown<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let near = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
    near.unwrap_or_else(|| format!("declare `[text.{name}]`"))
}

/// The first of a chain, with the options that it does not set.
fn filled(chain: &[&Entry], errors: &mut Vec<Diagnostic>) -> TextPipeline {
    let (name, own) = chain[0];
    let tables = || chain.iter().map(|(_, table)| &table.value);
    let plain = |text: &Spanned<NonEmpty>| Spanned::new(text.value.0.clone(), text.span.clone());
    let pairs = |map: &Spanned<Map<AnyName, NonEmpty>>| -> Vec<_> {
        map.value.entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect()
    };
    let abbreviations = tables().find_map(|table| table.abbreviations.as_ref()).map(pairs);
    let stop_words = tables().find_map(|table| table.stop_words.as_ref());
    let symbols = tables().find_map(|table| table.symbols.as_ref()).map(pairs).unwrap_or_default();
    // Another pipeline's symbols are reported with it.
    let mut ignored = Vec::new();
    let errors = if own.symbols.is_some() { errors } else { &mut ignored };
    TextPipeline {
        name: name.clone(),
        doc: own.doc.clone(),
        extends: own.extends.as_ref().map(plain),
        abbreviations: abbreviations.unwrap_or_default(),
        numbers: tables().find_map(|table| table.numbers.clone()),
        symbols: symbols
            .into_iter()
            .filter_map(|(key, words)| symbol(key, words, errors))
            .collect(),
        stop_words: stop_words.into_iter().flat_map(|list| &list.value).map(plain).collect(),
        words: tables().find_map(|table| table.words.as_ref()).map(number),
        max_len: tables().find_map(|table| table.max_len.as_ref()).map(number),
        shorten: tables().find_map(|table| table.shorten.clone()),
        idempotent: tables().find_map(|table| table.idempotent.as_ref()).is_some_and(|it| it.value),
        examples: own
            .examples
            .iter()
            .flat_map(|list| &list.value)
            .map(|example| (example.value.text.clone(), example.value.result.clone()))
            .collect(),
    }
}

fn number<const MIN: u64, const MAX: u64>(number: &Spanned<Integer<MIN, MAX>>) -> Spanned<u64> {
    Spanned::new(number.value.0, number.span.clone())
}

fn symbol(
    key: Spanned<String>,
    words: Spanned<String>,
    errors: &mut Vec<Diagnostic>,
) -> Option<(Spanned<char>, Spanned<String>)> {
    let mut chars = key.chars();
    if let (Some(symbol), None) = (chars.next(), chars.next()) {
        return Some((Spanned::new(symbol, key.span), words));
    }
    let label = format!("`{}` is not one", *key);
    errors.push(Diagnostic::schema("`symbols` has single characters", key.span, label));
    None
}

/// Reports parameters whose pipeline does not exist, or makes values that they refuse.
pub(crate) fn check_sources<'p>(
    params: impl Iterator<Item = &'p ParamDeclaration>,
    pipelines: &[TextPipeline],
    broken: &[String],
    #[cfg_attr(not(feature = "text"), allow(unused_variables))] separator: char,
    errors: &mut Vec<Diagnostic>,
) {
    let mut seen = HashSet::new();
    for param in params {
        let Some(from) = param.from.as_ref().filter(|from| seen.insert(&from.span)) else {
            continue;
        };
        match pipelines.iter().find(|pipeline| *pipeline.name == **from) {
            None if broken.contains(from) => {}
            None => {
                let known = pipelines.iter().map(|pipeline| pipeline.name.as_str());
                let message = format!("there is no text pipeline `{}`", **from);
                let error = Diagnostic::schema(message, from.span.clone(), "unknown");
                errors.push(error.help(unknown(from, known)));
            }
            #[cfg(feature = "text")]
            Some(pipeline) => run::check_param(param, from, pipeline, separator, errors),
            #[cfg(not(feature = "text"))]
            Some(_) => {}
        }
    }
}

#[cfg(feature = "text")]
mod run {
    //! What needs the pipeline itself.

    use super::{Diagnostic, ParamDeclaration, Spanned, TextPipeline};
    use crate::span::Span;
    use keyward_pattern::{Param, Type, prove};
    use keyward_text::OptionsError;
    use std::time::{Duration, SystemTime};

    /// 2024-01-01 12:00:00 UTC
    const EXAMPLE_TIME: Duration = Duration::from_secs(1_704_110_400);

    /// Reports an option that cannot act, and examples with another result.
    pub(super) fn check(declared: &TextPipeline, errors: &mut Vec<Diagnostic>) {
        let pipeline = match declared.pipeline() {
            Ok(pipeline) => pipeline,
            Err(error) => return report(declared, &error, errors),
        };
        for (text, expected) in &declared.examples {
            let result = pipeline.name(text, SystemTime::UNIX_EPOCH + EXAMPLE_TIME);
            if result == **expected {
                continue;
            }
            let name = declared.name.as_str();
            let message =
                format!("`{name}` makes `{result}` of this text, not `{}`", expected.value);
            errors.push(
                Diagnostic::schema(message, expected.span.clone(), format!("is `{result}`"))
                    .at(text.span.clone(), "the text")
                    .help("correct the example, or the options")
                    .help(format!("`keyward key text {name} TEXT` shows every step")),
            );
        }
    }

    fn report(declared: &TextPipeline, error: &OptionsError, errors: &mut Vec<Diagnostic>) {
        let span = place(declared, error).unwrap_or(&declared.name.span).clone();
        let message = format!("in `[text.{}]`, {error}", declared.name.value);
        // What a pipeline takes from another one is reported there.
        if errors.iter().any(|known| known.labels.first().is_some_and(|label| label.span == span)) {
            return;
        }
        errors.push(Diagnostic::schema(message, span, "cannot act"));
    }

    fn place<'d>(declared: &'d TextPipeline, error: &OptionsError) -> Option<&'d Span> {
        let entry = error.wrong_entry().unwrap_or_default();
        let is_entry = |text: &&Spanned<String>| text.as_str() == entry;
        match error.option() {
            "abbreviations" => {
                let names = declared.abbreviations.iter().map(|(name, _)| name);
                names.rev().find(is_entry).map(|name| &name.span)
            }
            "symbols" => {
                let symbols = declared.symbols.iter().map(|(symbol, _)| symbol);
                symbols.rev().find(|it| entry.starts_with(it.value)).map(|it| &it.span)
            }
            "stop_words" => declared.stop_words.iter().find(is_entry).map(|word| &word.span),
            "shorten" => declared.shorten.as_ref().map(|it| &it.span),
            "words" => declared.words.as_ref().map(|it| &it.span),
            "max_len" => declared.max_len.as_ref().map(|it| &it.span),
            _ => None,
        }
    }

    /// Reports a parameter that refuses a result.
    pub(super) fn check_param(
        param: &ParamDeclaration,
        from: &Spanned<String>,
        declared: &TextPipeline,
        separator: char,
        errors: &mut Vec<Diagnostic>,
    ) {
        // One that is not a pipeline was reported.
        let Ok(pipeline) = declared.pipeline() else { return };
        let results = Param::from(Type::Regex(pipeline.results()));
        let name = param.name.as_str();
        let mut is_length = false;
        let label = match prove::accepts_all(separator, &param.param, &results) {
            Ok(None) => return,
            Ok(Some(witness)) => {
                is_length = witness.len() > keyward_text::Options::MIN_LEN;
                format!("`{witness}` is a result, and not a valid `{name}`")
            }
            // A type that cannot be compiled is reported where it is compiled.
            Err(_)
                if errors
                    .iter()
                    .any(|error| error.labels.iter().any(|at| at.span == param.param.span)) =>
            {
                return;
            }
            Err(error) => format!("cannot be proved: {error}"),
        };
        let message =
            format!("`{name}` does not accept every result of the text pipeline `{}`", from.value);
        let results = pipeline.results();
        let mut error = Diagnostic::schema(message, from.span.clone(), label)
            .help(format!("widen the type of `{name}`: results match `{results}`"));
        if is_length {
            error = error.help(format!("or lower `max_len` of `[text.{}]`", from.value));
        }
        errors.push(error);
    }
}
