//! What is between the parentheses of `keyspace!`.

use proc_macro::{Span, TokenStream, TokenTree};

const USAGE: &str = "write `keyspace!(\"keyward.toml\")`, or with the application's own types \
                     `keyspace!(\"keyward.toml\", values = crate::model)`";

/// The arguments of the macro.
pub(crate) struct Arguments {
    /// Where the schema is
    pub(crate) path: String,
    /// Where the path stands
    pub(crate) span: Span,
    /// The module of the application's types
    pub(crate) values: Option<TokenStream>,
}

/// A message and its place.
type Refusal = (Span, String);

impl Arguments {
    pub(crate) fn read(input: TokenStream) -> Result<Self, Refusal> {
        let mut tokens = input.into_iter();
        let Some(first) = tokens.next() else {
            return Err((
                Span::call_site(),
                format!("expected the path of a schema\n\nhelp: {USAGE}"),
            ));
        };
        let span = first.span();
        let path = path(&first).map_err(|message| (span, message))?;
        let mut arguments = Arguments { path, span, values: None };
        match tokens.next() {
            None => return Ok(arguments),
            Some(token) if is(&token, ',') => {}
            Some(token) => return Err(unexpected(&token)),
        }
        let Some(name) = tokens.next() else { return Ok(arguments) };
        if name.to_string() != "values" {
            return Err(unexpected(&name));
        }
        match tokens.next() {
            Some(token) if is(&token, '=') => {}
            other => return Err(unexpected(other.as_ref().unwrap_or(&name))),
        }
        arguments.values = Some(module(&name, tokens)?);
        Ok(arguments)
    }
}

fn is(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn unexpected(token: &TokenTree) -> Refusal {
    (token.span(), format!("`{token}` is not expected here\n\nhelp: {USAGE}"))
}

/// The text of a string literal.
fn path(token: &TokenTree) -> Result<String, String> {
    let text = token.to_string();
    let raw = text.strip_prefix('r').map(|text| text.trim_matches('#'));
    let inside = raw.unwrap_or(&text).strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match inside {
        None => Err(format!("expected the path of a schema in quotes\n\nhelp: {USAGE}")),
        Some("") => Err(format!("the path is empty\n\nhelp: {USAGE}")),
        Some(inside) if raw.is_none() && inside.contains('\\') => {
            Err("the path has an escape\n\nhelp: write it with `/`".to_owned())
        }
        Some(inside) => Ok(inside.to_owned()),
    }
}

/// A path of modules. The generated module is not where the macro is, so that only a path
/// from the top means the same in both.
fn module(
    name: &TokenTree,
    tokens: impl Iterator<Item = TokenTree>,
) -> Result<TokenStream, Refusal> {
    let mut path = Vec::new();
    for token in tokens {
        match token {
            _ if is(&token, ',') => break,
            TokenTree::Ident(_) => path.push(token),
            _ if is(&token, ':') => path.push(token),
            other => return Err(unexpected(&other)),
        }
    }
    let absolute = path.first().is_some_and(|first| is(first, ':') || first.to_string() == "crate");
    if absolute && matches!(path.last(), Some(TokenTree::Ident(_))) {
        return Ok(path.into_iter().collect());
    }
    let help = "write the path from the crate's top: `values = crate::model`";
    Err((name.span(), format!("`values` must name a module\n\nhelp: {help}")))
}
