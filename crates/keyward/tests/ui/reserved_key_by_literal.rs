keyward::keyspace!("tests/ui/market.toml");

fn main() {
    let symbol = market::values::Symbol::new("active").unwrap();
    let _ = market::keys::Symbol { symbol };
}
