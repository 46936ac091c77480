//! Speed, as ratios against a named peer in the same run: `cargo xtask bench [NAME…]`.
//!
//! Machines are noisy, so each contestant runs several times in turn with the others and the best
//! of its runs counts; a ratio of two bests moves far less than either.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "measurements, and small numbers"
)]

mod audit;
mod breaking;
mod build;
mod classify;
mod compile;
mod corpus;
mod generated;
mod infer;
mod invalidate;
mod library;
mod live;
mod mix;
mod pipe;
mod plan;
mod queue;
mod roles;
mod rust;
mod serve;
mod store;
mod text;
mod watch;

use anyhow::{Context, Result, bail};
use std::time::{Duration, Instant};

/// How often each contestant runs.
const ROUNDS: usize = 15;

/// Measures one thing and adds its lines to the table.
type Bench = fn(&mut Table) -> Result<()>;

/// Runs the named benches, or all.
pub(crate) fn run(names: &[&str]) -> Result<()> {
    if let ["--jobs", args @ ..] = names {
        return queue::client(args);
    }
    // What the compiler or another program takes does not depend on how this one was compiled.
    if cfg!(debug_assertions) && names != ["compile"] && names != ["serve"] {
        return again_in_release(names);
    }
    let benches: &[(&str, Bench)] = &[
        ("classify", classify::run),
        ("build", build::run),
        ("pipe", pipe::run),
        ("text", text::run),
        ("audit", audit::run),
        ("infer", infer::run),
        ("breaking", breaking::run),
        ("rust", rust::run),
        ("compile", compile::run),
        ("store", store::run),
        ("invalidate", invalidate::run),
        ("plan", plan::run),
        ("plan-scans", plan::scans),
        ("roles", roles::run),
        ("queue", queue::run),
        ("library", library::run),
        ("typescript", generated::typescript),
        ("python", generated::python),
        ("java", generated::java),
        ("go", generated::go),
        ("live", live::run),
        ("watch", watch::run),
        ("serve", serve::run),
    ];
    if let Some(unknown) = names.iter().find(|name| benches.iter().all(|(bench, _)| bench != *name))
    {
        let known: Vec<&str> = benches.iter().map(|(name, _)| *name).collect();
        bail!("no bench `{unknown}`; there are {}", known.join(", "));
    }
    let mut table = Table::default();
    for (name, bench) in benches {
        if names.is_empty() || names.contains(name) {
            eprintln!("{name} …");
            bench(&mut table).with_context(|| format!("bench {name}"))?;
        }
    }
    table.print();
    Ok(())
}

/// `cargo xtask` builds without optimisation; speed is measured with it.
fn again_in_release(names: &[&str]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = std::process::Command::new(cargo)
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"])
        .args(names)
        .status()?;
    std::process::exit(status.code().unwrap_or(1));
}

/// The best time of each contestant, who run in turn. What they return is kept from the optimiser.
fn compete<const N: usize>(contestants: [&mut dyn FnMut() -> usize; N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    let mut contestants = contestants;
    for _ in 0..ROUNDS {
        for (contestant, best) in contestants.iter_mut().zip(&mut best) {
            let start = Instant::now();
            std::hint::black_box(contestant());
            *best = (*best).min(start.elapsed());
        }
    }
    best
}

/// What was measured, printed at the end.
#[derive(Default)]
struct Table {
    rows: Vec<[String; 4]>,
}

impl Table {
    /// A line: what, how it did, against whom, and the ratio with the bound it must keep.
    fn row(&mut self, what: &str, measured: String, against: String, verdict: String) {
        self.rows.push([what.to_owned(), measured, against, verdict]);
    }

    fn print(&self) {
        let title = ["what", "keyward", "against", "ratio"].map(str::to_owned);
        let rows = || std::iter::once(&title).chain(&self.rows);
        let mut widths = [0; 4];
        for row in rows() {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in rows() {
            let cells: Vec<String> =
                row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            println!("{}", cells.join("  ").trim_end());
        }
    }
}

/// How many keys a keyspace has that is measured on.
fn key_count() -> Result<u64> {
    match std::env::var("KEYWARD_BENCH_KEYS") {
        Ok(keys) => keys.parse().context("KEYWARD_BENCH_KEYS is a number"),
        Err(_) => Ok(2_000_000),
    }
}

/// `0.87× (at most 1.00×)`, marked where it is not kept.
fn at_most(ratio: f64, bound: f64) -> String {
    let mark = if ratio <= bound { "" } else { "  MISSED" };
    format!("{ratio:.2}× (at most {bound:.2}×){mark}")
}

/// `3.4× (at least 2.5×)`, marked where it is not kept.
fn at_least(ratio: f64, bound: f64) -> String {
    let mark = if ratio >= bound { "" } else { "  MISSED" };
    format!("{ratio:.2}× (at least {bound:.2}×){mark}")
}

/// Nanoseconds for one of `count`.
fn each(total: Duration, count: usize) -> f64 {
    total.as_secs_f64() * 1e9 / count as f64
}
