keyward::keyspace!("tests/ui/xeuz-clowd.toml");

fn main() {}
