keyward::keyspace!("tests/ui/overlapping_patterns.toml");

fn main() {}
