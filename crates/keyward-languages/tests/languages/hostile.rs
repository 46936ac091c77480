//! A large schema whose texts try to get out of their comments and quotes.

use keyward_codegen::model::Module;

/// How many definitions it has: enough that Java's limits on methods and strings matter.
const DEFINITIONS: usize = 300;

const DOCS: &[&str] = &[
    "*/ } class Escaped { /*",
    "\\u002a/ } class Escaped { /\\u002a",
    "\\",
    "\"\"\" ''' ` ${x} {{ x }} {% x %} {# x",
    "# Heading",
    "  indented\n\n\tcode\n",
    " - a list\n - of things\n\n1. and\n2. numbers",
    "[link]: https://example.org",
    "Deprecated: not at all.",
    "go:build ignore\n//go:build ignore\n+build ignore",
    "``quoted'' and 'quoted'",
    "{@link Missing} @param x @deprecated <script>&amp;</script>",
    "\r\u{85}\u{2028}\u{2029}\u{7}\u{202e}txet",
    "中文、日本語 🗝",
    "see https://example.org/a?b=c&d=e.",
    "",
];

/// The schema's model.
pub(crate) fn module() -> Module {
    let mut text = "version = 1\n[keyspace]\nname = \"large\"\nprefix = \"l:\"\n".to_owned();
    text += "doc = \"*/ \\\\u002a/ # large\"\n";
    for number in 0..DEFINITIONS {
        let doc = toml_string(DOCS[number % DOCS.len()]);
        text += &format!(
            "[keys.definition_{number}]\ndoc = {doc}\ngroup = \"group_{number}\"\n\
             pattern = \"d{number}:{{user_id}}:{{word}}\"\nttl = \"{}s\"\n\
             params = {{ user_id = {{ type = \"uint\", doc = {doc} }}, \
             word = {{ type = \"encoded\", doc = {doc} }} }}\n\
             fields = {{ name = {{ type = \"text\", doc = {doc} }}, size = \"uint?\" }}\n\
             [groups.group_{number}]\ndoc = {doc}\n[events.event_{number}]\ndoc = {doc}\nparams = {{ user_id = {{ type = \"uint\", doc = {doc} }} }}\n\
             invalidates = [\"definition_{number}(word = *)\"]\n",
            number + 1,
        );
    }
    let schema = keyward_schema::read(&text).schema;
    Module::new(&schema.unwrap_or_else(|errors| panic!("{errors:?}"))).unwrap()
}

fn toml_string(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}
