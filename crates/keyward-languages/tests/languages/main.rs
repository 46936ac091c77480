//! Generated code, compiled and run by its own language's tools against golden vectors.
//!
//! Every language gets the five examples, `shapes.toml` and a few hundred random schemas. Its runner, a small
//! program in that language, reads the vectors and calls generated code; it prints each vector that
//! fails, and in its last line how many it has checked.

mod go;
mod hostile;
mod java;
mod python;
mod random;
mod rust;
mod typescript;

use keyward_codegen::model::Module;
use keyward_codegen::{Files, Plan};
use keyward_languages::{Language, Settings, vectors};
use keyward_pattern::Type;
use keyward_schema::model::Definition;
use keyward_schema::{Schema, read};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// How many random schemas there are.
const RANDOM: usize = 200;

/// A keyspace to generate code for.
pub(crate) struct Case {
    pub(crate) schema: Schema,
    pub(crate) module: Module,
    vectors: Files,
}

/// The examples and the random schemas, and their vectors.
pub(crate) static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let names = ["binary-options", "document-library", "media-gateway", "reed-cms", "xeuz-cloud"];
    let examples = names.map(schema_of_example);
    let shapes = read(include_str!("shapes.toml")).schema.unwrap();
    assert!(
        keyward_rules::unsound(&[&shapes]).is_empty(),
        "{:?}",
        keyward_rules::unsound(&[&shapes])
    );
    let schemas = examples.into_iter().chain([shapes]).chain(random::schemas(RANDOM));
    let cases = schemas.map(|schema| {
        let module = Module::new(&schema).unwrap();
        let vectors = vectors::vectors(&schema);
        Case { schema, module, vectors }
    });
    cases.collect()
});

fn schema_of_example(name: &str) -> Schema {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let loaded = keyward_schema::load(&examples.join(name).join("keyward.toml"));
    loaded.schema.unwrap_or_else(|errors| panic!("{name}: {errors:?}"))
}

/// The model of an example.
pub(crate) fn example(name: &str) -> Module {
    Module::new(&schema_of_example(name)).unwrap()
}

/// The model of `tenants.toml`: a prefix to bind, and texts that would like to be code.
pub(crate) fn tenants() -> Module {
    Module::new(&read(include_str!("tenants.toml")).schema.unwrap()).unwrap()
}

/// The model of `trading.toml`: a migration that has begun.
pub(crate) fn trading() -> Module {
    Module::new(&read(include_str!("trading.toml")).schema.unwrap()).unwrap()
}

/// Code of one language for some keyspaces, in a folder of its own.
pub(crate) struct Workspace {
    pub(crate) folder: PathBuf,
    /// The path of each case's vectors
    pub(crate) vectors: Vec<PathBuf>,
}

impl Workspace {
    /// Generates the code. `below` says in which folder the code for a keyspace goes.
    pub(crate) fn new(language: Language, below: impl Fn(&Module) -> String) -> Self {
        Workspace::with(language, |_| Settings::default(), below)
    }

