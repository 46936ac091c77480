//! How well drafts find the patterns of the applications that the engine may be tuned with.
#![allow(clippy::cast_precision_loss, dead_code, reason = "shares; each test uses some of it")]

#[path = "corpus/apps.rs"]
mod apps;
#[path = "corpus/score.rs"]
mod score;
#[path = "corpus/truth.rs"]
mod truth;

use keyward_infer::{Content, MOST_BYTES, Observed, Options, Sketch, infer, write};
use keyward_rdb::{Element, Key, Reader, Show, Value, Visitor};
use std::path::Path;

/// Reads a snapshot as `keyward infer` does.
#[derive(Default)]
struct Collector {
    sketch: Sketch,
    clock: u64,
    content: Content,
}

impl Visitor for Collector {
    fn key(&mut self, _: &Key<'_>) -> Show {
        self.content = Content::default();
        Show::up_to(MOST_BYTES)
    }

    fn element(&mut self, element: &Element<'_>) {
        self.content.see(element);
    }

    fn value(&mut self, key: &Key<'_>, value: &Value) {
        let fact = key.fact(Some(value));
        if fact.expires_at.is_some_and(|at| at <= self.clock) {
            return;
        }
        let mut observed = Observed::new(fact.db, fact.key, fact.key_type.name());
        observed.ttl = fact.expires_at.map(|at| at.saturating_sub(self.clock));
        observed.length = fact.length;
        observed.content = Some(std::mem::take(&mut self.content).finish());
        self.sketch.observe(observed);
    }
}

fn sketch(path: &Path) -> Sketch {
    let created = Reader::open(path).unwrap().read(&mut ()).unwrap().created_at.unwrap();
    let mut collector = Collector { clock: created * 1000, ..Collector::default() };
    Reader::open(path).unwrap().read(&mut collector).unwrap();
    collector.sketch
}

#[test]
fn applications_that_the_engine_is_tuned_with_are_found_again() {
    let score::Score { coverage, ratio, purity, wholeness } = measure("tune");
    assert!(coverage >= 0.99 && ratio <= 1.2 && purity >= 0.97 && wholeness >= 0.95);
}

#[test]
#[ignore = "only for a release: whoever tunes must not see it"]
fn applications_that_nobody_looked_at_are_found_too() {
    let score::Score { coverage, ratio, purity, wholeness } = measure("held-out");
    assert!(coverage >= 0.99 && ratio <= 1.2 && purity >= 0.97 && wholeness >= 0.95);
}

/// Prints the figures of each application of a set, with its draft if `KEYWARD_SHOW` names it; their mean.
fn measure(set: &str) -> score::Score {
    let wanted = std::env::var("KEYWARD_SHOW").ok();
    let mut scores = Vec::new();
    for app in apps::apps(set).unwrap() {
        let draft = infer(&sketch(&app.snapshot), &Options::default().without_foreign());
        let text = write(&draft, &app.name);
        let scored = score::score(&text, &app.keys().unwrap()).unwrap();
        let score::Score { coverage, ratio, purity, wholeness } = scored.score;
        eprintln!("{:<24}{coverage:.3} {ratio:.2} {purity:.3} {wholeness:.3}", app.name);
        if wanted.as_ref().is_some_and(|wanted| wanted == "all" || *wanted == app.name) {
            eprintln!("{text}");
        }
        scores.push(scored.score);
    }
    let mean = score::Score::average(scores.iter());
    let score::Score { coverage, ratio, purity, wholeness } = mean;
    eprintln!("{:<24}{coverage:.3} {ratio:.2} {purity:.3} {wholeness:.3}", "mean");
    mean
}
