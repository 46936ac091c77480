keyward::keyspace!("tests/ui/in_an_included_file.toml");

fn main() {}
