//! What the pages of Keyward share, so that they have one look: the HTML report of an audit, the reference
//! documentation and the pages of `keyward serve`.
//!
//! | part | for |
//! |---|---|
//! | [`BASE`] | colours, type, side bar, tables, badges and patterns: every page |
//! | [`PARTS`] | numbers, treemap, charts, findings and filters: pages about an audit |
//! | [`SCRIPT`] | theme, search key, sorting, folded menu |
//! | [`environment`] | templates in which everything is escaped, with the macros of `parts.html` |
//! | [`Treemap`], [`Strip`], [`Column`], [`LineChart`] | pictures as numbers; the macros draw them as SVG |
//! | [`prose()`], [`tokens`] | texts with code in them; patterns |
//!
//! Pictures are drawn before they are sent, so that they need no script, and nothing in them has a style attribute
//! or an event handler, so that a strict Content-Security-Policy holds.
//!
//! ```
//! let mut pages = keyward_page::environment();
//! let page = r#"{% from "parts.html" import spans %}<p>{{ spans(text) }}</p>"#;
//! pages.add_template("page.html", page)?;
//! let text = keyward_page::prose("`<b>` is not `b`");
//! let html = pages.get_template("page.html")?.render(minijinja::context! { text })?;
//! assert_eq!(html, "<p><code>&lt;b&gt;</code> is not <code>b</code></p>");
//! # Ok::<(), minijinja::Error>(())
//! ```
#![deny(missing_docs)]

mod chart;
mod environment;
mod line;
mod prose;
mod share;
mod text;
mod treemap;

pub use chart::{Band, Column, Strip, columns, per_cent};
pub use environment::{environment, escape};
pub use line::{Beside, LineChart, Mark, Point, Scale};
pub use prose::{Span, Token, prose, tokens};
pub use share::{percent, share};
pub use text::{cut, width};
pub use treemap::{Area, Treemap};

/// The style of every page.
pub const BASE: &str = include_str!("../assets/base.css");

/// The style of pages about an audit, after [`BASE`].
pub const PARTS: &str = include_str!("../assets/parts.css");

/// The script of every page.
pub const SCRIPT: &str = include_str!("../assets/page.js");

/// The script of pages with texts to be copied, after [`SCRIPT`]: what has `data-copy` gets a button. A page to which
/// such texts are added later dispatches `keyward-fresh` to its document.
pub const COPY: &str = include_str!("../assets/copy.js");
