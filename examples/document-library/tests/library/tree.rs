//! Markdown becomes a tree: each rule, and texts of any size.

use super::harness::numbered;
use document_library::kind::Kind;
use document_library::tree::{CHUNK_SIZE, Tree, parse};
use proptest::prelude::*;

/// Each element in a line: its kind below that of its parent, and its words.
fn outline(text: &str) -> Vec<String> {
    let tree = tree(text);
    let line = |at: usize| {
        let it = &tree.elements[at];
        let parent = it.parent.map_or("doc", |parent| tree.elements[parent].kind.prefix());
        format!("{parent} > {}: {}", it.kind.prefix(), it.words.trim())
    };
    (0..tree.elements.len()).map(line).collect()
}

/// The tree of a text; its elements are the text, whole and in order.
fn tree(text: &str) -> Tree<'_> {
    let tree = parse(text).unwrap();
    let whole: String = tree.elements.iter().map(|it| it.source).collect();
    assert_eq!([tree.front_matter_source, &whole].concat().trim_end(), text.trim_end());
    for (at, element) in tree.elements.iter().enumerate() {
        let parent = element.parent.map(|parent| (parent < at, tree.elements[parent].kind));
        assert!(parent.is_none_or(|(before, kind)| before && kind < element.kind), "{text:?}");
        assert!(!element.source.trim().is_empty(), "{text:?}");
    }
    tree
}

#[test]
fn headings_make_chapters_paragraphs_and_subparagraphs() {
    let text = "# One\n\na\n\n## Two\n\nb\n\n### Three\n\nc\n\n## Two again\n\n# One again\n\nd\n";
    assert_eq!(
        outline(text),
        [
            "doc > ch: One",
            "ch > chunk: a",
            "ch > para: Two",
            "para > chunk: b",
            "para > subpara: Three",
            "subpara > chunk: c",
            "ch > para: Two again",
            "doc > ch: One again",
            "ch > chunk: d",
        ]
    );
}

#[test]
fn a_level_that_is_left_out_is_no_level() {
    assert_eq!(
        outline("### Three\n\n# One\n\n### Three\n\n## Two\n\n### Three\n"),
        [
            "doc > subpara: Three",
            "doc > ch: One",
            "ch > subpara: Three",
            "ch > para: Two",
            "para > subpara: Three",
        ]
    );
}

#[test]
fn text_before_the_first_heading_belongs_to_the_document() {
    assert_eq!(outline("\n\nHello\n# One\n"), ["doc > chunk: Hello", "doc > ch: One"]);
}

#[test]
fn a_line_below_a_title_makes_a_heading() {
    let text = "One\n===\n\na\n\nTwo\n---\nb\n";
    assert_eq!(
        outline(text),
        ["doc > ch: One", "ch > chunk: a", "ch > para: Two", "para > chunk: b"]
    );
}

#[test]
fn what_looks_like_a_heading_in_code_quotes_and_lists_is_text() {
    for text in [
        "```sh\n# not a heading\n```\n",
        "~~~\n# not a heading\n===\n~~~\n",
        "    # not a heading\n",
        "> # not a heading\n",
        "- # not a heading\n",
        "1. text\n\n   ## not a heading\n",
        "<!--\n# not a heading\n-->\n",
    ] {
        let tree = tree(text);
        assert_eq!(tree.elements.len(), 1, "{text}");
        assert_eq!(tree.elements[0].kind, Kind::Chunk, "{text}");
    }
}

#[test]
fn headings_below_the_third_level_stay_in_their_chunk() {
    let text = "### Three\n\na\n\n#### Four\n\nb\n\n##### Five\n\n###### Six\n\nc\n";
    let tree = tree(text);
    assert_eq!(tree.elements.len(), 2);
    assert_eq!(tree.elements[1].source, "a\n\n#### Four\n\nb\n\n##### Five\n\n###### Six\n\nc\n");
}

#[test]
fn marks_are_no_part_of_words() {
    let text = "# **Bold** `code` and [a link](https://example.com/x \"t\") ![pic](p.png) {#id}\n\n\
                *First* words<br> of `text`\n";
    assert_eq!(
        outline(text),
        ["doc > ch: Bold code and a link pic", "ch > chunk: First words of text"]
    );
    assert_eq!(outline("<!-- only a comment -->\n"), ["doc > chunk: <!-- only a comment -->"]);
    assert_eq!(outline("[a]: https://example.com\n"), ["doc > chunk: [a]: https://example.com"]);
}

