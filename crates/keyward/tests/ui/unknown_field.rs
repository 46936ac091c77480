keyward::keyspace!("tests/ui/unknown_field.toml");

fn main() {}
