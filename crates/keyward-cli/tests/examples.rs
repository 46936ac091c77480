//! The five conventions of `examples/`: what `check` finds in each document as it was written, that
//! the ruled version is clean, and that every key of the documents is built and parsed alike.

use insta::assert_snapshot;
use keyward_testkit::{Cli, Output, repository};
use serde_json::{Value, json};
use std::fs;

const CONVENTIONS: [&str; 5] =
    ["reed-cms", "media-gateway", "document-library", "binary-options", "xeuz-cloud"];

#[test]
fn xeuz_clouds_document_contradicts_itself() {
    assert_snapshot!(check("xeuz-cloud", &["as-written.toml"]));
}

#[test]
fn reed_cms_document_contradicts_itself() {
    assert_snapshot!(check("reed-cms", &["as-written.toml"]));
}

#[test]
fn media_gateways_document_contradicts_itself() {
    assert_snapshot!(check("media-gateway", &["as-written.toml"]));
}

// The last two have findings at almost every key: a line for each.

#[test]
fn the_document_librarys_document_contradicts_itself() {
    assert_snapshot!(check("document-library", &["as-written.toml", "--format", "concise"]));
}

#[test]
fn the_document_librarys_recipe_contradicts_itself() {
    assert_snapshot!(check("document-library", &["as-written-text.toml", "--format", "concise"]));
}

#[test]
fn the_binary_options_document_contradicts_itself() {
    assert_snapshot!(check("binary-options", &["as-written.toml", "--format", "concise"]));
}

#[test]
fn the_overview_counts_the_findings_right() {
    let overview =
        fs::read_to_string(repository().join("examples/README.md")).expect("it is there");
    for convention in CONVENTIONS {
        let found = check(convention, &["as-written.toml", "--format", "concise"]).stderr;
        let count = found.split(' ').next().unwrap_or_default();
        let row = overview.lines().find(|line| line.contains(&format!("({convention})")));
        let row = row.expect("the overview has a row for each convention");
        assert!(row.ends_with(&format!("| {count} |")), "{row}\n{found}");
    }
}

#[test]
fn every_ruled_convention_is_clean() {
    for convention in CONVENTIONS {
        let output = check(convention, &[]);
        assert_eq!(output.code, Some(0), "{convention}\n{output}");
    }
}

#[test]
fn the_conventions_are_laid_out_in_the_one_way() {
    for convention in CONVENTIONS {
        let output = cli(convention).run(["fmt", "--check", "keyward.toml", "as-written.toml"]);
        assert_eq!(output.code, Some(0), "{convention}\n{output}");
    }
}

/// The languages of the five documents.
const LOCALES: [&str; 5] = ["de", "en", "de", "zh", "id"];

#[test]
fn the_documentation_of_every_convention_is_up_to_date() {
    for (convention, locale) in CONVENTIONS.iter().zip(LOCALES) {
        let cli = Cli::new(env!("CARGO_BIN_EXE_keyward"));
        let folder = std::path::Path::new("examples").join(convention);
        cli.copy(&folder);
        let args = ["docs", "--check", "--out", "docs", "--locale", locale, "--format", "markdown"];
        let output = cli.command(args).at(&folder).run();
        assert_eq!(output.code, Some(0), "{convention}\n{output}");
    }
}

/// The pages are not kept: here they are, in `target/examples`, for whoever wants to look at them.
#[test]
fn every_convention_has_a_page() {
    let pages = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("examples");
    for (convention, locale) in CONVENTIONS.iter().zip(LOCALES) {
        let out = pages.join(convention);
        let args = ["docs", "--locale", locale, "--format", "html", "--force", "--out"];
        let args = args.into_iter().chain(out.to_str());
        let output = cli(convention).run(args);
        assert_eq!(output.code, Some(0), "{convention}\n{output}");
        assert!(out.join("index.html").exists());
    }
}

#[test]
fn every_key_of_the_documents_is_built_from_its_parameters() {
    for convention in CONVENTIONS {
        let cli = cli(convention);
        for Row { schema, definition, params, key } in rows(convention) {
            let Some(definition) = definition else { continue };
            let mut args = vec!["key", "build", "--schema", schema, &definition];
            args.extend(params.iter().map(String::as_str));
            let output = cli.run(args);
            assert_eq!(output.stdout, format!("{key}\n"), "{convention}\n{output}");
        }
    }
}

#[test]
fn every_key_of_the_documents_is_parsed_back_into_its_parameters() {
    for convention in CONVENTIONS {
        let cli = cli(convention);
        for schema in ["keyward.toml", "as-written.toml"] {
            let rows: Vec<Row> =
                rows(convention).into_iter().filter(|row| row.schema == schema).collect();
            let keys: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
            let output = cli
                .command(["key", "parse", "-", "--schema", schema, "--format", "jsonl"])
                .stdin(keys.join("\n"))
                .run();
            let answers: Vec<Value> = output
                .stdout
                .lines()
                .map(|line| serde_json::from_str(line).expect("a line is JSON"))
                .collect();
            assert_eq!(answers.len(), rows.len(), "{convention} {schema}\n{output}");
            for (row, answer) in rows.iter().zip(&answers) {
                assert_eq!(answer["key"], row.key);
                assert_eq!(answer["definition"], json!(row.definition), "{schema}: {}", row.key);
                assert_eq!(answer["params"], row.parsed(), "{schema}: {}", row.key);
            }
        }
    }
}

