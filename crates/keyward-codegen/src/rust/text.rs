//! Names and texts of a schema as Rust: its texts are hostile, and its names may be keywords.

use crate::model::{Name, one_line};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};

/// `FolderListing`
pub(super) fn pascal(name: &Name) -> Ident {
    ident(&name.pascal)
}

/// `folder_listing`
pub(super) fn snake(name: &Name) -> Ident {
    ident(&name.snake)
}

/// `FOLDER_LISTING`
pub(super) fn screaming(name: &Name) -> Ident {
    ident(&name.screaming)
}

/// An identifier that is not a keyword.
pub(super) fn ident(name: &str) -> Ident {
    let call_site = Span::call_site();
    if KEYWORDS.contains(&name) {
        return Ident::new(&format!("{name}_"), call_site);
    }
    Ident::new(name, call_site)
}

/// A number without the name of its type.
pub(super) fn number(number: impl TryInto<u64>) -> Literal {
    Literal::u64_unsuffixed(number.try_into().unwrap_or(u64::MAX))
}

/// `Some(…)` or `None`
pub(super) fn option(value: Option<impl ToTokens>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

/// A line of documentation.
pub(super) fn doc(line: &str) -> TokenStream {
    let line = if line.is_empty() { String::new() } else { format!(" {line}") };
    quote!(#[doc = #line])
}

/// A text of the schema, for documentation; nothing if it is empty.
pub(super) fn prose(text: Option<&String>) -> Option<String> {
    let text = text?.trim();
    (!text.is_empty()).then(|| one_line(text).replace('[', "\\[").replace('<', "\\<"))
}

/// A text of the schema as code in documentation.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", one_line(text).replace('`', "'"))
}

const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "Self", "static", "struct", "super", "trait", "true", "try", "type",
    "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
