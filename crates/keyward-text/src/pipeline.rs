//! The steps, in their order.

use crate::abbreviations::Abbreviations;
use crate::fallback::{self, Fallback};
use crate::markdown::{self, LOOK_AHEAD};
use crate::symbols::{self, Symbols};
use crate::words::{self, StopWords};
use crate::{Numbers, Options, OptionsError, Shorten, letters, normal, numbers, shorten};
use std::borrow::Cow;
use std::cell::Cell;
use std::time::SystemTime;

/// How much of a long text is tried first, in bytes: enough for the first four words of most texts.
const FIRST_WINDOW: usize = 64;

/// The largest buffer that a thread keeps from one name to the next, in bytes.
const KEPT: usize = 4096;

thread_local! {
    /// What steps write to, so that a name takes one allocation.
    static BUFFERS: Cell<Course> = Cell::default();
}

/// Turns text into identifiers. The crate's page lists its steps and guarantees.
#[derive(Debug)]
pub struct Pipeline {
    abbreviations: Abbreviations,
    numbers: Option<Numbers>,
    symbols: Symbols,
    stop_words: StopWords,
    words: Option<usize>,
    max_len: Option<usize>,
    shorten: Shorten,
    idempotent: bool,
}

/// What a step made of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The step, as the crate's page names it; `result` where a text stayed as it was.
    pub name: &'static str,
    /// The text after it.
    pub text: String,
}

impl Pipeline {
    /// The pipeline, or the first option that cannot act.
    pub fn new(options: &Options<'_>) -> Result<Self, OptionsError> {
        if options.words == Some(0) {
            return Err(OptionsError::new("words", "at least one word stays"));
        }
        match options.max_len {
            Some(max_len) if max_len < Options::MIN_LEN => {
                let reason = format!(
                    "{max_len} is too short: names by the clock, such as `e_20240101_120000`, need {}",
                    Options::MIN_LEN
                );
                return Err(OptionsError::new("max_len", reason));
            }
            None if options.shorten == Shorten::Vowels => {
                return Err(OptionsError::new("shorten", "it needs `max_len`"));
            }
            _ => {}
        }
        let mut abbreviations = Abbreviations::new(options.abbreviations)?;
        let mut symbols = Symbols::new(options.symbols)?;
        if !options.stop_words.is_empty() {
            (abbreviations, symbols) = (abbreviations.kept(), symbols.kept());
        }
        Ok(Pipeline {
            abbreviations,
            numbers: options.numbers,
            symbols,
            stop_words: StopWords::new(options.stop_words, options.numbers)?,
            words: options.words,
            max_len: options.max_len,
            shorten: options.shorten,
            idempotent: options.idempotent,
        })
    }

    /// The identifier of a text. `now` is part of it only where the text has no name of its own.
    ///
    /// ```
    /// # use keyward_text::{Options, Pipeline};
    /// # use std::time::{Duration, SystemTime};
    /// let pipeline = Pipeline::new(&Options::default())?;
    /// let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_704_110_400);
    /// assert_eq!(pipeline.name("Größe & Wert", noon), "groesse_wert");
    /// assert_eq!(pipeline.name("  ", noon), "empty_content_20240101_120000");
    /// # Ok::<(), keyward_text::OptionsError>(())
    /// ```
    pub fn name(&self, text: &str, now: SystemTime) -> String {
        if self.idempotent && self.is_result(text) {
            return text.to_owned();
        }
        if let Some(fallback) = fallback::before(text) {
            return fallback.name(self.max_len, now);
        }
        let mut size = self.max_len.map_or(0, |max| max.saturating_mul(2)).max(FIRST_WINDOW);
        let mut course = Course { steps: None, ..BUFFERS.take() };
        let name = loop {
            match self.run(&Window::new(text, size), &mut course) {
                Outcome::Name => break course.text.as_str().to_owned(),
                Outcome::Fallback(fallback) => break fallback.name(self.max_len, now),
                Outcome::Undecided => size = size.saturating_mul(4),
            }
        };
        if course.text.capacity().max(course.spare.capacity()) <= KEPT {
            BUFFERS.set(course);
        }
        name
    }

    /// What each step makes of a text. The last one is the result, the same as that of [`Pipeline::name`].
    ///
    /// ```
    /// # use keyward_text::{Options, Pipeline};
    /// # use std::time::SystemTime;
    /// let pipeline = Pipeline::new(&Options::default())?;
    /// for step in pipeline.steps("## Größe & Wert", SystemTime::now()) {
    ///     println!("{:15} {}", step.name, step.text);
    /// }
    /// # Ok::<(), keyward_text::OptionsError>(())
    /// ```
    pub fn steps(&self, text: &str, now: SystemTime) -> Vec<Step> {
        if self.idempotent && self.is_result(text) {
            return vec![Step { name: "result", text: text.to_owned() }];
        }
        let window = Window::whole(text);
        let composed = Step { name: "unicode", text: window.text.clone().into_owned() };
        let mut course = Course { steps: Some(vec![composed]), ..Course::default() };
        let outcome = match fallback::before(text) {
            Some(fallback) => Outcome::Fallback(fallback),
            None => self.run(&window, &mut course),
        };
        if let Outcome::Fallback(fallback) = outcome {
            course.step("fallback", |_, out| out.push_str(&fallback.name(self.max_len, now)));
        }
        course.steps.unwrap_or_default()
    }

