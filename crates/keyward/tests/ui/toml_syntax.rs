keyward::keyspace!("tests/ui/toml_syntax.toml");

fn main() {}
