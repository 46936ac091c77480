//! Rust. The macro `keyward::keyspace!` and `keyward generate` share one template: the module's
//! contents, which the macro puts into a `mod` and a file holds as they are.

use super::{Template, quote};
use crate::{Language, Settings};
use keyward_codegen::{TemplateError, model::Module};

pub(super) const TEMPLATES: &[Template] = &[Template {
    name: NAME,
    text: include_str!("../templates/rust/keyspace.rs.j2"),
    path: |context| format!("{}.rs", module_name(context.module)),
    wanted: |_| true,
}];

const NAME: &str = "rust/keyspace.rs";

/// The name of the module that holds a keyspace: `xeuz_cloud`.
fn module_name(module: &Module) -> String {
    quote::ident(&module.name.snake, "rust")
}

/// A keyspace as one Rust module, for the macro: without line breaks where a person would want them.
pub fn rust_module(module: &Module, settings: &Settings) -> Result<String, TemplateError> {
    let templates = Language::Rust.own_templates()?;
    let context = super::Context::new(module, settings);
    let contents = templates.render(NAME, &context)?;
    Ok(format!("pub mod {} {{\n{contents}\n}}\n", module_name(module)))
}

/// Lays the text out as `rustfmt` does, or nearly; the comment that it begins with stays.
#[cfg(feature = "format")]
pub(super) fn format(text: String) -> String {
    let Ok(file) = syn::parse_file(&text) else { return text };
    let comment = text.lines().take_while(|line| line.starts_with("// "));
    let mut formatted: String = comment.flat_map(|line| [line, "\n"]).collect();
    let unparsed = prettyplease::unparse(&file);
    let mut lines = unparsed.lines().peekable();
    while let Some(line) = lines.next() {
        formatted.push_str(line);
        formatted.push('\n');
        // Between two items, or two methods.
        let closes = matches!(line, "}" | "    }");
        if closes && lines.peek().is_some_and(|next| !next.trim_start().starts_with('}')) {
            formatted.push('\n');
        }
    }
    formatted
}

/// A compiler reads it as it is.
#[cfg(not(feature = "format"))]
pub(super) fn format(text: String) -> String {
    text
}
