//! `keyward generate`: typed keys for every language, and vectors to test them with.

mod targets;

use crate::args::Generate;
use crate::failure::{Failure, Result};
use crate::generated::{Target, eject, settle, unusable};
use crate::output::Output;
use crate::schemas::Schemas;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_codegen::Files;
use keyward_codegen::model::Module;
use keyward_languages::{GenerateError, Language, vectors};
use keyward_schema::model::Schema;
use keyward_schema::render;
use std::collections::BTreeMap;
use std::path::PathBuf;
use targets::{What, targets};

pub(crate) fn run(args: &Generate, settings: &Settings, output: &Output) -> Result<Verdict> {
    if let Some(folder) = &args.eject {
        let templates = Language::all_templates(None).map_err(|error| unusable(&error))?;
        let target = Target { folder, check: args.check, force: args.force };
        return eject(&target, templates.iter(), output);
    }
    let paths = settings.schemas(&[])?;
    let schemas = sound(Schemas::open(paths.clone()), output)?;
    let overrides = args.template.as_deref();
    let templates = Language::all_templates(overrides).map_err(|error| unusable(&error))?;
    let mut generated: BTreeMap<PathBuf, Vec<Files>> = BTreeMap::new();
    for (path, schema) in paths.iter().zip(&schemas) {
        let module = Module::new(schema).map_err(|error| Failure::new(error.to_string()))?;
        for target in targets(args, path, &schema.generate)? {
            let files = match target.what {
                What::Vectors => vectors::vectors(schema),
                What::Code(language) => language
                    .generate(&module, &templates, &target.settings)
                    .map_err(|error| match error {
                        GenerateError::Template(error) => unusable(&error),
                        error => Failure::new(error.to_string()),
                    })?,
            };
            let files = target.below.map_or(files.clone(), |folder| files.below(folder));
            generated.entry(target.folder).or_default().push(files);
        }
    }
    let mut verdict = Verdict::Clean;
    for (folder, files) in &generated {
        let target = Target { folder, check: args.check, force: args.force };
        if settle(&target, files, output)? == Verdict::Findings {
            verdict = Verdict::Findings;
        }
    }
    Ok(verdict)
}

/// The schemas, if code can be made from them: nothing may be wrong that the proofs rest on.
fn sound(schemas: Schemas, output: &Output) -> Result<Vec<Schema>> {
    for (opened, schema) in schemas.readable() {
        if schema.keys.is_empty() {
            return Err(Failure::new(format!("`{}` declares no keys", opened.path.display()))
                .help("declare the first: `[keys.NAME]` with a `pattern`"));
        }
    }
    let readable: Vec<&Schema> = schemas.readable().map(|(_, schema)| schema).collect();
    let findings = keyward_rules::unsound(&readable);
    if findings.is_empty() {
        return schemas.usable(output);
    }
    Err(Failure::rendered(render(&schemas.sources, &findings, output.style()))
        .help("fix the schema: code is generated only from a sound one"))
}
