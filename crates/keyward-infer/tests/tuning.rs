//! How well drafts find the patterns of the applications that the engine may be tuned with.
#![allow(clippy::cast_precision_loss, dead_code, reason = "shares; each test uses some of it")]

#[path = "corpus/apps.rs"]
mod apps;
#[path = "corpus/collect.rs"]
mod collect;
#[path = "corpus/score.rs"]
mod score;
#[path = "corpus/truth.rs"]
mod truth;

use collect::sketch;
use keyward_infer::{Options, infer, write};

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
