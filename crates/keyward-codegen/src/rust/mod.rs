//! Rust: what `keyward::keyspace!` expands to and what `keyward generate` writes are the same items.
//!
//! Types come first, as a reader needs them; how they work follows. Inside the modules that hold names
//! of the schema only full paths are used: a key may be called `Option`.

mod event;
mod field;
#[cfg(feature = "files")]
mod file;
mod key;
mod text;
mod texts;
mod top;
mod types;
mod value;

#[cfg(feature = "files")]
pub use file::{RustError, file};

use crate::model::{Key, Module};
use proc_macro2::TokenStream;
use quote::quote;
use text::snake;

/// A keyspace as one module, for the macro. `values` is the path of the module that holds the
/// application's types.
pub fn module(module: &Module, values: Option<TokenStream>) -> TokenStream {
    let name = snake(&module.name);
    let contents = contents(module, values);
    quote!(pub mod #name { #contents })
}

/// What the module holds.
fn contents(module: &Module, values: Option<TokenStream>) -> TokenStream {
    let rust = Rust { module, keys: &module.keys, values };
    let mut items = rust.top();
    items.extend([rust.key_types(), rust.value_types(), rust.field_types(), rust.stored_types()]);
    items.extend([rust.event_types(), rust.ttls(), rust.globs(), rust.sums(), rust.prefix()]);
    items.extend(rust.keys.iter().map(|key| rust.key(key)));
    items.extend([rust.keyspace(), rust.values(), rust.fields(), rust.events(), rust.texts()]);
    items.extend(rust.block());
    items
}

/// A keyspace that becomes Rust.
struct Rust<'m> {
    module: &'m Module,
    keys: &'m [Key],
    /// The path of the module with the application's types
    values: Option<TokenStream>,
}

impl Rust<'_> {
    /// Whether every key begins with the same text.
    fn fixed(&self) -> bool {
        self.module.prefix.constant.is_some()
    }

    /// The argument that a key's methods take, where the prefix has parameters.
    fn held(&self) -> Option<TokenStream> {
        (!self.fixed()).then(|| quote!(prefix: &Prefix,))
    }

    /// The prefix, in a method that takes it.
    fn the_prefix(&self) -> TokenStream {
        if self.fixed() { quote!(&Prefix) } else { quote!(prefix) }
    }
}
