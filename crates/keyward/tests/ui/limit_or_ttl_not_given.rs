keyward::keyspace!("tests/ui/limits.toml");

use limits::keys;

async fn limited(store: keyward::Store) {
    store.at(keys::Requests { id: 1 }).check().await;
    store.at(keys::Seats { id: 1 }).take(1).await;
    store.at(keys::Mails { id: 1 }).limited_to(100).take(1).await;
    store.at(keys::Token { id: 1 }).set(&"a".to_owned()).await;
}

fn main() {}
