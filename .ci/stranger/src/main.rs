keyward::keyspace!("keyward.toml");

fn main() {
    let key = shop::keys::Cart { user_id: 7 }.key();
    assert_eq!(key, "shop:cart:7");
    assert!(shop::Key::parse(&key).is_some());
}
