//! The templates: ours, or a folder of the user's in their place.

use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Templates by name, such as `typescript/keys.ts`.
pub struct Templates {
    texts: BTreeMap<String, String>,
    environment: Environment<'static>,
}

impl Templates {
    /// These templates, each with its name; a file of the same name and `.j2` below `overrides` takes
    /// the place of one.
    pub fn new(
        ours: &[(&'static str, &'static str)],
        overrides: Option<&Path>,
    ) -> Result<Self, TemplateError> {
        let mut texts: BTreeMap<String, String> =
            ours.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        if let Some(folder) = overrides {
            for (name, text) in read_folder(folder)? {
                let Some(own) = texts.get_mut(&name) else {
                    let known = texts.keys().cloned().collect();
                    return Err(TemplateError::Unknown { folder: folder.to_owned(), name, known });
                };
                *own = text;
            }
        }
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_keep_trailing_newline(true);
        environment.set_auto_escape_callback(|name| {
            if Path::new(name).extension().is_some_and(|ending| ending == "html") {
                AutoEscape::Html
            } else {
                AutoEscape::None
            }
        });
        for (name, text) in &texts {
            environment
                .add_template_owned(name.clone(), text.clone())
                .map_err(|error| TemplateError::Template(Box::new(error)))?;
        }
        Ok(Templates { texts, environment })
    }

    /// Adds filters and functions before anything is rendered.
    pub fn environment(&mut self) -> &mut Environment<'static> {
        &mut self.environment
    }

    /// Fills a model into a template.
    pub fn render(&self, name: &str, model: impl Serialize) -> Result<String, TemplateError> {
        let template = self.environment.get_template(name);
        template
            .and_then(|template| template.render(model))
            .map_err(|error| TemplateError::Template(Box::new(error)))
    }

    /// Name and text of each template.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

impl fmt::Debug for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.texts.keys()).finish()
    }
}

/// Every `.j2` file below a folder, by its path without the ending.
fn read_folder(folder: &Path) -> Result<BTreeMap<String, String>, TemplateError> {
    let read = |path: &Path, error| TemplateError::Read(path.to_owned(), error);
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(current) = open.pop() {
        for entry in std::fs::read_dir(&current).map_err(|error| read(&current, error))? {
            let entry = entry.map_err(|error| read(&current, error))?;
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "j2") {
                let text = text(&path).map_err(|error| read(&path, error))?;
                let name = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
                let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
                found.insert(parts.join("/"), text);
            }
        }
    }
    Ok(found)
}

/// The longest template.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

fn text(path: &Path) -> io::Result<String> {
    let bytes = keyward_fact::read_file(path, MAX_BYTES)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

/// Why templates cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A file cannot be read
    #[error("cannot read `{0}`: {1}")]
    Read(PathBuf, #[source] io::Error),
    /// A file that does not replace a built-in template
    #[error("`{}/{name}.j2` does not replace a built-in template", folder.display())]
    Unknown {
        /// The user's folder
        folder: PathBuf,
        /// The name of the file
        name: String,
        /// The names of the built-in templates
        known: Vec<String>,
    },
    /// A template that cannot be parsed or filled
    #[error("{}", with_causes(.0))]
    Template(#[source] Box<minijinja::Error>),
}

impl TemplateError {
    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        let TemplateError::Unknown { name, known, .. } = self else { return None };
        let nearest = keyward_pattern::nearest(name, known.iter().map(String::as_str));
        Some(match nearest {
            Some(nearest) => format!("did you mean `{nearest}.j2`?"),
            None => format!("the templates are {}", known.join(", ")),
        })
    }
}

fn with_causes(error: &minijinja::Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
