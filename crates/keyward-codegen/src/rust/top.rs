//! The module's own items: what it says about itself, any key, any event, and the prefix.

use super::Rust;
use super::text::{code, doc, ident, number, pascal, prose, screaming};
use super::types::names;
use crate::model::Selection;
use proc_macro2::TokenStream;
use quote::quote;

/// Lints that generated code may break, or that say nothing about it.
const ALLOWED: &[&str] = &[
    "clone_on_copy",
    "doc_markdown",
    "duration_suboptimal_units",
    "enum_variant_names",
    "large_enum_variant",
    "large_stack_arrays",
    "missing_errors_doc",
    "missing_panics_doc",
    "module_name_repetitions",
    "must_use_candidate",
    "needless_pass_by_value",
    "result_large_err",
    "similar_names",
    "struct_excessive_bools",
    "struct_field_names",
    "too_long_first_doc_paragraph",
    "too_many_arguments",
    "too_many_lines",
    "trivially_copy_pass_by_ref",
    "unreadable_literal",
    "upper_case_acronyms",
    "vec_init_then_push",
    "wildcard_imports",
];

/// How many characters of the block stand on a line.
const LINE: usize = 96;

/// The form of the code, which the library checks: see `assert_format` in `keyward::generated`.
const FORMAT: u32 = 3;

