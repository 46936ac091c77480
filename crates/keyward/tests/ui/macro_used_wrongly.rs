keyward::keyspace!();
keyward::keyspace!(keyward);
keyward::keyspace!("");
keyward::keyspace!("tests/ui/xeuz-cloud.toml" values = crate::model);
keyward::keyspace!("tests/ui/xeuz-cloud.toml", value = crate::model);
keyward::keyspace!("tests/ui/xeuz-cloud.toml", values = model);

fn main() {}
