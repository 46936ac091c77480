use keyward::Key as _;

keyward::keyspace!("tests/ui/tenants.toml");

fn main() {
    let cart = tenants::keys::Cart { user_id: 7 };
    let _ = cart.key();
    let _ = cart.slot();
}
