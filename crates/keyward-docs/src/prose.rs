//! Text for people in which code and links are marked, so that every format can write them safely.

use serde::Serialize;

/// A line of text: words, code and links. In a template, `{{ it | prose }}` writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Prose {
    /// Its spans, in order
    pub spans: Vec<Span>,
}

/// A run of text, code or link in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The text
    pub text: String,
    /// Whether it is code
    pub code: bool,
    /// Where it leads on the page
    pub target: Option<Target>,
    /// Where it leads outside of the page; `http`, `https` or `mailto`
    pub url: Option<String>,
}

/// Something on the page that a link can lead to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Its name
    pub name: String,
    /// Its anchor in Markdown, as GitHub makes it from a heading
    pub anchor: String,
    /// Its id in HTML
    pub id: String,
}

impl Prose {
    /// Text as it is.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Prose::span(text.into(), false)
    }

    /// Code.
    pub(super) fn code(text: impl Into<String>) -> Self {
        Prose::span(text.into(), true)
    }

    /// A link to a definition or an event: its name, as code.
    pub(super) fn link(target: &Target) -> Self {
        let mut prose = Prose::code(&target.name);
        prose.spans[0].target = Some(target.clone());
        prose
    }

    fn span(text: String, code: bool) -> Self {
        Prose { spans: vec![Span { text, code, target: None, url: None }] }
    }

    /// A phrase of [`super::Words`] with its gaps filled: `{0}` by the first of `gaps`, and so on.
    pub(super) fn fill(phrase: &str, gaps: &[Prose]) -> Self {
        let mut prose = Prose::default();
        for (number, part) in phrase.split('`').enumerate() {
            let code = number % 2 == 1;
            let mut rest = part;
            while let Some((before, at, after)) = next_gap(rest) {
                prose.push_text(before, code);
                match gaps.get(at) {
                    Some(gap) if code => prose.push_text(&gap.plain(), true),
                    Some(gap) => prose.push(gap.clone()),
                    None => {}
                }
                rest = after;
            }
            prose.push_text(rest, code);
        }
        prose
    }

    /// The same with plain texts.
    pub(super) fn say(phrase: &str, gaps: &[&str]) -> Self {
        let gaps: Vec<Prose> = gaps.iter().map(|gap| Prose::text(*gap)).collect();
        Prose::fill(phrase, &gaps)
    }

    /// Several after each other, with words between them.
    pub(super) fn join(items: impl IntoIterator<Item = Prose>, between: &str) -> Self {
        let mut prose = Prose::default();
        for (number, item) in items.into_iter().enumerate() {
            if number > 0 {
                prose.push_text(between, false);
            }
            prose.push(item);
        }
        prose
    }

    /// Adds a line to this one.
    pub(super) fn push(&mut self, more: Prose) {
        self.spans.extend(more.spans);
    }

    pub(super) fn push_text(&mut self, text: &str, code: bool) {
        if !text.is_empty() {
            self.push(Prose::span(text.to_owned(), code));
        }
    }

    /// Whether it has no text.
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The words alone.
    pub fn plain(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }
}

/// What stands before the next `{0}`, its number, and what stands after it.
fn next_gap(text: &str) -> Option<(&str, usize, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (number, after) = rest.split_once('}')?;
    Some((before, number.parse().ok()?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_in_any_order_and_in_code() {
        let gaps = [Prose::code("a`b"), Prose::text("{0}")];
        let prose = Prose::fill("{1} of {0}, `x-{0}`", &gaps);
        let parts: Vec<(&str, bool)> =
            prose.spans.iter().map(|span| (span.text.as_str(), span.code)).collect();
        assert_eq!(
            parts,
            [
                ("{0}", false),
                (" of ", false),
                ("a`b", true),
                (", ", false),
                ("x-", true),
                ("a`b", true)
            ]
        );
    }
}
