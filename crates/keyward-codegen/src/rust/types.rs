//! The types that parameters, fields and values have.

use super::Rust;
use super::text::{ident, pascal, snake};
use crate::model::{Field, Key, Param, ParamType, Value};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

impl Rust<'_> {
    /// The type of a parameter, seen from a module; `up` leads to the top.
    pub(super) fn param_type(&self, ty: &ParamType, up: &TokenStream) -> TokenStream {
        match (ty.kind, ty.keys.as_slice()) {
            ("uuid", _) => quote!(::keyward::Uuid),
            ("int", _) => quote!(i64),
            ("uint", _) => quote!(u64),
            ("ip", _) => quote!(::std::net::IpAddr),
            ("date", _) => quote!(::keyward::Date),
            ("unix", _) => quote!(::keyward::Unix),
            ("unix_ms", _) => quote!(::keyward::UnixMs),
            ("key", [one]) => self.key_type(*one, up),
            _ => {
                let name = pascal(&ty.name);
                quote!(#up values::#name)
            }
        }
    }

    /// The type of a definition's keys.
    pub(super) fn key_type(&self, at: usize, up: &TokenStream) -> TokenStream {
        let name = self.key_name(at);
        quote!(#up keys::#name)
    }

    pub(super) fn key_name(&self, at: usize) -> Ident {
        pascal(&self.keys[at].name)
    }

    /// `Vec<Item>` and the like, for a value that is JSON.
    fn json_type(&self, value: &Value) -> TokenStream {
        match (value.kind, &value.items, &value.json_type, &self.values) {
            ("int", ..) => quote!(i64),
            ("uint" | "unix" | "unix_ms", ..) => quote!(u64),
            ("float", ..) => quote!(f64),
            ("bool", ..) => quote!(bool),
            ("json", Some(items), ..) => {
                let items = self.json_type(items);
                quote!(::std::vec::Vec<#items>)
            }
            ("json", None, Some(name), Some(values)) => {
                let name = ident(name);
                quote!(#values::#name)
            }
            ("json", ..) => quote!(::keyward::generated::JsonValue),
            _ => quote!(::std::string::String),
        }
    }

    /// The type of a field, seen from the module `fields`.
    pub(super) fn field_type(&self, key: &Key, field: &Field) -> TokenStream {
        let value = &field.value;
        if value.kind == "bytes" || value.zstd {
            return quote!(::std::vec::Vec<u8>);
        }
        if value.kind == "json" {
            return self.json_type(value);
        }
        if has_own_type(value) {
            let (module, name) = (snake(&key.name), pascal(&field.name));
            return quote!(#module::#name);
        }
        self.plain_type(value, &quote!(super::))
    }

    /// The type of a value that stands alone under a key, or is an entry or a member, and how it is
    /// spelled.
    pub(super) fn stored_type(&self, key: &Key, value: Option<&Value>) -> TokenStream {
        let Some(value) = value else {
            return quote!(::std::vec::Vec<u8>, ::keyward::kind::Plain);
        };
        if value.kind == "json" {
            let ty = self.json_type(value);
            return if value.zstd {
                quote!(#ty, ::keyward::kind::Zstd<::keyward::kind::Json>)
            } else {
                quote!(#ty, ::keyward::kind::Json)
            };
        }
        let ty = if has_own_type(value) {
            let name = pascal(&key.name);
            quote!(stored::#name)
        } else if value.kind == "bytes" {
            quote!(::std::vec::Vec<u8>)
        } else {
            self.plain_type(value, &TokenStream::new())
        };
        quote!(#ty, ::keyward::kind::Plain)
    }

    pub(super) fn plain_type(&self, value: &Value, up: &TokenStream) -> TokenStream {
        match (value.kind, value.keys.as_slice(), &value.of) {
            ("int", ..) => quote!(i64),
            ("uint", ..) => quote!(u64),
            ("float", ..) => quote!(f64),
            ("bool", ..) => quote!(bool),
            ("uuid", ..) => quote!(::keyward::Uuid),
            ("timestamp", ..) => quote!(::keyward::Timestamp),
            ("date", ..) => quote!(::keyward::Date),
            ("unix", ..) => quote!(::keyward::Unix),
            ("unix_ms", ..) => quote!(::keyward::UnixMs),
            ("key", [one], _) => self.key_type(*one, up),
            ("ref", _, Some(of)) => self.param_type(of, up),
            _ => quote!(::std::string::String),
        }
    }

    /// What a sorted set is ordered by.
    fn score_type(key: &Key) -> TokenStream {
        match key.score.as_ref().map(|score| score.kind) {
            Some("int") => quote!(i64),
            Some("uint") => quote!(u64),
            Some("unix") => quote!(::keyward::Unix),
            Some("unix_ms") => quote!(::keyward::UnixMs),
            _ => quote!(f64),
        }
    }

    /// What a store can do with keys of a definition.
    pub(super) fn kind(&self, key: &Key) -> TokenStream {
        let fields = || {
            let name = pascal(&key.name);
            if has_fields_type(key) { quote!(fields::#name) } else { quote!(::keyward::AnyFields) }
        };
        let (value, member) = (key.value.as_ref(), key.member.as_ref());
        let bound = ident(if key.behaviour.limit.is_none() { "ByCaller" } else { "Declared" });
        let bound = || quote!(::keyward::kind::#bound);
        let (name, of) = match (key.role, key.ty.as_deref()) {
            (Some("counter"), _) => return quote!(::keyward::kind::Counter),
            (Some("quota"), _) => (quote!(Quota), bound()),
            (Some("rate_limit"), _) => (quote!(Limit), bound()),
            (Some("lock"), _) => return quote!(::keyward::kind::Lock),
            (Some("flag"), _) => {
                let overriding = key.links.iter().find(|link| link.what == "override");
                let overriding = overriding
                    .map_or(quote!(()), |link| self.key_type(link.key, &TokenStream::new()));
                let stored = self.stored_type(key, value);
                (quote!(Flag), quote!(#stored, #overriding))
            }
            (Some("queue"), Some("list")) => (quote!(Queue), self.stored_type(key, value)),
            (Some("queue"), Some("stream")) => {
                let fields = fields();
                (quote!(Queue), quote!(#fields, ::keyward::kind::Entry))
            }
            (Some("session"), Some("hash" | "string")) => {
                let stored = if key.ty.as_deref() == Some("hash") {
                    let fields = fields();
                    quote!(::keyward::kind::Hash<#fields>)
                } else {
                    let value = self.stored_type(key, value);
                    quote!(::keyward::kind::Str<#value>)
                };
                let index = key.links.iter().find(|link| link.what == "index");
                let index = index.map(|link| self.key_type(link.key, &TokenStream::new()));
                let index = index.unwrap_or(quote!(()));
                (quote!(Session), quote!(#stored, #index))
            }
            (Some("index"), Some("set")) if key.behaviour.index.is_some() => {
                let member = self.stored_type(key, member);
                let reverse = key.links.iter().find(|link| link.what == "reverse");
                let reverse = reverse.map(|link| self.key_type(link.key, &TokenStream::new()));
                let reverse = reverse.unwrap_or(quote!(()));
                (quote!(Index), quote!(#member, #reverse))
            }
            (Some("refresh_token"), _) => (quote!(RefreshToken), fields()),
            (_, Some("hash")) => (quote!(Hash), fields()),
            (_, Some("stream")) => (quote!(Stream), fields()),
            (_, Some("list")) => (quote!(List), self.stored_type(key, value)),
            (_, Some("set")) => (quote!(Set), self.stored_type(key, member)),
            (_, Some("zset")) => {
                let (member, score) = (self.stored_type(key, member), Self::score_type(key));
                (quote!(SortedSet), quote!(#member, #score))
            }
            (_, ty) if ty == Some("string") || value.is_some() => {
                (quote!(Str), self.stored_type(key, value))
            }
            _ => return quote!(::keyward::kind::Untyped),
        };
        quote!(::keyward::kind::#name<#of>)
    }
}

/// Whether the fields of a hash have a type of their own: some are declared, or what all of them hold.
pub(super) fn has_fields_type(key: &Key) -> bool {
    !key.fields.is_empty() || key.others.is_some()
}

/// Whether a value's type is generated for it alone: a few words, or a key of several definitions.
pub(super) fn has_own_type(value: &Value) -> bool {
    value.kind == "enum" || (value.kind == "key" && value.keys.len() > 1)
}

/// Whether a field holds JSON as such.
pub(super) fn is_json(value: &Value) -> bool {
    value.kind == "json" && !value.zstd
}

/// The names of parameters.
pub(super) fn names(params: &[Param]) -> Vec<Ident> {
    params.iter().map(|param| snake(&param.name)).collect()
}