    /// The same with settings for each keyspace.
    pub(crate) fn with(
        language: Language,
        settings: impl Fn(&Module) -> Settings,
        below: impl Fn(&Module) -> String,
    ) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(language.name());
        let templates = Language::all_templates(None).unwrap();
        let mut paths = Vec::new();
        for case in CASES.iter() {
            let files =
                language.generate(&case.module, &templates, &settings(&case.module)).unwrap();
            write(&folder.join(below(&case.module)), &files);
            write(&folder.join("vectors"), &case.vectors);
            for (path, _) in case.vectors.iter() {
                paths.push(folder.join("vectors").join(path));
            }
        }
        Workspace { folder, vectors: paths }
    }

    /// The code for some keyspaces, in a folder for one purpose.
    pub(crate) fn of(language: Language, purpose: &str, modules: &[Module]) -> Self {
        let name = format!("{}-{purpose}", language.name());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let templates = Language::all_templates(None).unwrap();
        for module in modules {
            let files = language.generate(module, &templates, &Settings::default()).unwrap();
            write(&folder, &files);
        }
        Workspace { folder, vectors: Vec::new() }
    }

    fn output(&self, program: &str, args: &[&str]) -> Output {
        let command = Command::new(program).args(args).current_dir(&self.folder).output();
        command.unwrap_or_else(|error| panic!("{program}: {error}; run `./test tools`"))
    }

    /// Adds the code of one more keyspace, for which there are no vectors.
    pub(crate) fn add(
        &self,
        language: Language,
        module: &Module,
        settings: &Settings,
        below: &str,
    ) {
        let templates = Language::all_templates(None).unwrap();
        let files = language.generate(module, &templates, settings).unwrap();
        write(&self.folder.join(below), &files);
    }

    /// Runs a program in the folder, which must succeed; what it printed.
    pub(crate) fn run(&self, program: &str, args: &[&str]) -> String {
        let output = self.output(program, args);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{program} {args:?} in {}: {}\n{}\n{}",
            self.folder.display(),
            output.status,
            first_lines(&stdout),
            first_lines(&stderr)
        );
        stdout
    }

    /// Runs a program in the folder, which must fail; what it said, without the folder.
    pub(crate) fn fail(&self, program: &str, args: &[&str]) -> String {
        let output = self.output(program, args);
        assert!(!output.status.success(), "{program} {args:?} in {}", self.folder.display());
        let folder = format!("{}/", self.folder.display());
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&said).replace(&folder, "")
    }
}

/// Asserts that a runner has checked every vector that its language can express.
pub(crate) fn assert_checked(printed: &str, can_hold: impl Fn(&Value) -> bool) {
    let expected: usize = CASES.iter().map(|case| case.expressible(&can_hold)).sum();
    let last = printed.lines().last().unwrap_or_default();
    assert_eq!(last, format!("checked {expected} vectors in {} keyspaces", CASES.len()));
}

impl Case {
    /// How many vectors have only values that the language can hold, as `can_hold` says of those that
    /// are no strings.
    fn expressible(&self, can_hold: &impl Fn(&Value) -> bool) -> usize {
        let text = self.vectors.iter().next().unwrap().1;
        let document: Value = serde_json::from_str(text).unwrap();
        let lists = ["prefixes", "build", "parse", "glob", "events", "former", "names"];
        let vectors = lists.iter().flat_map(|list| document[*list].as_array().unwrap());
        vectors
            .filter(|vector| {
                // A key to parse may be bytes in every language.
                let params = vector["params"].as_object().into_iter().flat_map(|it| it.values());
                params.filter(|text| text.is_object()).all(can_hold)
            })
            .count()
    }
}

/// The path of a program that `./test tools` fetches.
pub(crate) fn tool(path: &str) -> String {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let tool = tools.join(path);
    assert!(tool.exists(), "`{path}` is missing: run `./test tools`");
    tool.to_string_lossy().into_owned()
}

fn write(folder: &Path, files: &Files) {
    Plan::new(folder, std::slice::from_ref(files), true).unwrap().apply().unwrap();
}

/// The paths of all files below a folder with this ending, in order.
pub(crate) fn files_below(folder: &Path, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path.display().to_string());
        }
    }
    found.sort();
    found
}

/// Generated code for a reader: without the tables.
pub(crate) fn without_block(module: &Module, text: &str) -> String {
    text.replace(&module.block, "…")
}

fn first_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().take(60).collect();
    lines.join("\n")
}

#[test]
fn the_vectors_have_addresses_with_colons_in_unions() {
    let unions = CASES.iter().flat_map(|case| {
        let params = case.schema.keys.iter().flat_map(|key| &key.params);
        let unions = params.filter(|it| matches!(it.param.ty, Type::Any(_)));
        unions.map(move |param| (case, param.name.value.clone()))
    });
    let accepted = unions.into_iter().any(|(case, param)| {
        let document: Value = serde_json::from_str(case.vectors.iter().next().unwrap().1).unwrap();
        let mut vectors = document["build"].as_array().unwrap().iter();
        vectors.any(|vector| {
            vector["params"][&param] == "::ffff:1.2.3.4"
                && vector["key"].as_str().is_some_and(|key| key.contains("1.2.3.4"))
        })
    });
    assert!(accepted, "no union takes an address with colons");
}