impl Rust<'_> {
    /// What the module says about itself, and what it imports.
    pub(super) fn top(&self) -> TokenStream {
        let what = prose(self.module.doc.as_ref())
            .unwrap_or_else(|| format!("The keyspace {}.", code(&self.module.name.id)));
        let what = format!(" {what}");
        let allowed = ALLOWED.iter().map(|lint| ident(lint));
        let json = self.module.needs_json.then(|| quote!(::keyward::__needs_json!();));
        let zstd = self.module.needs_zstd.then(|| quote!(::keyward::__needs_zstd!();));
        let format = number(FORMAT);
        quote! {
            #![doc = #what]
            //!
            //! - [`keys`]: a type for each definition; [`Key`] is any of them
            //! - [`values`]: the types of parameters that are the schema's own
            //! - [`fields`]: what hashes hold
            //! - [`events`]: what happens, and which keys it makes invalid
            //! - [`ttl`], [`globs`]: constants
            #![allow(
                unknown_lints,
                dead_code,
                nonstandard_style,
                rustdoc::bare_urls,
                unreachable_pub,
                unused_imports,
                unused_variables,
                #(clippy::#allowed),*
            )]

            use ::keyward::generated::{
                self, Entry, FieldInfo, Former, FormerPart, Hash, Language, Link, Pairs, Param,
                ParamSource, Phase, Search, Tables, Visitor,
            };
            use ::keyward::{BuildError, Definition, Lifecycle, Reserved, Ttl};
            use ::std::fmt;
            use ::std::sync::LazyLock;
            use ::std::time::Duration;

            const _: () = generated::assert_format(#format);
            #json
            #zstd
        }
    }

    /// The module `globs`.
    pub(super) fn globs(&self) -> TokenStream {
        let module = self.module;
        let groups = [
            ("groups", &module.groups),
            ("lifecycles", &module.lifecycles),
            ("owners", &module.owners),
        ];
        let groups = groups.into_iter().filter(|(_, selections)| !selections.is_empty());
        let groups = groups.map(|(title, selections)| {
            let docs = doc(&format!("What finds the keys of all {title}"));
            let (title, constants) = (ident(title), selections.iter().map(selection));
            quote!(#docs pub mod #title { #(#constants)* })
        });
        quote! {
            /// Globs for `SCAN MATCH` that find the keys of a group, a lifecycle or an owner.
            pub mod globs { #(#groups)* }
        }
    }

    /// The enums of all keys and of all events.
    pub(super) fn sums(&self) -> TokenStream {
        let keys = self.keys.iter().map(|key| {
            let (docs, name) = (doc(&code(&key.pattern)), pascal(&key.name));
            quote!(#docs #name(keys::#name))
        });
        let mut sums = quote! {
            /// Any key.
            pub enum Key { #(#keys,)* }
        };
        if !self.module.events.is_empty() {
            let events = self.module.events.iter().map(|event| {
                let docs = prose(event.doc.as_ref()).unwrap_or_else(|| code(&event.name.id));
                let (docs, name) = (doc(&docs), pascal(&event.name));
                quote!(#docs #name(events::#name))
            });
            sums.extend(quote! {
                /// Any event.
                #[derive(Debug, Clone, PartialEq, Eq, Hash)]
                pub enum Event { #(#events,)* }
            });
        }
        sums
    }

    /// The prefix, and the functions for tools.
    pub(super) fn prefix(&self) -> TokenStream {
        let prefix = &self.module.prefix;
        let text =
            if prefix.pattern.is_empty() { "nothing".to_owned() } else { code(&prefix.pattern) };
        let docs = doc(&format!("What every key begins with: {text}"));
        let body = self.members(&prefix.params, &quote!(pub), &TokenStream::new());
        let params = prefix.params.iter().map(Self::param_static);
        let visit = Self::visit(&prefix.parts, &prefix.params);
        let make = Self::make(&quote!(Prefix), &names(&prefix.params));
        let (held, the_prefix) = (self.held(), self.the_prefix());
        let (copied, marker, from_texts);
        if self.fixed() {
            copied = Some(quote!(, Copy, Default));
            marker = Some(quote!(impl ::keyward::Fixed for Prefix {}));
            from_texts = None;
        } else {
            (copied, marker) = (None, None);
            from_texts = Some(quote! {
                /// The prefix from the texts of its parameters: for tools.
                #[inline]
                pub fn prefix(values: &[(&str, &str)]) -> Result<Prefix, BuildError> {
                    generated::prefix::<Key>(values)
                }
            });
        }
        let event = self.event_from_texts();
        quote! {
            #docs
            #[derive(Debug, Clone #copied, PartialEq, Eq, Hash)]
            pub struct Prefix #body

            /// A key of the definition of this name, from the texts of its parameters: for tools. Applications
            /// have [`keys`].
            #[inline]
            pub fn build(definition: &str, values: &[(&str, &str)]) -> Result<Key, BuildError> {
                generated::build(definition, values)
            }

            /// The glob of the definition of this name, with the given parameters bound: for tools. Applications
            /// have `glob()` of each key.
            #[inline]
            pub fn glob(#held definition: &str, values: &[(&str, &str)]) -> Result<String, BuildError> {
                generated::glob_named::<Key>(#the_prefix, definition, values)
            }

            #event
            #from_texts

            impl ::keyward::Prefix for Prefix {
                const PARAMS: &'static [Param] = &[#(#params,)*];

                #visit
                #make
            }

            #marker

            impl fmt::Display for Prefix {
                #[inline]
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    let mut text = String::new();
                    ::keyward::Prefix::write(self, &mut text);
                    f.pad(&text)
                }
            }
        }
    }

    fn event_from_texts(&self) -> Option<TokenStream> {
        if self.module.events.is_empty() {
            return None;
        }
        let ids = self.module.events.iter().map(|event| &event.name.id);
        let names = self.module.events.iter().map(|event| pascal(&event.name));
        Some(quote! {
            /// The event of this name, from the texts of its parameters: for tools. Applications have [`events`].
            #[inline]
            pub fn event(event: &str, values: &[(&str, &str)]) -> Result<Event, BuildError> {
                Ok(match event {
                    #(#ids => generated::event::<events::#names>(values)?.into(),)*
                    _ => return Err(BuildError::NoDefinition(event.to_owned())),
                })
            }
        })
    }

    /// What any key can do.
    pub(super) fn keyspace(&self) -> TokenStream {
        let names: Vec<_> = self.keys.iter().map(|key| pascal(&key.name)).collect();
        let (held, prefix, definitions) = (self.held(), self.the_prefix(), self.definitions());
        let announcement = &self.module.announcement;
        let (parsed, found, given, display);
        if self.fixed() {
            parsed = quote!(Self);
            found = Some(quote!(.map(|(_, key)| key)));
            given = None;
            display = Some(quote! {
                impl fmt::Display for Key {
                    #[inline]
                    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.pad(&self.key())
                    }
                }
            });
        } else {
            parsed = quote!((Prefix, Self));
            (found, display) = (None, None);
            given = Some(quote!(prefix));
        }
        quote! {
            impl Key {
                #[inline]
                fn any(&self) -> &dyn generated::AnyKey<Key> {
                    match self {
                        #(Key::#names(key) => key,)*
                    }
                }

                /// Reads a key; `None` if it is nobody's.
                #[inline]
                pub fn parse(key: impl AsRef<[u8]>) -> Option<#parsed> {
                    generated::parse(key.as_ref()) #found
                }

                /// Reads a key under an old name of any migration; `None` if it is none.
                #[inline]
                pub fn parse_former(key: impl AsRef<[u8]>) -> Option<::keyward::FormerKey<Self>> {
                    generated::parse_former(key.as_ref())
                }

                /// What the schema says about it.
                #[inline]
                pub fn definition(&self) -> &'static Definition {
                    self.any().definition()
                }

                /// The values of its parameters as text, in the order of [`Definition::params`].
                #[inline]
                pub fn values(&self) -> Vec<String> {
                    self.any().values()
                }

                /// The key. One allocation.
                #[inline]
                pub fn key(&self, #held) -> String {
                    let mut key = String::new();
                    ::keyward::Keyspace::write_with_prefix(self, #prefix, &mut key);
                    key
                }

                /// Appends the key.
                #[inline]
                pub fn write_key(&self, #held out: &mut String) {
                    ::keyward::Keyspace::write_with_prefix(self, #prefix, out);
                }

                /// Its names, as long as a migration lasts.
                #[inline]
                pub fn names(&self, #held) -> ::keyward::KeyNames {
                    generated::names(self, #prefix)
                }

                /// The key's Redis Cluster slot.
                #[inline]
                pub fn slot(&self, #held) -> u16 {
                    ::keyward::slot(self.key(#given).as_bytes())
                }
            }

            impl ::keyward::Keyspace for Key {
                type Prefix = Prefix;

                const ANNOUNCEMENT: &'static str = #announcement;

                #definitions

                fn entries() -> &'static [Entry<Self>] {
                    const { &[#(Entry::of::<keys::#names>(),)*] }
                }

                #[inline]
                fn definition(&self) -> &'static Definition {
                    self.any().definition()
                }

                #[inline]
                fn values(&self) -> Vec<String> {
                    self.any().values()
                }

                #[inline]
                fn write_with_prefix(&self, prefix: &Prefix, out: &mut String) {
                    let key = self.any();
                    out.reserve(::keyward::Prefix::len(prefix) + key.bare_len());
                    ::keyward::Prefix::write(prefix, out);
                    key.write_bare(out);
                }

                fn tables() -> &'static Tables {
                    static TABLES: LazyLock<Tables> = LazyLock::new(|| generated::tables(BLOCK));
                    &TABLES
                }
            }

            impl<K: ::keyward::Key<Keyspace = Key>> From<K> for Key {
                #[inline]
                fn from(key: K) -> Self {
                    key.into_any()
                }
            }

            impl fmt::Debug for Key {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.any().fmt(f)
                }
            }

            impl Clone for Key {
                fn clone(&self) -> Self {
                    self.any().to_any()
                }
            }

            impl PartialEq for Key {
                fn eq(&self, other: &Self) -> bool {
                    self.any().equals(other.any())
                }
            }

            impl Eq for Key {}

            impl ::std::hash::Hash for Key {
                fn hash<H: ::std::hash::Hasher>(&self, state: &mut H) {
                    self.any().hash(state);
                }
            }

            #display
        }
    }

    /// What keys are read by.
    pub(super) fn block(&self) -> TokenStream {
        let lines = self.module.block.as_bytes().chunks(LINE).map(String::from_utf8_lossy);
        quote! {
            /// What keys are read by.
            const BLOCK: &[&str] = &[#(#lines,)*];
        }
    }
}

fn selection(selection: &Selection) -> TokenStream {
    let docs = prose(selection.doc.as_ref()).unwrap_or_else(|| code(&selection.name.id));
    let (docs, name, globs) = (doc(&docs), screaming(&selection.name), &selection.globs);
    quote!(#docs pub const #name: &[&str] = &[#(#globs,)*];)
}
