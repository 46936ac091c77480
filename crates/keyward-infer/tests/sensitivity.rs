//! What each number that decides changes: `cargo test -p keyward-infer --test sensitivity -- --ignored --nocapture` prints
//! the table of the book. The numbers vary on the applications that the engine is tuned with, never on the others.
#![allow(clippy::cast_precision_loss, dead_code, reason = "shares; each test uses some of it")]

#[path = "corpus/apps.rs"]
mod apps;
#[path = "corpus/collect.rs"]
mod collect;
#[path = "corpus/score.rs"]
mod score;
#[path = "corpus/truth.rs"]
mod truth;

use keyward_infer::{Options, Sketch, Threshold, Thresholds, infer, write};
use score::Score;

#[test]
#[ignore = "takes minutes, and asserts nothing"]
fn what_each_threshold_changes() {
    let apps: Vec<(Sketch, Vec<apps::Key>)> = apps::apps("tune")
        .unwrap()
        .iter()
        .map(|app| (collect::sketch(&app.snapshot), app.keys().unwrap()))
        .collect();
    let score = |thresholds: Thresholds| {
        let options = Options::default().without_foreign().with_thresholds(thresholds);
        let score = |(sketch, keys): &(Sketch, Vec<apps::Key>)| {
            score::score(&write(&infer(sketch, &options), "app"), keys).unwrap().score
        };
        let scores: Vec<Score> = apps.iter().map(score).collect();
        let Score { coverage, ratio, purity, wholeness } = Score::average(scores.iter());
        format!("{coverage:.3} {ratio:.2} {purity:.3} {wholeness:.3}")
    };
    let usual = score(Thresholds::default());
    println!("usual: {usual}\n");
    println!("| number | is | means | half | 4/5 | 5/4 | double |");
    println!("|---|---|---|---|---|---|---|");
    for threshold in Threshold::all() {
        let value = Thresholds::default().of(threshold);
        let cell = |factor: f64| {
            let most = if value < 1.0 { 1.0 } else { f64::MAX };
            let scored = score(Thresholds::default().with(threshold, (value * factor).min(most)));
            if scored == usual { "·".to_owned() } else { scored }
        };
        let cells = [0.5, 0.8, 1.25, 2.0].map(cell).join(" | ");
        println!("| `{}` | {value} | {} | {cells} |", threshold.name(), threshold.about());
    }
}
