//! Types of the schema's own: texts, words, and keys of several definitions.

use super::Rust;
use super::text::{code, doc, pascal, prose};
use super::types::has_own_type;
use crate::model::{Key, ParamType, Value, Word};
use keyward_schema::model::Flag;
use proc_macro2::TokenStream;
use quote::quote;

impl Rust<'_> {
    /// The module `values`.
    pub(super) fn value_types(&self) -> TokenStream {
        let types = self.module.types.iter().filter(|ty| is_declared(ty)).map(|ty| {
            let name = pascal(&ty.name);
            let what = match ty.kind {
                "text" => "A text",
                "enum" => "A word",
                _ => "A key",
            };
            let first = prose(ty.doc.as_ref())
                .unwrap_or_else(|| format!("{what} for the parameter {}", code(&ty.name.id)));
            let mut docs = doc(&first);
            if ty.kind != "key" {
                let lower = if ty.lower { "; put into lower case" } else { "" };
                docs.extend([doc(""), doc(&format!("{}{lower}", code(&ty.description)))]);
            }
            match ty.kind {
                "text" => quote! {
                    #docs
                    #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
                    pub struct #name(pub(super) ::std::string::String);
                },
                "enum" => words(&docs, &name, &ty.words),
                _ => self.one_of(&docs, &name, &ty.keys, &quote!(super::)),
            }
        });
        quote! {
            /// The types of parameters that are the schema's own.
            pub mod values { #(#types)* }
        }
    }

    /// The module `stored`.
    pub(super) fn stored_types(&self) -> TokenStream {
        let types = self.keys.iter().flat_map(|key| own_values(key).map(move |value| (key, value)));
        let types = types.map(|(key, value)| {
            let name = pascal(&key.name);
            let what = if value.kind == "enum" { "word" } else { "key" };
            let docs = doc(&format!("A {what} under [`keys::{name}`](super::keys::{name})"));
            self.own_type(&docs, &name, value, &quote!(super::))
        });
        quote! {
            /// What single keys hold, where that is one of a few words, or another key.
            pub mod stored { #(#types)* }
        }
    }

    /// The type of a value that [has its own](has_own_type).
    pub(super) fn own_type(
        &self,
        docs: &TokenStream,
        name: &proc_macro2::Ident,
        value: &Value,
        up: &TokenStream,
    ) -> TokenStream {
        match value.kind {
            "enum" => words(docs, name, &value.words),
            _ => self.one_of(docs, name, &value.keys, up),
        }
    }

    /// An enum of keys.
    fn one_of(
        &self,
        docs: &TokenStream,
        name: &proc_macro2::Ident,
        keys: &[usize],
        up: &TokenStream,
    ) -> TokenStream {
        let variants = keys.iter().map(|&at| {
            let docs = doc(&format!("A key of {}", code(&self.keys[at].name.id)));
            let (name, ty) = (self.key_name(at), self.key_type(at, up));
            quote!(#docs #name(#ty))
        });
        quote! {
            #docs
            #[derive(Debug, Clone, PartialEq, Eq, Hash)]
            pub enum #name { #(#variants,)* }
        }
    }

    /// How the types of `values` and `stored` are read and written.
    pub(super) fn values(&self) -> TokenStream {
        let mut items = TokenStream::new();
        for ty in self.module.types.iter().filter(|ty| is_declared(ty)) {
            let name = pascal(&ty.name);
            let path = quote!(values::#name);
            items.extend(match ty.kind {
                "text" => {
                    let (param, encoded) = (Self::type_static(ty), ty.encoded);
                    let language = ty.language.map(super::text::number);
                    quote!(::keyward::__text_value!(#path, Key, const { &#param }, #language, #encoded);)
                }
                "enum" => {
                    let spellings = ty.words.iter().map(|word| word.spelling.as_str());
                    word_value(&path, &Self::type_static(ty), &ty.words, spellings)
                }
                _ => self.key_value(&path, &ty.keys),
            });
        }
        for key in self.keys {
            for value in own_values(key) {
                let name = pascal(&key.name);
                items.extend(self.own_value(&quote!(stored::#name), &key.name.id, value));
                if key.role == Some("flag") {
                    items.extend(switch(&quote!(stored::#name), value));
                }
            }
        }
        items
    }

    /// How a type of a value's own is read and written.
    pub(super) fn own_value(&self, path: &TokenStream, id: &str, value: &Value) -> TokenStream {
        if value.kind != "enum" {
            return self.key_value(path, &value.keys);
        }
        let param = quote!(Param::new(#id, "enum", Language::Own));
        word_value(path, &param, &value.words, value.words.iter().map(|word| word.text.as_str()))
    }

    fn key_value(&self, path: &TokenStream, keys: &[usize]) -> TokenStream {
        let names = keys.iter().map(|&at| self.key_name(at));
        let types = keys.iter().map(|&at| self.key_type(at, &TokenStream::new()));
        quote!(::keyward::__key_value!(#path, Key, { #(#names(#types),)* });)
    }
}

/// Which words of a flag mean on.
fn switch(path: &TokenStream, value: &Value) -> TokenStream {
    let on = value.words.iter().filter(|word| Flag::meaning(&word.text) == Some(true));
    let on = on.map(|word| pascal(&word.name));
    quote! {
        impl ::keyward::Switch for #path {
            #[inline]
            fn is_on(&self) -> bool {
                [#(#path::#on,)*].contains(self)
            }
        }
    }
}

/// What a definition holds that has a type of its own.
fn own_values(key: &Key) -> impl Iterator<Item = &Value> {
    [&key.value, &key.member].into_iter().flatten().filter(|value| has_own_type(value))
}

/// A type that holds the keys of one definition is that definition's.
fn is_declared(ty: &ParamType) -> bool {
    ty.kind != "key" || ty.keys.len() > 1
}

/// An enum of words.
fn words(docs: &TokenStream, name: &proc_macro2::Ident, words: &[Word]) -> TokenStream {
    let variants = words.iter().map(|word| {
        let (docs, name) = (doc(&code(&word.text)), pascal(&word.name));
        quote!(#docs #name)
    });
    quote! {
        #docs
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum #name { #(#variants,)* }
    }
}

fn word_value<'w>(
    path: &TokenStream,
    param: &TokenStream,
    words: &'w [Word],
    spellings: impl Iterator<Item = &'w str>,
) -> TokenStream {
    let names = words.iter().map(|word| pascal(&word.name));
    let texts = words.iter().map(|word| &word.text);
    quote! {
        ::keyward::__word_value!(#path, Key, const { &#param }, { #(#names = #texts as #spellings,)* });
    }
}