#[test]
fn a_long_text_is_divided_between_blocks() {
    let paragraph = "word ".repeat(CHUNK_SIZE / 10);
    let text = format!("# One\n\n{}", format!("{paragraph}\n\n").repeat(5));
    let sizes: Vec<usize> = tree(&text).elements.iter().map(|it| it.source.len()).collect();
    assert_eq!(sizes.len(), 4, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size <= CHUNK_SIZE));

    // What is one block stays one, however long it is; what is short stays together.
    let list: String = numbered(1000, |at| format!("- item {at}\n  - below\n"));
    let table: String = numbered(1000, |at| format!("| {at} | b |\n"));
    let text = format!("a\n\nb\n\n{list}\n\n| a | b |\n|---|---|\n{table}\nc\n\nd\n");
    let tree = tree(&text);
    let begins: Vec<&str> = tree.elements.iter().map(|it| &it.source[..3]).collect();
    assert_eq!(begins, ["a\n\n", "- i", "| a", "c\n\n"]);
}

#[test]
fn indented_code_keeps_its_indentation_where_a_chunk_begins() {
    let text = format!("{}\n\n    code\n{}", "a ".repeat(CHUNK_SIZE / 3), "    more\n".repeat(300));
    let tree = tree(&text);
    assert_eq!(tree.elements.len(), 2);
    assert!(tree.elements[1].source.starts_with("    code\n"));
}

#[test]
fn line_ends_of_all_systems_and_marks_of_byte_order_are_kept() {
    assert_eq!(
        outline("# One\r\n\r\na\r\n## Two\r\n"),
        ["doc > ch: One", "ch > chunk: a", "ch > para: Two"]
    );
    assert_eq!(outline("\u{feff}# One\n"), ["doc > ch: One"]);
    assert_eq!(outline("\u{feff}---\ntitle: x\n---\n# One\n"), ["doc > ch: One"]);
}

#[test]
fn nothing_is_a_document_without_elements() {
    for text in ["", "\n", " \n\t\n", "\u{feff}"] {
        assert!(tree(text).elements.is_empty(), "{text:?}");
    }
}

#[test]
fn headings_without_words_are_headings() {
    assert_eq!(outline("#\n\n##\na\n"), ["doc > ch: ", "ch > para: ", "para > chunk: a"]);
}

#[test]
fn texts_of_any_shape_and_size_are_parsed() {
    const MEGABYTE: usize = 1 << 20;
    let quotes = format!("{} text\n", ">".repeat(1000));
    let lists: String = numbered(1000, |level| format!("{}- item\n", "  ".repeat(level)));
    let headings = "# Heading\n".repeat(100_000);
    for (text, elements) in [
        (quotes, 1),
        (lists, 1),
        (headings, 100_000),
        ("word ".repeat(2 * MEGABYTE), 1),
        ("w".repeat(10 * MEGABYTE), 1),
        ("# ".repeat(MEGABYTE), 1),
        (format!("# {}", "word ".repeat(MEGABYTE)), 1),
        ("[".repeat(MEGABYTE / 8), 1),
        ("*a_ ".repeat(MEGABYTE / 8), 1),
        ("`".repeat(MEGABYTE / 8), 1),
        ("|a".repeat(MEGABYTE / 8), 1),
    ] {
        assert_eq!(tree(&text).elements.len(), elements, "{}", &text[..10]);
    }
}

proptest! {
    #[test]
    fn no_text_is_lost_and_no_parent_is_wrong(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "# One", "## Two", "### Three", "#### Four", "text", "", " ", "===", "---", "- item", "  - below",
                "```", "> quote", "> # quote", "    code", "| a | b |", "|---|---|", "<div>", "[a]: b", "\t", "+++",
                "ä # 😀", "1. one", "&amp; \\#", "\r", "- # x", "#", "[^1]: note",
            ]),
            0..40,
        ),
    ) {
        // Malformed front matter is refused; what stands there is not looked at here.
        let text = format!("\n{}", lines.join("\n"));
        tree(&text);
    }
}
