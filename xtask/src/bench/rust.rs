//! Generated Rust: building keys against `format!`, and what the macro costs when a crate is compiled.

use super::{Table, at_most, compete, each};
use anyhow::{Context, Result, ensure};
use keyward::Uuid;
use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

keyward::keyspace!("../examples/xeuz-cloud/keyward.toml");
keyward::keyspace!("../examples/binary-options/keyward.toml");

const COUNT: usize = 100_000;
/// Definitions in the schema whose compilation is measured.
const DEFINITIONS: usize = 200;
/// How often it is compiled.
const BUILDS: usize = 5;

pub(super) fn run(table: &mut Table) -> Result<()> {
    keys(table)?;
    expansion(table)
}

fn keys(table: &mut Table) -> Result<()> {
    use binary_options::values;

    let ids: Vec<Uuid> =
        (0..COUNT as u128).map(|n| Uuid::from_u128(n * 0x9e37_79b9_7f4a_7c15_f39c_c060)).collect();
    let listings: Vec<_> =
        ids.iter().map(|&folder_id| xeuz_cloud::keys::FolderListing { folder_id }).collect();
    compare(
        table,
        "generated Rust, a uuid",
        &mut || listings.iter().map(|key| black_box(key.key()).len()).sum(),
        &mut || ids.iter().map(|id| black_box(format!("xc:folder:{id}:listing")).len()).sum(),
    );
    let permissions: Vec<_> = ids
        .iter()
        .zip(ids.iter().rev())
        .map(|(&folder_id, &user_id)| xeuz_cloud::keys::Permission { folder_id, user_id })
        .collect();
    compare(
        table,
        "generated Rust, two uuids",
        &mut || permissions.iter().map(|key| black_box(key.key()).len()).sum(),
        &mut || {
            let pairs = ids.iter().zip(ids.iter().rev());
            pairs.map(|(a, b)| black_box(format!("xc:perm:{a}:{b}")).len()).sum()
        },
    );
    let profiles: Vec<_> =
        (0..COUNT as u64).map(|n| binary_options::keys::UserProfile { user_id: n * 977 }).collect();
    compare(
        table,
        "generated Rust, a number",
        &mut || profiles.iter().map(|key| black_box(key.key()).len()).sum(),
        &mut || {
            let ids = profiles.iter().map(|key| key.user_id);
            ids.map(|id| black_box(format!("bo:user:profile:cache:{id}")).len()).sum()
        },
    );
    let symbols: Vec<String> = (0..COUNT).map(|n| format!("BTC{n}")).collect();
    let period = values::Period::new(black_box("15m"))?;
    let klines: Vec<_> = symbols
        .iter()
        .map(|symbol| {
            let symbol = values::Symbol::new(symbol)?;
            Ok(binary_options::keys::MarketKline { symbol, period: period.clone() })
        })
        .collect::<Result<_>>()?;
    let format = |symbol: &str| {
        black_box(format!("bo:market:kline:cache:{symbol}:{}", period.as_str())).len()
    };
    compare(
        table,
        "generated Rust, two texts",
        &mut || klines.iter().map(|key| black_box(key.key()).len()).sum(),
        &mut || symbols.iter().map(|symbol| format(symbol)).sum(),
    );
    // What it costs to check a text, besides.
    let [checked, format] = compete([
        &mut || {
            let symbols = symbols.iter().filter_map(|symbol| values::Symbol::new(symbol).ok());
            let key = |symbol| binary_options::keys::MarketKline { symbol, period: period.clone() };
            symbols.map(|symbol| black_box(key(symbol).key()).len()).sum()
        },
        &mut || symbols.iter().map(|symbol| format(symbol)).sum(),
    ])
    .map(|best| each(best, COUNT));
    table.row(
        "generated Rust, checking a text and building",
        format!("{checked:.0} ns"),
        format!("format! {format:.0} ns"),
        format!("{:.2}×", checked / format),
    );
    Ok(())
}

fn compare(
    table: &mut Table,
    what: &str,
    keyward: &mut dyn FnMut() -> usize,
    format: &mut dyn FnMut() -> usize,
) {
    let [keyward, format] = compete([keyward, format]).map(|best| each(best, COUNT));
    table.row(
        what,
        format!("{keyward:.0} ns"),
        format!("format! {format:.0} ns"),
        at_most(keyward / format, 1.0),
    );
}

/// Compiles a crate with and without the macro, its dependencies being there already.
fn expansion(table: &mut Table) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has a parent")?;
    let folder = root.join("target/bench-expansion");
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("keyward.toml"), schema())?;
    fs::write(
        folder.join("src/lib.rs"),
        "#[cfg(feature = \"on\")]\nkeyward::keyspace!(\"keyward.toml\");\npub use keyward::Uuid;\n",
    )?;
    fs::write(
        folder.join("Cargo.toml"),
        format!(
            "[package]\nname = \"expansion\"\nedition = \"2024\"\n[workspace]\n[features]\non = []\n\
             [dependencies]\nkeyward = {{ path = '{}' }}\n",
            root.join("crates/keyward").display()
        ),
    )?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    build(&folder, true)?;
    build(&folder, false)?;
    let mut best = [Duration::MAX; 2];
    for _ in 0..BUILDS {
        for (best, on) in best.iter_mut().zip([false, true]) {
            *best = (*best).min(build(&folder, on)?);
        }
    }
    let [without, with] = best.map(|best| best.as_secs_f64());
    table.row(
        &format!("compiling {DEFINITIONS} definitions"),
        format!("{with:.2} s"),
        format!("no macro {without:.2} s"),
        format!(
            "+{:.2} s (below 1 s){}",
            with - without,
            if with - without < 1.0 { "" } else { "  MISSED" }
        ),
    );
    Ok(())
}

/// How long the crate itself takes.
fn build(folder: &Path, on: bool) -> Result<Duration> {
    let lib = fs::File::open(folder.join("src/lib.rs"))?;
    lib.set_modified(std::time::SystemTime::now())?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--offline", "--target-dir", "target"]);
    command.current_dir(folder).env("CARGO_INCREMENTAL", "0");
    if on {
        command.args(["--features", "on"]);
    }
    let start = Instant::now();
    ensure!(command.status()?.success(), "the crate does not compile");
    Ok(start.elapsed())
}

/// A schema as large as they come.
fn schema() -> String {
    let mut text = String::from(
        "version = 1\n[keyspace]\nname = \"big\"\nprefix = \"big:\"\n[params]\nuser_id = \"uuid\"\n\
         folder_id = \"uuid\"\ncount = \"uint\"\nlocale = \"locale\"\nregion = \"word\"\n",
    );
    let areas = ["user", "order", "cart", "session", "folder", "file", "perm", "quota", "risk"];
    let params = ["{user_id}", "{folder_id}:{user_id}", "{count}:{region}", "{locale}"];
    for number in 0..DEFINITIONS {
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
