//! Diagnostics → text that a person reads in a terminal.

use crate::diagnostic::{CONFIG, Diagnostic, Label, SCHEMA};
use crate::model::Severity;
use crate::span::{FileId, Sources};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt::Write;
use std::ops::Range;

/// How diagnostics look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to use ANSI colours; everything is understandable without
    pub color: bool,
    /// The width in columns
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { color: false, width: 100 }
    }
}

/// All diagnostics, one after the other, each with the lines it is about.
///
/// ```
/// use keyward_schema::{Style, read, render};
///
/// let loaded = read("version = 1\n[keyspace]\nnam = \"shop\"\n");
/// let text = render(&loaded.sources, &loaded.schema.unwrap_err(), &Style::default());
/// assert!(text.contains("did you mean `name`?"));
/// ```
pub fn render(sources: &Sources, diagnostics: &[Diagnostic], style: &Style) -> String {
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Unicode).term_width(style.width.max(40));
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&renderer.render(&[group(sources, diagnostic)]));
        text.push_str("\n\n");
    }
    text
}

/// One line for each diagnostic: `keyward.toml:38:7: error[rule]: message`.
pub fn concise(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        if let Some(label) = diagnostic.labels.first() {
            let (line, column) = sources.line_column(&label.span);
            let path = sources.get(label.span.file).path.display();
            let _ = write!(text, "{path}:{line}:{column}: ");
        }
        let level = diagnostic.severity.label();
        let _ = writeln!(text, "{level}[{}]: {}", diagnostic.rule, diagnostic.message);
    }
    text
}

fn group<'a>(sources: &'a Sources, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warn => Level::WARNING,
        Severity::Off => Level::NOTE,
    };
    let title = level.primary_title(&diagnostic.message).id(diagnostic.rule);
    let mut group = Group::with_title(title);
    let mut files: Vec<FileId> = Vec::new();
    for label in &diagnostic.labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    for file in files {
        group = group.element(snippet(sources, file, &diagnostic.labels));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note));
    }
    if ![SCHEMA, CONFIG].contains(&diagnostic.rule) {
        let explain = format!("`keyward explain {}`", diagnostic.rule);
        group = group.element(Level::NOTE.message(explain));
    }
    group
}

/// The labelled lines of one file. Only the lines from the first label to the last are handed on:
/// a large file with many findings would be walked once for each of them.
fn snippet<'a>(
    sources: &'a Sources,
    file: FileId,
    labels: &'a [Label],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let source = sources.get(file);
    let here = || labels.iter().enumerate().filter(move |(_, label)| label.span.file == file);
    let lines =
        || here().flat_map(|(_, label)| [label.span.start, label.span.end.max(label.span.start)]);
    let first = lines().map(|at| source.line_of(at)).min().unwrap_or(0);
    let last = lines().map(|at| source.line_of(at)).max().unwrap_or(first);
    let window = source.line_range(first).start..source.line_range(last).end;
    let text = source.text.get(window.clone()).unwrap_or_default();
    let annotations = here().map(|(index, label)| {
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let range = shifted(label.span.start..label.span.end, &window, text);
        let text = Some(label.text.as_str()).filter(|text| !text.is_empty());
        kind.span(range).label(text)
    });
    Snippet::source(text)
        .line_start(first + 1)
        .path(source.path.display().to_string())
        .annotations(annotations)
}

/// A range of the file in a window of it, on character boundaries.
fn shifted(range: Range<usize>, window: &Range<usize>, text: &str) -> Range<usize> {
    let place = |offset: usize| {
        let mut at = offset.saturating_sub(window.start).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = place(range.start);
    start..place(range.end).max(start)
}
