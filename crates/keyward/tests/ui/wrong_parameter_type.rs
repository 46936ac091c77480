keyward::keyspace!("tests/ui/xeuz-cloud.toml");

fn main() {
    let _ = xeuz_cloud::keys::FolderListing { folder_id: 42 };
}
