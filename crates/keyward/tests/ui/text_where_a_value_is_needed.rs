keyward::keyspace!("tests/ui/market.toml");

fn main() {
    let _ = market::keys::Tick { symbol: "BTCUSDT" };
}