#[test]
fn a_page_that_the_documents_builder_cached_has_an_old_name() {
    let cli = cli("reed-cms");
    for key in
        ["reed:page:cache:_about:de_DE:corporate.berlin", "reed:page:cache:_:de_DE:corporate"]
    {
        let parsed = cli.run(["key", "parse", "--format", "jsonl", key]);
        let answer: Value = serde_json::from_str(&parsed.stdout).expect("the answer is JSON");
        let old = json!({ "definition": "page_cache", "migration": "page_paths" });
        assert_eq!(answer["old"], old, "{parsed}");
    }
}

#[test]
fn every_definition_has_a_key_in_the_list() {
    for convention in CONVENTIONS {
        let rows = rows(convention);
        for name in definitions(convention) {
            let listed = rows.iter().any(|row| row.definition.as_deref() == Some(&name));
            assert!(listed, "{convention}/keys.tsv has no key of `{name}`");
        }
    }
}

#[test]
fn every_example_of_a_document_is_in_the_list() {
    for convention in CONVENTIONS {
        let list = fs::read_to_string(file(convention, "keys.tsv")).expect("the list is there");
        for example in examples(convention) {
            let listed = list
                .lines()
                .any(|line| line.split('\t').skip(2).any(|key| key.ends_with(&example)));
            assert!(listed, "{convention}/keys.tsv does not have `{example}`");
        }
    }
}

/// The demo shows the shortest convention, in English.
#[test]
fn the_demo_is_an_example_in_english() {
    // Without what people read: comments, `doc` and reasons.
    let code = |text: String| -> Vec<String> {
        let mut in_doc = false;
        let mut kept = Vec::new();
        for line in text.lines() {
            let is_doc = in_doc || line.starts_with("doc =");
            in_doc ^= line.matches("\"\"\"").count() == 1;
            if !is_doc {
                let line = line.split('#').next().unwrap_or_default();
                let line = line.split(", doc =").next().unwrap_or_default();
                kept.push(
                    line.split(", reason =").next().unwrap_or_default().trim_end().to_owned(),
                );
            }
        }
        kept
    };
    for name in ["as-written.toml", "keyward.toml"] {
        let demo = repository().join("crates/keyward-cli/demo").join(name);
        let demo = fs::read_to_string(demo).expect("the demo has both schemas");
        assert!(!demo.contains(" yang ") && !demo.contains(" untuk "), "{name} is not in English");
        let example = fs::read_to_string(file("xeuz-cloud", name)).expect("both schemas are there");
        assert_eq!(code(demo), code(example), "{name}");
    }
}

fn check(convention: &str, args: &[&str]) -> Output {
    // The migration of the binary options platform is judged by the day.
    let args = ["check"].iter().chain(args);
    cli(convention).command(args).env("KEYWARD_TODAY", "2026-11-15").run()
}

/// The program in a folder with a copy of the convention's schemas.
fn cli(convention: &str) -> Cli {
    let cli = Cli::new(env!("CARGO_BIN_EXE_keyward"));
    for name in ["keyward.toml", "as-written.toml"] {
        cli.write(name, fs::read(file(convention, name)).expect("both schemas are there"));
    }
    if let Ok(recipe) = fs::read(file(convention, "as-written-text.toml")) {
        cli.write("as-written-text.toml", recipe);
    }
    cli
}

fn file(convention: &str, name: &str) -> std::path::PathBuf {
    repository().join("examples").join(convention).join(name)
}

/// A key of `keys.tsv`, under one of the two schemas.
struct Row {
    schema: &'static str,
    /// `None` where the document calls the key invalid
    definition: Option<String>,
    /// `name=value`
    params: Vec<String>,
    key: String,
}

impl Row {
    /// What `key parse` must say about its parameters.
    fn parsed(&self) -> Value {
        let pairs = self.params.iter().filter_map(|param| param.split_once('='));
        match self.definition {
            Some(_) => pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect(),
            None => Value::Null,
        }
    }
}

/// The columns of a line: definition, parameters, the key under `keyward.toml`, the document's key,
/// the key under `as-written.toml`; `=` stands for the first key, `-` for none.
fn rows(convention: &str) -> Vec<Row> {
    let list = fs::read_to_string(file(convention, "keys.tsv")).expect("the list is there");
    let mut rows = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let [definition, params, ruled, _document, written] =
            line.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("{convention}/keys.tsv: a line has five columns: {line}");
        };
        let written = if written == "=" { ruled } else { written };
        // The one prefix with a parameter; the document's own is fixed.
        let prefix = if convention == "reed-cms" { "site=reed" } else { "-" };
        for (schema, prefix, key) in
            [("keyward.toml", prefix, ruled), ("as-written.toml", "-", written)]
        {
            if key != "-" {
                let params = [prefix].into_iter().chain(params.split(' '));
                rows.push(Row {
                    schema,
                    definition: (definition != "-").then(|| definition.to_owned()),
                    params: params.filter(|it| *it != "-").map(Into::into).collect(),
                    key: key.to_owned(),
                });
            }
        }
    }
    assert!(!rows.is_empty(), "{convention}/keys.tsv is empty");
    rows
}

/// The ids of the ruled definitions.
fn definitions(convention: &str) -> Vec<String> {
    let schema = fs::read_to_string(file(convention, "keyward.toml")).expect("it is there");
    let tables = schema.lines().filter_map(|line| line.strip_prefix("[keys.")?.strip_suffix(']'));
    tables.filter(|name| !name.contains('.')).map(str::to_owned).collect()
}

/// The example keys of the document, without the prefix.
fn examples(convention: &str) -> Vec<String> {
    let schema = fs::read_to_string(file(convention, "as-written.toml")).expect("it is there");
    let keys = schema.split("\n[text.").next().unwrap_or_default();
    let lists = keys.split("\nexamples = [").skip(1).filter_map(|rest| rest.split(']').next());
    lists.flat_map(|list| list.split('"').skip(1).step_by(2)).map(str::to_owned).collect()
}
