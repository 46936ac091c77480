//! What the guide shows of indexes, run.

use super::reed_cms::{Prefix, keys, values};
use super::{id, patient};
use keyward::Prefixed;
use keyward_testkit::Server;

type Done = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn what_the_guide_shows_of_indexes_is_so() -> Done {
    for server in Server::all() {
        let prefix = Prefix { site: values::Site::new("reed")? };
        let site = patient(&server).await.with_prefix(prefix);
        indexes(&site).await?;
    }
    Ok(())
}

async fn indexes(site: &Prefixed<Prefix>) -> Done {
    // ANCHOR: assign
    let entity = keys::Entity { type_: values::Type::new("snippet")?, id: id(1) };
    let words = |text: &str| -> Result<Vec<_>, Box<dyn std::error::Error>> {
        let words = text.split_whitespace();
        words.map(|word| Ok(keys::WordIndex::new(values::Word::new(word)?)?)).collect()
    };
    let index = site.index::<keys::WordIndex>();
    index.assign(&entity, words("Welcome to modern art")?).await?;
    index.assign(&entity, words("Modern times")?).await?; // what is gone leaves the index
    // ANCHOR_END: assign
    assert_eq!(index.any_of(words("welcome art")?).await?, []);
    // ANCHOR: move
    let status = |status: &str| -> Result<_, keyward::ValueError> {
        Ok(keys::StatusIndex { status: values::Status::new(status)? })
    };
    site.at(status("draft")?).put(&entity).await?;
    site.at(status("draft")?).move_to(&entity, &status("published")?).await?;
    site.at(status("published")?).remove(&entity).await?;
    // ANCHOR_END: move
    // ANCHOR: search
    let both = index.all_of(words("modern times")?).await?; // entities that have all of these words
    let any = index.any_of(words("modern ancient")?).await?; // or at least one of them
    // ANCHOR_END: search
    assert_eq!((both, any), (vec![entity.clone()], vec![entity.clone()]));
    // ANCHOR: rebuild
    let rebuild = index.rebuild().await?; // before the truth is read
    let truth = [(entity, words("Modern times")?)]; // from a database: an iterator, never all at once
    let rebuilt = rebuild.from(truth).await?;
    println!("{} members are where they belong", rebuilt.assigned);
    // ANCHOR_END: rebuild
    assert_eq!((rebuilt.assigned, rebuilt.removed), (1, 0));
    Ok(())
}
