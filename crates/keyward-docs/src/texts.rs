//! How human text becomes an identifier, step by step.

use super::context::{Context, doc};
use super::page::{Text, TextExample};
use super::prose::Prose;
use keyward_schema::model::{Numbers, Shorten, TextPipeline};

impl Context<'_> {
    /// `[text]`, as far as parameters on the page use it.
    pub(super) fn texts(&self) -> Vec<Text> {
        let text = |(at, target): &(usize, super::Target)| {
            let pipeline = &self.schema.texts[*at];
            let examples = pipeline.examples.iter().map(|(text, result)| TextExample {
                text: text.value.clone(),
                result: result.value.clone(),
            });
            Text {
                target: target.clone(),
                doc: doc(pipeline.doc.as_ref()),
                for_params: self.taken_by(pipeline),
                steps: self.steps(pipeline),
                examples: examples.collect(),
            }
        };
        self.anchors.texts.iter().map(text).collect()
    }

    /// A pipeline by its name, as a link.
    pub(super) fn pipeline(&self, name: &str) -> Prose {
        let found = self.anchors.texts.iter().find(|(at, _)| *self.schema.texts[*at].name == name);
        found.map_or_else(|| Prose::code(name), |(_, target)| Prose::link(target))
    }

    /// The parameters that take its results, each with its definition.
    fn taken_by(&self, pipeline: &TextPipeline) -> Prose {
        let mut taken = Vec::new();
        for definition in self.shown() {
            let takes = |from: &str| from == *pipeline.name;
            let params = definition.params.iter();
            for param in params.filter(|it| it.from.as_ref().is_some_and(|from| takes(from))) {
                let gaps = [Prose::code(&param.name.value), self.definition(&definition.name)];
                taken.push(Prose::fill(self.words.value_of, &gaps));
            }
        }
        Prose::fill(self.words.text_for, &[self.words.listed(taken)])
    }

    fn steps(&self, pipeline: &TextPipeline) -> Vec<Prose> {
        let words = self.words;
        let plain = |phrase: &str| Prose::fill(phrase, &[]);
        let pair = |short: String, long: &str| {
            let mut pair = Prose::code(short);
            pair.push_text(" → ", false);
            pair.push_text(long, true);
            pair
        };
        let mut steps =
            vec![plain(words.text_unicode), plain(words.text_markdown), plain(words.text_lower)];
        if !pipeline.abbreviations.is_empty() {
            let all = pipeline.abbreviations.iter();
            let all = all.map(|(short, long)| pair(short.value.clone(), long));
            steps.push(Prose::fill(words.text_abbreviations, &[words.listed(all)]));
        }
        if let Some(language) = &pipeline.numbers {
            steps.push(plain(match language.value {
                Numbers::German => words.text_numbers_de,
                Numbers::English => words.text_numbers_en,
            }));
        }
        steps.push(plain(words.text_letters));
        if pipeline.symbols.is_empty() {
            steps.push(plain(words.text_no_symbols));
        } else {
            let all = pipeline.symbols.iter();
            let all = all.map(|(symbol, spoken)| pair(symbol.value.to_string(), spoken));
            steps.push(Prose::fill(words.text_symbols, &[words.listed(all)]));
        }
        steps.push(plain(words.text_spaces));
        if !pipeline.stop_words.is_empty() {
            let all = pipeline.stop_words.iter().map(|word| Prose::code(&word.value));
            steps.push(Prose::fill(words.text_stop_words, &[words.listed(all)]));
        }
        if let Some(count) = &pipeline.words {
            steps.push(Prose::say(words.text_words, &[&words.number(count.value)]));
        }
        if let Some(max) = &pipeline.max_len {
            let phrase = match pipeline.shorten.as_ref().map(|shorten| shorten.value) {
                Some(Shorten::Vowels) => words.text_vowels,
                Some(Shorten::Cut) | None => words.text_cut,
            };
            steps.push(Prose::say(phrase, &[&words.number(max.value)]));
        }
        steps.push(plain(words.text_trim));
        let mut fallback = vec![plain(words.text_fallback)];
        fallback.extend(pipeline.max_len.as_ref().map(|_| plain(words.text_fallback_limit)));
        steps.push(words.sentences(fallback));
        if pipeline.idempotent {
            steps.push(plain(words.text_idempotent));
        }
        steps
    }
}
