//! What stands in front of a document.

use document_library::front_matter::{FrontMatter, parse};

fn front_matter(text: &str) -> FrontMatter {
    parse(text).unwrap().0
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

#[test]
fn yaml_is_read() {
    let text = "---\ntitle: \"Der Titel: schön\"\nauthor: Oskar Sch\ncategory: [A, b]\ntags:\n  - eins\n  - zwei # two\n\
                other: { deep: [1, { x: y }] }\nempty:\n---\n# One\n";
    let (read, body) = parse(text).unwrap();
    assert_eq!(&text[body..], "# One\n");
    assert_eq!(read.title.as_deref(), Some("Der Titel: schön"));
    assert_eq!(read.authors, texts(["Oskar Sch"]));
    assert_eq!(read.categories, texts(["A", "b"]));
    assert_eq!(read.tags, texts(["eins", "zwei"]));
}

#[test]
fn toml_is_read() {
    let text = "+++\ntitle = 'T'\nauthors = ['a', 'b']\ntags = 'x, y,, x'\nyear = 2024\n[extra]\ntags = 3\n+++\nText";
    let (read, body) = parse(text).unwrap();
    assert_eq!(&text[body..], "Text");
    assert_eq!(read.authors, texts(["a", "b"]));
    assert_eq!(read.tags, texts(["x", "y"]));
    assert_eq!(read.title.as_deref(), Some("T"));
}

#[test]
fn lines_across_the_page_are_no_front_matter() {
    for text in [
        "---\ntext\n---\n",
        "---\n",
        "---\ntitle: x\n",
        "+++\ntitle = 1\n",
        "----\na: b\n---\n",
        " ---\na: b\n---\n",
    ] {
        let (read, body) = parse(text).unwrap();
        assert_eq!((read, body), (FrontMatter::default(), 0), "{text:?}");
    }
}

#[test]
fn all_line_ends_and_a_mark_of_byte_order_are_understood() {
    assert_eq!(front_matter("\u{feff}---\r\ntitle: x\r\n---\r\ntext").title.as_deref(), Some("x"));
    assert_eq!(front_matter("---\ntitle: x\n...\ntext").title.as_deref(), Some("x"));
    assert_eq!(front_matter("---\ntitle: '  '\n---\n").title, None);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (text, message) in [
        ("---\ntitle: x\ntags: [a\n---\n", "line 4: the front matter is not YAML: "),
        ("+++\ntitle = 'x'\ntags = [a]\n+++\n", "line 3: the front matter is not TOML: "),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn what_is_neither_a_text_nor_a_list_of_texts_is_not_left_out_silently() {
    let list = "`tags` in the front matter has a list in its list";
    for (text, message) in [
        ("---\ntitle: x\ntags: [[a, b], c]\n---\n", format!("line 3: {list}")),
        ("---\ntags:\n  - a\n  - - b\n---\n", format!("line 4: {list}")),
        (
            "---\ntags: { a: b }\n---\n",
            "line 2: `tags` in the front matter has a mapping".to_owned(),
        ),
        (
            "---\nauthor:\n  - name: Ada\n---\n",
            "line 3: `author` in the front matter has a mapping".to_owned(),
        ),
        (
            "---\ntitle: [a, b]\n---\n",
            "line 2: `title` in the front matter has several texts, and a document has one title"
                .to_owned(),
        ),
        (
            "---\nx: &x { tags: y }\ntags: *x\n---\n",
            "line 3: `tags` in the front matter has an alias of something else".to_owned(),
        ),
        (
            "---\nx: &x [a, b]\ntags: [*x]\n---\n",
            "line 3: `tags` in the front matter has an alias of something else in its list"
                .to_owned(),
        ),
        (
            "+++\ntags = ['a', ['b']]\n+++\n",
            "line 2: `tags` in the front matter has a list or a table in its list".to_owned(),
        ),
        (
            "+++\n[author]\nname = 'Ada'\n+++\n",
            "line 2: `author` in the front matter has a table".to_owned(),
        ),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert_eq!(error, format!("{message}: write a text, or a list of texts"), "{text:?}");
    }
    let merged = parse("---\nx: &x { tags: y }\n<<: *x\n---\n").unwrap_err().to_string();
    assert_eq!(merged, "line 3: `<<` in the front matter is not read: write out what it brings in");
}

#[test]
fn aliases_stand_for_texts_and_lists_of_texts() {
    let text = "---\nwords: &words [eins, zwei]\nme: &me Ada\ntitle: &title Titel\nauthor: *me\ntags: *words\n\
                category: [*me, *title]\n---\n";
    let read = front_matter(text);
    assert_eq!(read.title.as_deref(), Some("Titel"));
    assert_eq!(read.authors, texts(["Ada"]));
    assert_eq!(read.tags, texts(["eins", "zwei"]));
    assert_eq!(read.categories, texts(["Ada", "Titel"]));
}

#[test]
fn what_has_no_value_is_not_there() {
    let read =
        front_matter("---\ntitle: ~\ntags:\nauthor: null\ncategory: [a, ~]\n? [b]\n: c\n---\n");
    assert_eq!(read, FrontMatter { categories: texts(["a"]), ..FrontMatter::default() });
    assert_eq!(front_matter("---\ntitle: 'null'\n---\n").title.as_deref(), Some("null"));
}

#[test]
fn values_without_end_and_aliases_do_no_harm() {
    let deep = format!("---\ntags: {}{}\n---\n", "[".repeat(50_000), "]".repeat(50_000));
    _ = parse(&deep);
    _ = parse(&format!("+++\ntags = {}{}\n+++\n", "[".repeat(50_000), "]".repeat(50_000)));
    _ = parse(&format!("---\n{}\n---\n", "- ".repeat(50_000)));
    let aliases = "---\na: &a [x, x]\nb: &b [*a, *a]\nc: *b\nauthor: y\n---\n";
    assert_eq!(front_matter(aliases).authors, texts(["y"]));
    let large =
        format!("---\na: &a {}\ntags: [{}]\n---\n", "x".repeat(2 << 16), "*a, ".repeat(50_000));
    let error = parse(&large).unwrap_err().to_string();
    assert!(
        error.contains("`tags` in the front matter has aliases that stand for more than 1 MiB"),
        "{error}"
    );
}