    /// A regular expression for every result, and for nothing that cannot be in a key.
    ///
    /// ```
    /// # use keyward_text::{Options, Pipeline};
    /// let options = Options { max_len: Some(30), ..Options::default() };
    /// assert_eq!(Pipeline::new(&options)?.results(), "[a-z][a-z0-9_]{0,28}[a-z0-9]");
    /// # Ok::<(), keyward_text::OptionsError>(())
    /// ```
    pub fn results(&self) -> String {
        let least = self.min_len() - 2;
        let most = self.max_len.map_or_else(String::new, |max| (max - 2).to_string());
        format!("[a-z][a-z0-9_]{{{least},{most}}}[a-z0-9]")
    }

    /// The shortest result: one that is idempotent must not be a short text itself.
    fn min_len(&self) -> usize {
        if self.idempotent { 3 } else { 2 }
    }

    /// Whether the text has the form of a result.
    fn is_result(&self, text: &str) -> bool {
        text.len() >= self.min_len()
            && self.max_len.is_none_or(|max| text.len() <= max)
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
            && !text.ends_with('_')
            && !text.contains("__")
    }

    /// Runs the steps on a window, as far as it decides the name.
    fn run(&self, window: &Window<'_>, course: &mut Course) -> Outcome {
        course.step("markdown", |_, out| {
            markdown::strip(&window.text, window.until, out);
            words::without_marks(out);
        });
        course.step("lower_case", normal::lower_case);
        if !self.abbreviations.is_empty() {
            course.step("abbreviations", |text, out| self.abbreviations.apply(text, out));
        }
        if let Some(language) = self.numbers {
            course.step("numbers", |text, out| numbers::apply(text, language, out));
        }
        course.step("letters", letters::apply);
        if !course.text.contains(|c: char| c.is_ascii_alphanumeric()) {
            return window.or_undecided(Outcome::Fallback(Fallback::SymbolsOnly));
        }
        course.step("symbols", |text, out| self.symbols.apply(text, out));
        course.step("spaces", symbols::spaces);
        course.step("underscores", symbols::underscores);
        if !self.stop_words.is_empty() {
            course.step("stop_words", |text, out| self.stop_words.apply(text, out));
        }
        if let Some(count) = self.words {
            course.step("words", |text, out| words::first(text, count, out));
        }
        if !window.is_whole && !self.is_decided(&course.text) {
            return Outcome::Undecided;
        }
        if let Some(max_len) = self.max_len {
            course.step("limit", |text, out| shorten::apply(text, max_len, self.shorten, out));
        }
        course.step("trim", shorten::trim);
        if course.text.len() < self.min_len() {
            return Outcome::Fallback(Fallback::Short);
        }
        Outcome::Name
    }

    /// Whether more text after these words changes nothing.
    fn is_decided(&self, identifier: &str) -> bool {
        self.words.is_some_and(|count| words::count(identifier) >= count)
            || self.max_len.is_some_and(|max| shorten::is_decided(identifier, max, self.shorten))
    }
}

/// How a run ended.
enum Outcome {
    /// The course's text is the name.
    Name,
    Fallback(Fallback),
    /// More of the text is needed.
    Undecided,
}

/// The beginning of a text.
struct Window<'a> {
    /// Composed, with what is only looked at.
    text: Cow<'a, str>,
    /// Where it ends: before white space, or with the text.
    until: usize,
    is_whole: bool,
}

impl<'a> Window<'a> {
    fn whole(text: &'a str) -> Self {
        let text = normal::compose(text);
        Window { until: text.len(), text, is_whole: true }
    }

    /// At least `size` bytes of the text.
    fn new(text: &'a str, size: usize) -> Self {
        // Composing makes a text shorter, to a third at most.
        let raw = head(text, size.saturating_add(LOOK_AHEAD).saturating_mul(3));
        let is_whole = raw.len() == text.len();
        let text = normal::compose(raw);
        let until = head(&text, size).len();
        let sees_enough = is_whole || text.len() - until >= LOOK_AHEAD;
        Window {
            is_whole: is_whole && until == text.len(),
            until: if sees_enough { until } else { 0 },
            text,
        }
    }

    /// The outcome, unless the rest of the text may change it.
    fn or_undecided(&self, outcome: Outcome) -> Outcome {
        if self.is_whole { outcome } else { Outcome::Undecided }
    }
}

/// The text up to the first white space at or after `size`.
fn head(text: &str, size: usize) -> &str {
    let mut begin = size.min(text.len());
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    let end = text[begin..].find(char::is_whitespace).map_or(text.len(), |at| begin + at);
    &text[..end]
}

/// The text on its way through the steps.
#[derive(Default)]
struct Course {
    text: String,
    /// What the next step writes to.
    spare: String,
    /// What each step made, if that is asked for.
    steps: Option<Vec<Step>>,
}

impl Course {
    fn step(&mut self, name: &'static str, write: impl FnOnce(&str, &mut String)) {
        self.spare.clear();
        write(&self.text, &mut self.spare);
        std::mem::swap(&mut self.text, &mut self.spare);
        if let Some(steps) = &mut self.steps {
            steps.push(Step { name, text: words::readable(&self.text) });
        }
    }
}
