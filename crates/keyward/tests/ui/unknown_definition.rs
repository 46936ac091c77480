keyward::keyspace!("tests/ui/xeuz-cloud.toml");

fn main() {
    let folder_id = keyward::Uuid::nil();
    let _ = xeuz_cloud::keys::FolderListings { folder_id };
}
