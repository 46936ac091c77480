use crate::{EVERYTHING, schema};
use keyward_docs::{Options, generate};
use std::fs;

#[test]
fn a_template_of_the_user_takes_the_place_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let own = "{% for group in groups %}{% for it in group.definitions %}\
               {{ it.target.name }} {{ it.pattern | code }} {{ it.ttl.text | prose }}\n\
               {% endfor %}{% endfor %}";
    fs::write(folder.path().join("keyspace.md.j2"), own).unwrap();
    fs::write(folder.path().join("style.css.j2"), "body { color: teal }").unwrap();
    let options = Options { templates: Some(folder.path()), ..Options::default() };
    let files = generate(&schema(EVERYTHING), &options).unwrap();
    let markdown = files.get("keyspace.md").unwrap();
    assert!(
        markdown.starts_with("cart `{tenant}:shop:buy:cart:{#user_id}` 7 days\n"),
        "{markdown}"
    );
    let html = files.get("index.html").unwrap();
    assert!(html.contains("body { color: teal }") && !html.contains("--param-soft"));
}

#[test]
fn a_template_can_ask_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("keyspace.md.j2"), "{{ debug() }}").unwrap();
    let options = Options { templates: Some(folder.path()), ..Options::default() };
    let files = generate(&schema(EVERYTHING), &options).unwrap();
    assert!(files.get("keyspace.md").unwrap().contains("invalidated_by"));
}

#[test]
fn a_template_that_is_wrong_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { templates: Some(folder.path()), ..Options::default() };
    let refused = || generate(&schema(EVERYTHING), &options).unwrap_err();
    fs::write(folder.path().join("keyspace.md.j2"), "\n{{ keyspace.nmae }}").unwrap();
    assert!(refused().to_string().contains("keyspace.md:2"), "{}", refused());
    fs::remove_file(folder.path().join("keyspace.md.j2")).unwrap();
    fs::write(folder.path().join("keyspaces.md.j2"), "").unwrap();
    assert_eq!(refused().help().as_deref(), Some("did you mean `keyspace.md.j2`?"));
}
