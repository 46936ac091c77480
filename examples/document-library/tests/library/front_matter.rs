//! What stands in front of a document.

use document_library::front_matter::{FrontMatter, FrontMatterError, parse};

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
    let FrontMatterError { line, language, why } =
        parse("---\ntitle: x\ntags: [a\n---\n").unwrap_err();
    assert_eq!((line, language), (4, "YAML"), "{why}");
    let error = parse("+++\ntitle = 'x'\ntags = [a]\n+++\n").unwrap_err();
    assert_eq!((error.line, error.language), (3, "TOML"), "{error}");
    assert!(error.to_string().starts_with("line 3: the front matter is not TOML: "), "{error}");
}

#[test]
fn values_without_end_and_aliases_do_no_harm() {
    let deep = format!("---\ntags: {}{}\n---\n", "[".repeat(50_000), "]".repeat(50_000));
    _ = parse(&deep);
    _ = parse(&format!("+++\ntags = {}{}\n+++\n", "[".repeat(50_000), "]".repeat(50_000)));
    _ = parse(&format!("---\n{}\n---\n", "- ".repeat(50_000)));
    let aliases = "---\na: &a [x, x]\nb: &b [*a, *a]\ntitle: *b\nauthor: y\n---\n";
    assert_eq!(front_matter(aliases).authors, texts(["y"]));
}
