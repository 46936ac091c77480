//! `keyward::keyspace!`: a `keyward.toml` becomes typed keys when the crate is compiled.
//!
//! Use it through the crate [`keyward`](https://docs.rs/keyward), which has what the generated code
//! needs.
#![deny(missing_docs)]

mod arguments;

use arguments::Arguments;
use keyward_codegen::model::Module;
use keyward_codegen::rust;
use keyward_schema::{Diagnostic, Sources, Style, load, render};
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use std::path::{Path, PathBuf};

/// Typed keys from a schema: `keyward::keyspace!("keyward.toml");`
///
/// The path is relative to the folder of the crate's `Cargo.toml`. The module has the name of the
/// keyspace. It is compiled again when the file changes, or one that it includes. What is wrong with
/// the schema is an error of the compiler, with the line it is about.
///
/// `values = crate::model` names the module that holds the application's types: a field
/// `{ json = "Basket" }` is then a `crate::model::Basket`, which serde must be able to read and write.
/// Otherwise it is a `serde_json::Value`.
#[proc_macro]
pub fn keyspace(input: TokenStream) -> TokenStream {
    let arguments = match Arguments::read(input) {
        Ok(arguments) => arguments,
        Err((span, message)) => return errors(span, &[message]),
    };
    let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else {
        return errors(
            arguments.span,
            &["CARGO_MANIFEST_DIR is not set: compile with cargo".into()],
        );
    };
    let expanded = expand(&folder, &arguments);
    let mut tokens = match expanded.code {
        Ok(code) => code,
        Err(messages) => errors(arguments.span, &messages),
    };
    tokens.extend(expanded.files.iter().filter_map(|path| included(path)));
    tokens
}

struct Expanded {
    /// The module, or what is wrong
    code: Result<TokenStream, Vec<String>>,
    /// The files that it comes from
    files: Vec<PathBuf>,
}

fn expand(folder: &Path, arguments: &Arguments) -> Expanded {
    let loaded = load(&folder.join(&arguments.path));
    let files = loaded.sources.iter().map(|(_, source)| source.path.clone()).collect();
    let sources = shown(&loaded.sources, folder);
    let told = |diagnostics: &[Diagnostic]| {
        diagnostics.iter().map(|diagnostic| told(&sources, diagnostic, folder)).collect()
    };
    let code = loaded.schema.map_err(|errors| told(&errors)).and_then(|schema| {
        let unsound = keyward_rules::unsound(&[&schema]);
        if !unsound.is_empty() {
            return Err(told(&unsound));
        }
        if schema.keys.is_empty() {
            let message = format!("`{}` declares no keys", arguments.path);
            let help = "declare the first: `[keys.NAME]` with a `pattern`";
            return Err(vec![format!("{message}\n\nhelp: {help}")]);
        }
        let module = Module::new(&schema).map_err(|error| vec![error.to_string()])?;
        Ok(rust::module(&module, arguments.values.clone().map(Into::into)).into())
    });
    Expanded { code, files }
}

/// The sources with their paths as a developer of the crate knows them.
fn shown(sources: &Sources, folder: &Path) -> Sources {
    let mut shown = Sources::default();
    for (_, source) in sources.iter() {
        let path = source.path.strip_prefix(folder).unwrap_or(&source.path);
        shown.add(path.to_owned(), source.text.clone());
    }
    shown
}

/// A diagnostic as the compiler will show it, after its own `error: `.
fn told(sources: &Sources, diagnostic: &Diagnostic, folder: &Path) -> String {
    let folder = format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR);
    if diagnostic.labels.is_empty() {
        let mut text = format!("{}\n", diagnostic.message);
        for help in &diagnostic.help {
            text.push_str(&format!("\nhelp: {help}"));
        }
        text.push_str("\nnote: the path is relative to the folder of the crate's Cargo.toml");
        return text.replace(&folder, "");
    }
    let text = render(sources, std::slice::from_ref(diagnostic), &Style::default());
    let text = text.replace(&folder, "");
    let level = format!("error[{}]: ", diagnostic.rule);
    text.strip_prefix(&level).unwrap_or(&text).trim_end().to_owned()
}

/// `::core::compile_error!("…");` for each message.
fn errors(span: Span, messages: &[String]) -> TokenStream {
    messages.iter().flat_map(|message| call("compile_error", span, message)).collect()
}

/// `const _: &[u8] = ::core::include_bytes!("…");`: the compiler then knows that it read the file.
fn included(path: &Path) -> Option<TokenStream> {
    let path = path.canonicalize().ok()?;
    let mut tokens: TokenStream = "const _: &[u8] =".parse().ok()?;
    tokens.extend(call("include_bytes", Span::call_site(), path.to_str()?));
    Some(tokens)
}

/// `::core::name!("argument");`
fn call(name: &str, span: Span, argument: &str) -> impl Iterator<Item = TokenTree> {
    let mut literal = Literal::string(argument);
    literal.set_span(span);
    let mut group = Group::new(Delimiter::Parenthesis, TokenStream::from(TokenTree::from(literal)));
    group.set_span(span);
    let punct = |char, spacing| {
        let mut punct = Punct::new(char, spacing);
        punct.set_span(span);
        TokenTree::from(punct)
    };
    [
        punct(':', Spacing::Joint),
        punct(':', Spacing::Alone),
        Ident::new("core", span).into(),
        punct(':', Spacing::Joint),
        punct(':', Spacing::Alone),
        Ident::new(name, span).into(),
        punct('!', Spacing::Alone),
        group.into(),
        punct(';', Spacing::Alone),
    ]
    .into_iter()
}
