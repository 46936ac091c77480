//! Rust as a file for people.

use super::contents;
use crate::model::Module;

/// A keyspace as a file: its name, and its text laid out nearly as `rustfmt` does. `values` is the path
/// of the module that holds the application's types.
pub fn file(module: &Module, values: Option<&str>) -> Result<(String, String), RustError> {
    let tokens = |path: &str| path.parse().map_err(|_| RustError::Values(path.to_owned()));
    let values = values.map(tokens).transpose()?;
    let file = syn::parse2(contents(module, values)).map_err(RustError::Code)?;
    let mut text = format!("// @generated\n// {}\n", crate::HEADER);
    let unparsed = prettyplease::unparse(&file);
    let mut lines = unparsed.lines().peekable();
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        // Between two items, or two methods.
        let closes = matches!(line, "}" | "    }");
        if closes && lines.peek().is_some_and(|next| !next.trim_start().starts_with('}')) {
            text.push('\n');
        }
    }
    Ok((format!("{}.rs", super::snake(&module.name)), text))
}

/// Why a file cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RustError {
    /// The path of the application's types cannot be read
    #[error("`{0}` is not the path of a module")]
    Values(String),
    /// The code cannot be read: a mistake of Keyward's
    #[error("the generated Rust cannot be read: {0}")]
    Code(#[source] syn::Error),
}
