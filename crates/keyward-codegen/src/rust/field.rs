//! What hashes and the entries of streams hold.

use super::Rust;
use super::text::{code, doc, ident, number, pascal, prose, screaming, snake};
use super::types::{has_fields_type, has_own_type, is_json};
use crate::model::{Field, Key};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

impl Rust<'_> {
    /// The module `fields`.
    pub(super) fn field_types(&self) -> TokenStream {
        let types = self.keys.iter().filter(|key| has_fields_type(key));
        let types = types.map(|key| self.fields_of(key));
        quote! {
            /// What hashes hold, one type for each definition with fields.
            pub mod fields { #(#types)* }
        }
    }

    fn fields_of(&self, key: &Key) -> TokenStream {
        let name = pascal(&key.name);
        let mut members = TokenStream::new();
        let mut constants = TokenStream::new();
        for field in &key.fields {
            let docs = doc(&prose(field.doc.as_ref())
                .unwrap_or_else(|| format!("The field {}", code(&field.name.id))));
            let (member, constant) = (snake(&field.name), screaming(&field.name));
            let (ty, id) = (self.field_type(key, field), &field.name.id);
            let held = if field.optional { quote!(::std::option::Option<#ty>) } else { ty.clone() };
            let json = is_json(&field.value).then(|| quote!(, ::keyward::kind::Json));
            members.extend(quote!(#docs pub #member: #held,));
            constants.extend(quote! {
                #docs
                pub const #constant: ::keyward::Field<Self, #ty #json> = ::keyward::Field::new(#id);
            });
        }
        if key.open {
            let (others, held) = (others(key), self.others_type(key));
            members.extend(quote! {
                /// Fields that the schema does not name
                pub #others: ::std::vec::Vec<(::std::vec::Vec<u8>, #held)>,
            });
        }
        // The application's types need not be comparable.
        let compared = !key.fields.iter().any(|field| self.is_application_type(field));
        let compared = compared.then(|| quote!(, PartialEq));
        let docs = doc(&format!("The fields of [`keys::{name}`](super::keys::{name})"));
        let own = self.own_types_of(key, &name);
        quote! {
            #docs
            #[derive(Debug, Clone #compared)]
            pub struct #name { #members }

            impl #name { #constants }

            #own
        }
    }

    /// What a field holds that the schema does not name.
    fn others_type(&self, key: &Key) -> TokenStream {
        let bytes = quote!(::std::vec::Vec<u8>);
        let value = key.others.as_ref().filter(|value| value.kind != "bytes");
        value.map_or(bytes, |value| self.plain_type(value, &quote!(super::)))
    }

    fn is_application_type(&self, field: &Field) -> bool {
        is_json(&field.value) && field.value.json_type.is_some() && self.values.is_some()
    }

    /// The module of a definition's fields that have types of their own.
    fn own_types_of(&self, key: &Key, name: &Ident) -> Option<TokenStream> {
        if !key.fields.iter().any(|field| matches!(field.value.kind, "enum" | "key")) {
            return None;
        }
        let types = key.fields.iter().filter(|field| has_own_type(&field.value)).map(|field| {
            let what = if field.value.kind == "enum" { "word" } else { "key" };
            let docs = doc(&format!("A {what} of the field {}", code(&field.name.id)));
            self.own_type(&docs, &pascal(&field.name), &field.value, &quote!(super::super::))
        });
        let docs = doc(&format!("What single fields of [`{name}`] hold"));
        let module = snake(&key.name);
        Some(quote!(#docs pub mod #module { #(#types)* }))
    }

    /// How fields are read and written.
    pub(super) fn fields(&self) -> TokenStream {
        let keys = self.keys.iter().filter(|key| has_fields_type(key));
        keys.map(|key| {
            let name = pascal(&key.name);
            let path = quote!(fields::#name);
            let mut items = fields_impl(key, &path);
            if key.open {
                let held = self.others_type(key);
                items.extend(quote! {
                    impl ::keyward::OpenFields for #path {
                        type Other = #held;
                    }
                });
            }
            for field in key.fields.iter().filter(|field| has_own_type(&field.value)) {
                let (module, name) = (snake(&key.name), pascal(&field.name));
                let path = quote!(fields::#module::#name);
                items.extend(self.own_value(&path, &field.name.id, &field.value));
            }
            items
        })
        .collect()
    }
}

fn fields_impl(key: &Key, path: &TokenStream) -> TokenStream {
    let definition = &key.name.id;
    let ids: Vec<&String> = key.fields.iter().map(|field| &field.name.id).collect();
    let required = key.fields.iter().filter(|field| !field.optional).map(|field| &field.name.id);
    let ttls = key.fields.iter().filter_map(|field| {
        let (id, ttl) = (&field.name.id, number(field.ttl.as_ref()?.max_ms?));
        Some(quote!((#id, #ttl)))
    });
    let ttls: Vec<TokenStream> = ttls.collect();
    let ttls = (!ttls.is_empty())
        .then(|| quote!(const TTLS: &'static [(&'static str, u64)] = &[#(#ttls,)*];));
    let keeps = key.fields.iter().filter(|field| field.keeps_ttl).map(|field| &field.name.id);
    let keeps: Vec<&String> = keeps.collect();
    let keeps = (!keeps.is_empty())
        .then(|| quote!(const KEEPS_TTL: &'static [&'static str] = &[#(#keeps,)*];));
    let open = key.open.then(|| {
        quote!(
            const OPEN: bool = true;
        )
    });
    let names: Vec<Ident> = key.fields.iter().map(|field| snake(&field.name)).collect();
    let others = key.open.then(|| others(key));
    let methods: Vec<Ident> = key.fields.iter().map(method).collect();
    let at = (0..key.fields.len()).map(number);
    let read_others = others.as_ref().map(|others| quote!(let #others = hash.others()?;));
    let read_fields = (!names.is_empty())
        .then(|| quote!(let (#(Some(#names),)*) = (#(hash.#methods(#at),)*) else { return None };));
    let write_others = others.as_ref().map(|others| quote!(hash.others(&self.#others);));
    quote! {
        impl ::keyward::Fields for #path {
            const DEFINITION: &'static str = #definition;

            const FIELDS: &'static [&'static str] = &[#(#ids,)*];

            const REQUIRED: &'static [&'static str] = &[#(#required,)*];

            #ttls
            #keeps
            #open

            #[inline]
            fn read(hash: &mut Hash) -> Option<Self> {
                #read_others
                #read_fields
                Some(#path { #(#names,)* #others })
            }

            #[inline]
            fn write(&self, hash: &mut Pairs) {
                #(hash.#methods(#ids, &self.#names);)*
                #write_others
            }
        }
    }
}

/// What reads or writes a field.
fn method(field: &Field) -> Ident {
    let presence = if field.optional { "optional" } else { "required" };
    format_ident!("{presence}{}", if is_json(&field.value) { "_json" } else { "" })
}

/// The member for fields that the schema does not name.
fn others(key: &Key) -> Ident {
    let taken = key.fields.iter().any(|field| field.name.snake == "others");
    ident(if taken { "others_" } else { "others" })
}
