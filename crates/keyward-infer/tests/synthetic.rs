//! Keyspaces that were made up, each with the patterns that are true of it, and how well a draft finds them.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers")]

mod measure;
mod pretend;

use keyward_infer::{Options, infer, write};
use measure::measure;
use pretend::{KEYSPACES, Keyspace};

/// The bounds that are asked for of keyspaces that nobody has seen.
#[test]
fn made_up_keyspaces_are_found_again() {
    let mut lines = Vec::new();
    let mut sums = [0.0; 4];
    for (name, text) in KEYSPACES {
        let keyspace = Keyspace::parse(text, 1);
        let draft = infer(&keyspace.sketch(), &Options::default().without_foreign());
        let written = write(&draft, name);
        let score = measure(&written, &keyspace.keys);
        if std::env::var_os("KEYWARD_SHOW").is_some() {
            eprintln!("== {name}\n{written}");
        }
        lines.push(format!("{name:<12} {score}"));
        for (sum, value) in sums.iter_mut().zip(score.values()) {
            *sum += value / KEYSPACES.len() as f64;
        }
    }
    let [coverage, ratio, purity, wholeness] = sums;
    eprintln!("{}", lines.join("\n"));
    eprintln!("mean         {coverage:.3} {ratio:.2} {purity:.3} {wholeness:.3}");
    assert!(coverage >= 0.99 && ratio <= 1.2 && purity >= 0.97 && wholeness >= 0.95);
}
