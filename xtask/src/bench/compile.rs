//! What users compile: an application of three lines from nothing, and what 200 definitions add to a crate.
//!
//! CPU seconds count, not seconds: they hold on a machine that does other things as well.

use super::Table;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};

/// Definitions in the schema whose compilation is measured.
const DEFINITIONS: usize = 200;
/// How often it is compiled.
const BUILDS: usize = 5;
/// The kernel counts CPU time in hundredths of a second.
const TICKS: f64 = 100.0;

/// The three lines; without the macro there are two.
const APPLICATION: &str = "#[cfg(feature = \"on\")]\nkeyward::keyspace!(\"keyward.toml\");\n\
                           fn main() { println!(\"{}\", keyward::Uuid::nil()); }\n";

pub(super) fn run(table: &mut Table) -> Result<()> {
    for features in ["", "macros", "store"] {
        clean(table, features)?;
    }
    expansion(table)
}

/// Compiles an application and all it depends on.
fn clean(table: &mut Table, features: &str) -> Result<()> {
    let folder = application(&format!("clean-{features}"), features, &schema(1))?;
    cargo(&folder, ["fetch", "--quiet"])?;
    let target = folder.join("target");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    let (start, before) = (Instant::now(), cpu()?);
    let on = if features.contains("macros") { "on" } else { "" };
    cargo(&folder, ["build", "--quiet", "--offline", "--features", on])?;
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu()? - before);
    table.row(
        &format!(
            "clean debug build, {}",
            if features.is_empty() { "no features" } else { features }
        ),
        format!("{cpu:.1} CPU s"),
        format!("{seconds:.1} s"),
        format!("{} crates", crates(&folder)?),
    );
    Ok(())
}

/// Compiles a crate with and without the macro, its dependencies being there already.
fn expansion(table: &mut Table) -> Result<()> {
    let folder = application("expansion", "macros,json", &schema(DEFINITIONS))?;
    let mut best = [f64::MAX; 2];
    for round in 0..=BUILDS {
        for (best, on) in best.iter_mut().zip(["", "on"]) {
            fs::File::open(folder.join("src/main.rs"))?.set_modified(SystemTime::now())?;
            let before = cpu()?;
            cargo(&folder, ["check", "--quiet", "--offline", "--features", on])?;
            // The first round compiles what it depends on.
            if round > 0 {
                *best = best.min(cpu()? - before);
            }
        }
    }
    let [without, with] = best;
    let added = with - without;
    table.row(
        &format!("compiling {DEFINITIONS} definitions"),
        format!("{with:.2} CPU s"),
        format!("no macro {without:.2} CPU s"),
        format!("+{added:.2} s (below 1 s){}", if added < 1.0 { "" } else { "  MISSED" }),
    );
    Ok(())
}

/// Writes an application with these features of the library.
fn application(name: &str, features: &str, schema: &str) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has a parent")?;
    let folder = root.join("target/bench-compile").join(name);
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("keyward.toml"), schema)?;
    fs::write(folder.join("src/main.rs"), APPLICATION)?;
    let features: Vec<String> =
        features.split(',').filter(|it| !it.is_empty()).map(|it| format!("'{it}'")).collect();
    fs::write(
        folder.join("Cargo.toml"),
        format!(
            "[package]\nname = \"application\"\nedition = \"2024\"\n[workspace]\n[features]\non = []\n\
             [dependencies.keyward]\npath = '{}'\ndefault-features = false\nfeatures = [{}]\n",
            root.join("crates/keyward").display(),
            features.join(", ")
        ),
    )?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(folder)
}

fn cargo(folder: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(folder);
    command.env("CARGO_INCREMENTAL", "0").env("CARGO_TARGET_DIR", "target");
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the application does not compile");
    Ok(String::from_utf8(output.stdout)?)
}

/// How many crates an application compiles besides itself.
fn crates(folder: &Path) -> Result<usize> {
    let tree = cargo(folder, ["tree", "--prefix", "none", "--edges", "normal,build"])?;
    let crates: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    Ok(crates.len() - 1)
}

/// The CPU seconds of all programs that have been run, and of those that they ran.
fn cpu() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").context("CPU time is read on Linux only")?;
    // The program's name, in parentheses, may hold blanks.
    let (_, numbers) = stat.rsplit_once(") ").context("/proc/self/stat has a name")?;
    let ticks = numbers.split(' ').skip(13).take(2).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / TICKS)
}

/// A schema as large as they come.
fn schema(definitions: usize) -> String {
    let mut text = String::from(
        "version = 1\n[keyspace]\nname = \"big\"\nprefix = \"big:\"\n[params]\nuser_id = \"uuid\"\n\
         folder_id = \"uuid\"\ncount = \"uint\"\nlocale = \"locale\"\nregion = \"word\"\n",
    );
    let areas = ["user", "order", "cart", "session", "folder", "file", "perm", "quota", "risk"];
    let params = ["{user_id}", "{folder_id}:{user_id}", "{count}:{region}", "{locale}"];
    for number in 0..definitions {
        let area = areas[number % areas.len()];
        let _ = write!(
            text,
            "[keys.{area}_part{number}]\ndoc = \"Something about a {area}\"\npattern = \
             \"{area}{}:{}:part{number}\"\nttl = \"{}m\"\n{}\n",
            number / areas.len(),
            params[number % params.len()],
            number % 50 + 1,
            if number % 4 == 0 {
                "fields = { name = \"text\", size = \"uint\", mime = \"text?\" }"
            } else {
                "value = { json = \"Thing\" }"
            }
        );
    }
    text
}
