//! The reference documentation of a keyspace: one Markdown file and one self-contained HTML page.
//!
//! A schema becomes a [`Page`]: plain data whose texts are complete, in one of four languages
//! ([`Words`]). Templates place them. Users may replace the templates, so everything that a template
//! can use is public and documented here.
//!
//! ```
//! use keyward_docs::{Format, Locale, Options, generate};
//!
//! let loaded = keyward_schema::read("version = 1\n\
//!     [keyspace]\nname = \"shop\"\nprefix = \"shop:\"\n\
//!     [keys.cart]\npattern = \"cart:{user_id:uint}\"\nvalue = \"json\"\nttl = \"2d\"\n");
//! let schema = loaded.schema.expect("a schema without errors");
//! let options = Options { locale: Locale::De, ..Options::default() };
//! let files = generate(&schema, &options)?;
//! let markdown = files.get("keyspace.md").unwrap();
//! assert!(markdown.contains("`shop:cart:{user_id}`") && markdown.contains("2 Tage"));
//! # Ok::<(), keyward_codegen::TemplateError>(())
//! ```
//!
//! # Templates
//!
//! Templates are Jinja templates, rendered by [minijinja](https://docs.rs/minijinja). `keyspace.md` and
//! `index.html` get a [`Page`]; `index.html` includes `content.html`, which shows definitions with `card.html`, and
//! `style.css` and `script.js`, which include `base.css` and `page.js`: what all pages of Keyward share. A schema's
//! texts may contain anything, so a template writes them through a filter:
//!
//! | filter | for | writes |
//! |---|---|---|
//! | `prose` | [`Prose`], a phrase of [`Words`] | a line with code and links |
//! | `doc` | [`Doc`] | paragraphs and lists |
//! | `code` | a string | code |
//! | `text` | a string | the text itself |
//! | `fence("sh")` | a string | a block of code |
//!
//! Each filter escapes for the template's format: HTML if its name ends in `.html`, otherwise Markdown
//! that is safe inside a table. `{{ debug() }}` prints everything that a template can use.
#![deny(missing_docs)]

mod anchors;
mod checklist;
mod context;
mod doc;
mod escape;
mod events;
mod filters;
mod history;
mod keys;
mod layout;
mod numbers;
mod overview;
pub mod page;
mod prose;
mod relations;
mod roles;
mod sample;
mod server;
mod texts;
mod ttl;
mod values;
mod words;

pub use doc::{Block, Doc};
pub use filters::add as add_filters;
pub use page::Page;
pub use prose::{Prose, Span, Target};
pub use words::{Locale, Words};

use context::Context;
use keyward_codegen::{Files, TemplateError, Templates};
use keyward_schema::Schema;
use std::path::Path;

/// A template with macros: `card(definition, words)` shows a definition of a [`Page`]. It needs [`add_filters`].
pub const CARD: &str = include_str!("../templates/card.html.j2");

/// The template that shows a whole [`Page`], without a frame around it. It imports `card.html`.
pub const CONTENT: &str = include_str!("../templates/content.html.j2");

/// The built-in templates, by name.
pub const TEMPLATES: [(&str, &str); 8] = [
    ("base.css", keyward_page::BASE),
    ("card.html", CARD),
    ("content.html", CONTENT),
    ("index.html", include_str!("../templates/index.html.j2")),
    ("keyspace.md", include_str!("../templates/keyspace.md.j2")),
    ("page.js", keyward_page::SCRIPT),
    ("script.js", include_str!("../templates/script.js.j2")),
    ("style.css", include_str!("../templates/style.css.j2")),
];

/// A form of the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `keyspace.md`, for a repository
    Markdown,
    /// `index.html`, one file that needs nothing else
    Html,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 2] = [Format::Markdown, Format::Html];

    /// The file, and the template that it is made from.
    pub fn file(self) -> &'static str {
        match self {
            Format::Markdown => "keyspace.md",
            Format::Html => "index.html",
        }
    }
}

/// Options of [`generate`].
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The language
    pub locale: Locale,
    /// The forms
    pub formats: &'a [Format],
    /// A folder with templates that replace the built-in ones
    pub templates: Option<&'a Path>,
    /// The definitions to show, by their numbers in the schema; all of them if not given
    pub selected: Option<&'a [usize]>,
    /// How the selection is described to the reader
    pub selection: Option<&'a str>,
    /// The definitions with the prefix filled in, if it is given
    pub bound: Option<&'a keyward_pattern::Keyspace>,
    /// The name of the schema's file, for the reader
    pub source: &'a str,
    /// The command that writes the same again, for the reader
    pub command: &'a str,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            locale: Locale::En,
            formats: &Format::ALL,
            templates: None,
            selected: None,
            selection: None,
            bound: None,
            source: "keyward.toml",
            command: "keyward docs",
        }
    }
}

/// The documentation of a keyspace. The same schema and options give the same bytes.
pub fn generate(schema: &Schema, options: &Options<'_>) -> Result<Files, TemplateError> {
    let mut templates = Templates::new(&TEMPLATES, options.templates)?;
    filters::add(templates.environment());
    let page = Page::new(schema, options);
    let mut files = Files::new("docs");
    for format in options.formats {
        files.add(format.file(), templates.render(format.file(), &page)?);
    }
    Ok(files)
}

/// Who wrote a page, in lines that fit into a comment.
fn notice(words: &Words, options: &Options<'_>) -> Vec<String> {
    let generated = Prose::fill(words.generated, &[Prose::text(options.source)]).plain();
    [generated.as_str(), words.do_not_edit, options.command]
        .map(|line| escape::visible(line).replace('>', "›"))
        .to_vec()
}

impl Page {
    /// Makes every text of the page.
    pub fn new(schema: &Schema, options: &Options<'_>) -> Self {
        let words = options.locale.words();
        let keyspace = options.bound.unwrap_or(&schema.compiled);
        let selected: Vec<usize> =
            options.selected.map_or_else(|| (0..schema.keys.len()).collect(), <[usize]>::to_vec);
        let names: Vec<&str> =
            selected.iter().map(|&number| schema.keys[number].name.as_str()).collect();
        let events: Vec<usize> = (0..schema.events.len())
            .filter(|&number| {
                let mut calls = schema.events[number].invalidates.iter();
                options.selected.is_none()
                    || calls.any(|call| names.contains(&call.definition.as_str()))
            })
            .collect();
        let context = Context::new(schema, keyspace, words, selected, &events);
        let (ttls, scale) = context.ttl_table();
        Page {
            words,
            title: context.anchors.title.clone(),
            notice: notice(words, options),
            generated: words.sentences([
                Prose::fill(words.generated, &[Prose::text(options.source)]),
                Prose::fill(words.regenerate, &[Prose::code(options.command)]),
            ]),
            command: options.command.to_owned(),
            only: options.selection.map(|text| Prose::fill(words.only, &[Prose::code(text)])),
            keyspace: context.keyspace(),
            sections: context.anchors.sections.clone(),
            groups: context.groups(),
            lifecycles: context.lifecycles(),
            owners: context.owners(),
            ttls,
            scale,
            events: context.events(),
            operations: context.operations(),
            server: context.server(),
            layout: context.layout(),
            texts: context.texts(),
            migrations: context.migrations(),
            foreign: context.foreign(),
            checklist: context.checklist(),
            accepted: context.accepted(),
        }
    }
}
