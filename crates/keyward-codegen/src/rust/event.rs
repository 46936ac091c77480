//! Events, and the keys they make invalid.

use super::Rust;
use super::text::{code, doc, number, pascal, prose, snake};
use super::types::names;
use crate::model::{Binding, Event, Invalidation};
use proc_macro2::TokenStream;
use quote::quote;

impl Rust<'_> {
    /// The module `events`.
    pub(super) fn event_types(&self) -> TokenStream {
        let types = self.module.events.iter().map(|event| {
            let name = pascal(&event.name);
            let calls = |refresh: bool| {
                let calls = event.invalidates.iter().filter(|it| it.refresh == refresh);
                calls.map(|it| code(&self.call(event, it))).collect::<Vec<String>>().join(", ")
            };
            let said = match (calls(false), calls(true)) {
                (removed, marked) if marked.is_empty() && removed.is_empty() => {
                    "Invalidates nothing".to_owned()
                }
                (removed, marked) if marked.is_empty() => format!("Invalidates {removed}"),
                (removed, marked) if removed.is_empty() => format!("Refreshes {marked}"),
                (removed, marked) => format!("Invalidates {removed}; refreshes {marked}"),
            };
            let mut docs = TokenStream::new();
            if let Some(text) = prose(event.doc.as_ref()) {
                docs.extend([doc(&text), doc("")]);
            }
            docs.extend(doc(&said));
            let body = self.members(&event.params, &quote!(pub), &quote!(super::));
            quote! {
                #docs
                #[derive(Debug, Clone, PartialEq, Eq, Hash)]
                pub struct #name #body
            }
        });
        quote! {
            /// What happens in the application, and which keys it makes invalid.
            pub mod events { #(#types)* }
        }
    }

    /// `folder_listing(folder_id = *)`, for documentation.
    fn call(&self, event: &Event, it: &Invalidation) -> String {
        let key = &self.keys[it.key];
        let bindings = key.params.iter().zip(&it.bindings).map(|(param, from)| {
            let value = match (&from.word, from.param) {
                (Some(word), _) => &word.text,
                (None, Some(at)) => &event.params[at].name.id,
                (None, None) => "*",
            };
            format!("{} = {value}", param.name.id)
        });
        let bindings: Vec<String> = bindings.collect();
        if bindings.is_empty() {
            return key.name.id.clone();
        }
        format!("{}({})", key.name.id, bindings.join(", "))
    }

    /// What events do.
    pub(super) fn events(&self) -> TokenStream {
        if self.module.events.is_empty() {
            return TokenStream::new();
        }
        let mut items: TokenStream =
            self.module.events.iter().map(|event| self.event(event)).collect();
        let names = self.module.events.iter().map(|event| pascal(&event.name));
        let (held, prefix) = (self.held(), self.the_prefix());
        items.extend(quote! {
            impl Event {
                #[inline]
                fn any(&self) -> &dyn generated::AnyEvent<Key> {
                    match self {
                        #(Event::#names(event) => event,)*
                    }
                }

                /// Its name in the schema.
                #[inline]
                pub fn name(&self) -> &'static str {
                    self.any().name()
                }

                /// The keys that are known in full.
                #[inline]
                pub fn keys(&self) -> Vec<Key> {
                    self.any().keys()
                }

                /// Globs that find the others.
                #[inline]
                pub fn globs(&self, #held) -> Vec<String> {
                    generated::globs::<Key>(self.any().searches_with_prefix(#prefix), #prefix)
                }
            }
        });
        items
    }

    fn event(&self, event: &Event) -> TokenStream {
        let (name, id) = (pascal(&event.name), &event.name.id);
        let path = quote!(events::#name);
        let (held, prefix) = (self.held(), self.the_prefix());
        let params = event.params.iter().map(Self::param_static);
        let make = Self::make(&path, &names(&event.params));
        let (exact, free): (Vec<_>, Vec<_>) = event.invalidates.iter().partition(|it| it.exact);
        let keys = self.exact_keys(event, &exact);
        let searches = self.searches(event, &free);
        let refreshed = event.invalidates.iter().filter(|it| it.refresh).map(|it| number(it.key));
        let refreshed: Vec<_> = refreshed.collect();
        let refreshed = (!refreshed.is_empty())
            .then(|| quote!(const REFRESHES: &'static [u32] = &[#(#refreshed,)*];));
        let given = if free.is_empty() { quote!(_) } else { quote!(prefix) };
        quote! {
            impl #path {
                /// Its name in the schema
                pub const NAME: &'static str = #id;

                /// The keys that are known in full.
                #[inline]
                pub fn keys(&self) -> Vec<Key> {
                    #keys
                }

                /// Globs that find the others.
                #[inline]
                pub fn globs(&self, #held) -> Vec<String> {
                    ::keyward::Event::globs_with_prefix(self, #prefix)
                }
            }

            impl ::keyward::Event for #path {
                type Keyspace = Key;

                const NAME: &'static str = Self::NAME;

                const PARAMS: &'static [Param] = &[#(#params,)*];

                #refreshed

                #[inline]
                fn keys(&self) -> Vec<Key> {
                    self.keys()
                }

                #[inline]
                fn searches_with_prefix(&self, #given: &Prefix) -> Vec<Search> {
                    #searches
                }

                #make
            }

            impl From<#path> for Event {
                #[inline]
                fn from(event: #path) -> Self {
                    Event::#name(event)
                }
            }
        }
    }

    fn exact_keys(&self, event: &Event, exact: &[&Invalidation]) -> TokenStream {
        let certain = exact.iter().all(|it| self.is_certain(it) && !self.keys[it.key].shadowed);
        let keys = exact.iter().map(|it| {
            let (name, key) = (self.key_name(it.key), self.bound_key(event, it));
            if certain {
                quote!(Key::#name(#key))
            } else if self.keys[it.key].shadowed {
                quote!(generated::attempt(|| generated::unreserved(#key).ok().map(Key::#name)))
            } else {
                quote!(generated::attempt(|| Some(Key::#name(#key))))
            }
        });
        if certain {
            return quote!(Vec::from([#(#keys,)*]));
        }
        quote!(let keys = [#(#keys,)*]; keys.into_iter().flatten().collect())
    }

    fn searches(&self, event: &Event, free: &[&Invalidation]) -> TokenStream {
        let certain = free.iter().all(|it| self.is_certain(it));
        let searches = free.iter().map(|it| {
            let key = self.key_type(it.key, &TokenStream::new());
            let bindings = it.bindings.iter().enumerate().map(|(at, from)| {
                if from.free {
                    return quote!(None);
                }
                let bound = self.binding(event, it.key, at, from);
                quote!(generated::known(&#bound))
            });
            let search = quote!(generated::search::<#key>(prefix, Vec::from([#(#bindings,)*])));
            if certain { search } else { quote!(generated::attempt(|| Some(#search))) }
        });
        if certain {
            return quote!(Vec::from([#(#searches,)*]));
        }
        quote!(let searches = [#(#searches,)*]; searches.into_iter().flatten().collect())
    }

    /// Whether every value that is bound is certain to be one of its parameter's type.
    fn is_certain(&self, it: &Invalidation) -> bool {
        it.bindings.iter().zip(&self.keys[it.key].params).all(|(from, param)| {
            from.free || from.same_type || (from.word.is_some() && param.ty.kind == "enum")
        })
    }

    fn bound_key(&self, event: &Event, it: &Invalidation) -> TokenStream {
        let path = self.key_type(it.key, &TokenStream::new());
        let params = &self.keys[it.key].params;
        if params.is_empty() {
            return path;
        }
        let names = names(params);
        let values =
            it.bindings.iter().enumerate().map(|(at, from)| self.binding(event, it.key, at, from));
        quote!(#path { #(#names: #values,)* })
    }

    /// The value of a key's parameter, from what the event binds it to.
    fn binding(&self, event: &Event, key: usize, at: usize, from: &Binding) -> TokenStream {
        let ty = &self.keys[key].params[at].ty;
        if let (Some(word), "enum") = (&from.word, ty.kind) {
            let (name, word) = (pascal(&ty.name), pascal(&word.name));
            return quote!(values::#name::#word);
        }
        let source = from.param.map(|at| snake(&event.params[at].name));
        if from.same_type {
            return quote!(self.#source.clone());
        }
        let (path, at) = (self.key_type(key, &TokenStream::new()), number(at));
        let ty = self.param_type(ty, &TokenStream::new());
        if let Some(word) = &from.word {
            let text = &word.text;
            return quote!(generated::word::<#path, #ty>(#text, #at)?);
        }
        quote!(generated::converted::<#path, #ty>(&self.#source, #at)?)
    }
}
