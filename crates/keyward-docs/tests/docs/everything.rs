use crate::{EVERYTHING, html_of, markdown_of, schema};
use insta::assert_snapshot;
use keyward_docs::{Format, Locale, Options};

#[test]
fn everything_that_a_schema_says_is_on_the_page() {
    assert_snapshot!(markdown_of(&schema(EVERYTHING), &Options::default()));
}

#[test]
fn a_page_says_the_same_in_german() {
    let options = Options { locale: Locale::De, ..Options::default() };
    assert_snapshot!(markdown_of(&schema(EVERYTHING), &options));
}

#[test]
fn the_same_schema_gives_the_same_bytes() {
    let schema = schema(EVERYTHING);
    let options = Options::default();
    assert_eq!(html_of(&schema, &options), html_of(&schema, &options));
    assert_eq!(markdown_of(&schema, &options), markdown_of(&schema, &options));
}

#[test]
fn a_selection_is_a_page_of_its_own() {
    let schema = schema(EVERYTHING);
    let price = schema.keys.iter().position(|key| *key.name == "price").unwrap();
    let options = Options {
        formats: &[Format::Markdown],
        selected: Some(&[price]),
        selection: Some("--owner checkout"),
        ..Options::default()
    };
    let page = markdown_of(&schema, &options);
    assert!(page.contains("This page shows a part of the keyspace: `--owner checkout`."));
    assert!(page.contains("### price") && page.contains("`price_changed`"));
    for other in ["### cart", "### stock", "`platform`", "## Former names"] {
        assert!(!page.contains(other), "{other} is not part of it");
    }
}

#[test]
fn a_bound_prefix_is_shown_as_it_is() {
    let schema = schema(EVERYTHING);
    let bound = schema.compiled.bind(&[("tenant", "acme")]).unwrap();
    let page = markdown_of(&schema, &Options { bound: Some(&bound), ..Options::default() });
    assert!(page.contains("`acme:shop:buy:stock:*`"), "{page}");
    assert!(!page.contains("{tenant}") && !page.contains("`tenant`"), "{page}");
}

#[test]
fn an_index_that_an_event_leaves_wholly_free_still_has_its_prefix() {
    let schema = schema(
        r#"
version = 1
[keyspace]
name = "site"
prefix = "{site:slug}:"
[keys.page]
pattern = "page:{path:slug}"
value = "text"
ttl = "5m"
invalidate = "index"
examples = ["page:about"]
[events.changed]
invalidates = ["page(*)"]
"#,
    );
    let page = markdown_of(&schema, &Options::default());
    assert!(page.contains("`example:~index:{example:page:*}`"), "{page}");
}

#[test]
fn what_a_rename_changes_is_said_in_each_language() {
    let schema = schema(
        r#"
version = 1
[keyspace]
name = "site"
[keys.tags]
pattern = "tags:{id}"
type = "zset"
[keys.page]
pattern = "page:{id}"
value = "json"
[keys.code]
pattern = "code:{code}"
params = { code = { regex = "[A-Z]+" } }
value = "text"
[migrations.v2]
phase = "cleanup"
[migrations.v2.renames]
tags = { pattern = "t:{id}", convert = "set-to-sorted-set", score = "now" }
page = { pattern = "p:{id}", convert = "hash-to-json", db = 3 }
code = [
    { pattern = "c:{code:slug}", recase = { code = "upper" } },
    { pattern = "d:{code}", convert = "lower-case" },
]
"#,
    );
    let said = |locale| {
        let page = markdown_of(&schema, &Options { locale, ..Options::default() });
        let old = page.lines().filter(|line| line.starts_with("| `")).filter(|line| {
            ["| `t:", "| `p:", "| `c:", "| `d:"].iter().any(|start| line.starts_with(start))
        });
        old.map(|line| line.split(" | ").next().unwrap_or_default().to_owned() + "\n")
            .collect::<String>()
    };
    let all = [Locale::En, Locale::De, Locale::Id, Locale::Zh].map(said).join("\n");
    assert_snapshot!(all);
}

#[test]
fn relations_that_must_agree_are_shown_at_both() {
    let schema = schema(
        r#"
version = 1
[keyspace]
name = "book"
[params]
page_key = { key = "page" }
[keys.page]
pattern = "page:{id:uint}"
value = "text"
[keys.next]
pattern = "{page_key}:next"
value = { key = "page" }
inverse = "previous"
[keys.previous]
pattern = "{page_key}:previous"
value = { key = "page" }
[keys.children]
pattern = "{page_key}:children"
member = { key = "page" }
[keys.siblings]
pattern = "{page_key}:siblings"
member = { key = "page" }
inverse = "siblings"
[keys.descendants]
pattern = "{page_key}:descendants"
member = { key = "page" }
closure_of = "children"
[keys.sequence]
pattern = "{page_key}:sequence"
member = { key = "page" }
score = "uint"
same_as = "descendants"
"#,
    );
    let mut shown = String::new();
    for locale in Locale::ALL {
        let page = markdown_of(&schema, &Options { locale, ..Options::default() });
        let row = format!("| {} |", locale.words().related);
        let mut name = "";
        for line in page.lines() {
            name = line.strip_prefix("### ").unwrap_or(name);
            if line.starts_with(&row) {
                shown.push_str(&format!("{name} {line}\n"));
            }
        }
    }
    assert_snapshot!(shown);
}
