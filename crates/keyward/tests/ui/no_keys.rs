keyward::keyspace!("tests/ui/no_keys.toml");

fn main() {}
