//! `keyspace!` on the five examples: it agrees with the same vectors as the code that `keyward
//! generate` writes, and a strict crate has nothing to say about it.
#![deny(warnings, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

#[path = "../../keyward-languages/tests/languages/runner.rs"]
mod runner;

use keyward_languages::vectors::vectors;
use std::path::Path;

keyward::keyspace!("../../examples/binary-options/keyward.toml");
keyward::keyspace!("../../examples/document-library/keyward.toml");
keyward::keyspace!("../../examples/media-gateway/keyward.toml");
keyward::keyspace!("../../examples/reed-cms/keyward.toml");
keyward::keyspace!("../../examples/xeuz-cloud/keyward.toml");

#[test]
fn what_the_macro_makes_agrees_with_every_vector_of_the_examples() {
    for (example, keyspace) in [
        ("binary-options", runner::fixed!(binary_options, events)),
        ("document-library", runner::fixed!(document_library, none)),
        ("media-gateway", runner::fixed!(media_gateway, events)),
        ("reed-cms", runner::bound!(reed_cms, events)),
        ("xeuz-cloud", runner::fixed!(xeuz_cloud, events)),
    ] {
        let path = Path::new("../../examples").join(example).join("keyward.toml");
        let schema = keyward_schema::load(&path).schema.unwrap();
        let files = vectors(&schema);
        let (_, document) = files.iter().next().unwrap();
        let (checked, failures) = runner::check(&keyspace, document);
        assert!(checked > 100, "{example} has only {checked} vectors");
        assert_eq!(failures, Vec::<String>::new(), "{example}");
    }
}
