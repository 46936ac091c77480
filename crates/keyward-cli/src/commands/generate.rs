//! `keyward generate`: typed keys for every language, and vectors to test them with.

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

pub(crate) fn run(args: &Generate, settings: &Settings, output: &Output) -> Result<Verdict> {
    if let Some(folder) = &args.eject {
        let templates = Language::all_templates(None).map_err(|error| unusable(&error))?;
        let target = Target { folder, check: args.check, force: args.force };
        return eject(&target, templates.iter(), output);
    }
    let schemas = sound(Schemas::open(settings.schemas(&[])?), output)?;
    let overrides = args.template.as_deref();
    let templates = Language::all_templates(overrides).map_err(|error| unusable(&error))?;
    let options = keyward_languages::Settings {
        java_package: args.java_package.clone(),
        rust_values: args.rust_values.clone(),
        spring: args.spring,
    };
    let languages = args.languages();
    let mut generated: Vec<Files> = Vec::new();
    for schema in &schemas {
        let module = Module::new(schema).map_err(|error| Failure::new(error.to_string()))?;
        for language in &languages {
            let files = language.generate(&module, &templates, &options);
            let files = files.map_err(|error| match error {
                GenerateError::Template(error) => unusable(&error),
                error => Failure::new(error.to_string()),
            })?;
            let apart = languages.len() > 1;
            generated.push(if apart { files.below(language.name()) } else { files });
        }
        if args.vectors {
            generated.push(vectors::vectors(schema));
        }
    }
    let target = Target { folder: &args.out, check: args.check, force: args.force };
    settle(&target, &generated, output)
}

/// The schemas, if code can be made from them: nothing may be wrong that the proofs rest on.
fn sound(schemas: Schemas, output: &Output) -> Result<Vec<Schema>> {
    let mut findings = Vec::new();
    for (opened, schema) in schemas.readable() {
        findings.extend(keyward_rules::unsound(schema));
        if schema.keys.is_empty() {
            return Err(Failure::new(format!("`{}` declares no keys", opened.path.display()))
                .help("declare the first: `[keys.NAME]` with a `pattern`"));
        }
    }
    if findings.is_empty() {
        return schemas.usable(output);
    }
    Err(Failure::rendered(render(&schemas.sources, &findings, output.style()))
        .help("no code is generated from a schema that is not sound"))
}
