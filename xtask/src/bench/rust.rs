//! Generated Rust: building keys against `format!`.

use super::{Table, at_most, compete, each};
use anyhow::Result;
use keyward::Uuid;
use std::hint::black_box;

keyward::keyspace!("../examples/xeuz-cloud/keyward.toml");
keyward::keyspace!("../examples/binary-options/keyward.toml");

const COUNT: usize = 100_000;

pub(super) fn run(table: &mut Table) -> Result<()> {
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
