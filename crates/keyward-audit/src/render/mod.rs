//! A report for whoever reads it: a person at a terminal, a colleague with a browser, a program.
//!
//! Everything here is made from a [`Report`](crate::Report) alone; nothing is read and nothing is
//! written. A report may come from anywhere, so nothing that it says is obeyed: control characters are
//! spelt out on a terminal, and everything is escaped in HTML.
//!
//! | form | for |
//! |---|---|
//! | [`terminal`] | people: `keyward audit`, `keyward report show` |
//! | [`concise`] | logs: one line a finding |
//! | [`html`] | people: one file that needs nothing else |
//! | [`github`] | GitHub Actions: annotations |
//! | [`sarif`] | code scanning: SARIF 2.1.0 |
//! | [`difference`] | people: what has changed between two reports |

mod concise;
mod difference;
mod html;
mod ink;
mod machine;
mod queues;
mod spark;
mod subject;
mod table;
mod terminal;
mod words;

pub use concise::concise;
pub use difference::difference;
pub use html::{Links, Page, html};
pub use machine::{github, sarif};
pub use queues::{dead_letters, queue_stats, queued_jobs};
pub use terminal::{Shown, summary, terminal};
