use crate::markdown::assert_sound;
use crate::{EVERYTHING, HOSTILE, examples, files, schema};
use keyward_docs::{Locale, Options};
use std::collections::BTreeSet;

#[test]
fn every_example_reads_in_every_language() {
    let mut schemas = examples();
    schemas.push(("everything".to_owned(), schema(EVERYTHING)));
    for (name, schema) in &schemas {
        for locale in Locale::ALL {
            let name = format!("{name} {}", locale.name());
            let files = files(schema, &Options { locale, ..Options::default() });
            let markdown = files.get("keyspace.md").unwrap();
            assert_sound(&name, markdown);
            for (path, text) in files.iter() {
                assert!(!text.contains("{0}"), "{name} {path}: a gap was not filled");
            }
            for definition in &schema.keys {
                assert!(markdown.contains(&format!("\n### {}\n", *definition.name)), "{name}");
            }
        }
    }
}

#[test]
fn links_of_the_html_page_lead_somewhere() {
    let mut schemas = examples();
    schemas.push(("everything".to_owned(), schema(EVERYTHING)));
    schemas.push(("hostile".to_owned(), schema(HOSTILE)));
    for (name, schema) in &schemas {
        let files = files(schema, &Options::default());
        let page = files.get("index.html").unwrap();
        let after = |mark: &str| -> Vec<String> {
            let parts = page.split(mark).skip(1).filter_map(|rest| rest.split('"').next());
            parts.map(str::to_owned).collect()
        };
        let ids = after(" id=\"");
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(ids.len(), unique.len(), "{name}: an id twice");
        for link in after("href=\"#") {
            assert!(unique.contains(&link), "{name}: `#{link}` leads nowhere");
        }
        if name == "hostile" {
            continue;
        }
        for outside in ["src=", "@import", "url(", "<link"] {
            assert!(!page.contains(outside), "{name}: the page needs something else: {outside}");
        }
    }
}
