//! Typed keys in every language, and golden vectors to test them with.
#![deny(missing_docs)]

mod go;
mod java;
mod python;
mod quote;
mod scope;
mod typescript;
pub mod vectors;

use keyward_codegen::model::{Key, Module, Name};
use keyward_codegen::rust::{self, RustError};
use keyward_codegen::{Files, HEADER, TemplateError, Templates};
use serde::Serialize;
use std::path::Path;

/// A language that typed keys can be generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Rust; the same code as `keyward::keyspace!` expands to
    Rust,
    /// TypeScript, as an ES module
    TypeScript,
    /// Python 3
    Python,
    /// Java 17
    Java,
    /// Go
    Go,
}

/// What a user may decide about generated code.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The Java package; the keyspace's name unless given
    pub java_package: Option<String>,
    /// The path of the module that holds the application's types, for Rust
    pub rust_values: Option<String>,
    /// Whether Java gets a class for Spring's cache abstraction
    pub spring: bool,
}

/// One of our templates, and where its result goes.
pub(crate) struct Template {
    /// `go/keys.go`
    name: &'static str,
    text: &'static str,
    /// The path below the output folder
    path: fn(&Context<'_>) -> String,
    /// Whether this schema needs the file at all
    wanted: fn(&Module) -> bool,
}

/// What a template sees.
#[derive(Debug, Serialize)]
pub(crate) struct Context<'m> {
    /// The model
    #[serde(flatten)]
    module: &'m Module,
    /// The line that says who wrote the file
    header: &'static str,
    /// The Java package
    java_package: String,
    /// The definitions that Spring's cache abstraction can hold
    caches: Vec<&'m Key>,
}

impl<'m> Context<'m> {
    fn new(module: &'m Module, settings: &Settings) -> Self {
        let java_package = settings.java_package.clone();
        Context {
            module,
            header: HEADER,
            java_package: java_package
                .unwrap_or_else(|| quote::ident(&Name::new(&module.name.id).flat, "java")),
            caches: module.keys.iter().filter(|key| key.cache_name.is_some()).collect(),
        }
    }
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 5] =
        [Language::Rust, Language::TypeScript, Language::Python, Language::Java, Language::Go];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::TypeScript => "typescript",
            Language::Python => "python",
            Language::Java => "java",
            Language::Go => "go",
        }
    }

    fn templates(self) -> &'static [Template] {
        match self {
            Language::Rust => &[],
            Language::TypeScript => typescript::TEMPLATES,
            Language::Python => python::TEMPLATES,
            Language::Java => java::TEMPLATES,
            Language::Go => go::TEMPLATES,
        }
    }

    /// The keyspace with names as the language needs them.
    fn settle(self, module: &Module) -> Module {
        match self {
            Language::TypeScript => typescript::settle(module),
            Language::Python => python::settle(module),
            Language::Java => java::settle(module),
            Language::Go => go::settle(module),
            Language::Rust => module.clone(),
        }
    }

    /// The templates of all languages that have some, with those of a folder in the place of ours.
    pub fn all_templates(overrides: Option<&Path>) -> Result<Templates, TemplateError> {
        let ours: Vec<(&str, &str)> = Language::ALL
            .into_iter()
            .flat_map(Language::templates)
            .map(|template| (template.name, template.text))
            .collect();
        let mut templates = Templates::new(&ours, overrides)?;
        quote::add_filters(templates.environment());
        Ok(templates)
    }

    /// The files for one keyspace.
    pub fn generate(
        self,
        module: &Module,
        templates: &Templates,
        settings: &Settings,
    ) -> Result<Files, GenerateError> {
        let generator = format!("{}/{}", self.name(), module.name.kebab);
        let mut files = Files::new(&generator);
        if self == Language::Rust {
            let (path, text) = rust::file(module, settings.rust_values.as_deref())?;
            files.add(path, text);
            return Ok(files);
        }
        let settled = self.settle(module);
        let context = Context::new(&settled, settings);
        let wanted = |template: &&Template| {
            (template.wanted)(module) && (settings.spring || template.name != java::SPRING)
        };
        for template in self.templates().iter().filter(wanted) {
            let text = templates.render(template.name, &context)?;
            files.add((template.path)(&context), text);
        }
        Ok(files)
    }
}

/// Why there is no code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A template cannot be used
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// Rust, which has no templates, cannot be written
    #[error(transparent)]
    Rust(#[from] RustError),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They differ from language to language, and from version to version.
    #[test]
    fn generated_code_asks_no_library_what_a_text_is() {
        let libraries = [
            (
                "typescript",
                &["RegExp", "toLowerCase", "encodeURIComponent", ".match(", ".replace(/"][..],
            ),
            ("python", &["import re\n", "str.lower", ".casefold(", ".isdigit()", "urllib"]),
            (
                "java",
                &["java.util.regex", "toLowerCase", "UUID.fromString", "URLEncoder", "getByName"],
            ),
            ("go", &["regexp", "ToLower", "unicode.", "net/url"]),
        ];
        for (language, forbidden) in libraries {
            let language = Language::ALL.into_iter().find(|it| it.name() == language).unwrap();
            for template in language.templates() {
                for word in forbidden {
                    assert!(!template.text.contains(word), "{} uses {word}", template.name);
                }
            }
        }
    }
}