#[test]
fn the_random_schemas_use_the_whole_language() {
    let keys = || CASES.iter().flat_map(|case| &case.module.keys);
    let kinds: Vec<&str> = keys().flat_map(|key| &key.params).map(|param| param.ty.kind).collect();
    for kind in ["uuid", "int", "uint", "date", "unix", "unix_ms", "ip", "enum", "text", "key"] {
        assert!(kinds.contains(&kind), "no parameter of kind {kind}");
    }
    assert!(keys().any(|key| key.shadowed), "no reserved word");
    let bounded = |case: &&Case| case.schema.compiled.max_bare_len().is_some();
    let partial = |case: &Case| case.module.keys.iter().any(|key| key.shadowed);
    assert!(CASES.iter().filter(bounded).any(partial), "no key that could be too long");
    let params = CASES.iter().flat_map(|case| &case.schema.keys).flat_map(|key| &key.params);
    assert!(params.into_iter().any(|it| !it.param.except.is_empty()), "no reserved word refused");
    assert!(keys().any(|key| key.tagged), "no hash tag");
    let random = || CASES.iter().filter(|case| case.schema.keyspace.name.starts_with("random"));
    let separated = |case: &Case| case.schema.keys.iter().any(|key| key.separators.is_some());
    assert!(random().any(separated), "no further separator");
    let inner = |case: &Case| {
        let holes = |key: &Definition| {
            let pattern = key.pattern.as_str();
            key.pattern.holes().any(|hole| hole.rest && hole.span.end < pattern.len())
        };
        case.schema.keys.iter().any(holes)
    };
    assert!(random().any(inner), "nothing behind what takes several segments");
    let spanning = |case: &Case| {
        case.schema.keys.iter().flat_map(|it| &it.params).any(|it| it.param.ty.spans())
    };
    assert!(random().any(spanning), "no address with colons");
    assert!(keys().flat_map(|key| &key.params).any(|param| param.rest), "no rest");
    assert!(keys().flat_map(|key| &key.params).any(|param| param.ty.lower), "no normalisation");
    assert!(CASES.iter().any(|case| !case.module.prefix.params.is_empty()), "no bound prefix");
    assert!(
        CASES.iter().any(|case| case.schema.compiled.separator() != b':'),
        "only one separator"
    );
    let former = || CASES.iter().flat_map(|case| &case.module.former);
    for phase in ["dual-write", "read-fallback", "cleanup"] {
        assert!(former().any(|former| former.phase == phase), "no old name in {phase}");
    }
    let parts = || former().flat_map(|former| &former.parts);
    assert!(parts().any(|part| !part.keys.is_empty()), "no key in an old name");
    assert!(parts().any(|part| part.recase.is_some()), "no old name in another case");
    assert!(former().any(|former| former.db.is_some()), "no old name in another database");
    let vectors = CASES.iter().flat_map(|case| {
        let document: Value = serde_json::from_str(case.vectors.iter().next().unwrap().1).unwrap();
        document["former"].as_array().unwrap().clone()
    });
    let found: Vec<Value> = vectors.filter(|it| !it["definition"].is_null()).collect();
    assert!(found.iter().any(|it| it["params"].is_null()), "every old name says its new one");
    assert!(found.iter().any(|it| it["params"].is_object()), "no old name says its new one");
    assert!(
        found.iter().any(|it| it.get("prefix").is_some_and(Value::is_null)),
        "every old name says its prefix"
    );
    let events = || CASES.iter().flat_map(|case| &case.module.events);
    assert!(events().flat_map(|event| &event.invalidates).any(|it| !it.exact), "no free parameter");
}
