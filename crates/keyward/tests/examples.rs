//! The macro on the five examples.
#![allow(missing_docs, reason = "a test")]

keyward::keyspace!("../../examples/binary-options/keyward.toml");
keyward::keyspace!("../../examples/document-library/keyward.toml");
keyward::keyspace!("../../examples/media-gateway/keyward.toml");
keyward::keyspace!("../../examples/reed-cms/keyward.toml");
keyward::keyspace!("../../examples/xeuz-cloud/keyward.toml");

#[test]
fn x() {
    println!("{}", xeuz_cloud::keys::FolderListing { folder_id: keyward::Uuid::nil() });
}
