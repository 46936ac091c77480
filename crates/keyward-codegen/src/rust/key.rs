//! Definitions: a type for each, what it says about itself, and how its keys are built and read.

use super::Rust;
use super::text::{code, doc, ident, number, option, pascal, prose, screaming, snake};
use super::types::names;
use crate::model::{Behaviour, Former, Key, Param, ParamType, PatternPart, Session, Ttl};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// Methods that every key has.
const METHODS: [&str; 3] = ["key", "glob", "new"];

impl Rust<'_> {
    /// The module `keys`.
    pub(super) fn key_types(&self) -> TokenStream {
        let types = self.keys.iter().map(|key| {
            let (docs, name) = (key_doc(key), pascal(&key.name));
            // What a more specific definition takes cannot be written as a literal.
            let visible = if key.shadowed { quote!(pub(super)) } else { quote!(pub) };
            let body = self.members(&key.params, &visible, &quote!(super::));
            quote! {
                #docs
                #[derive(Debug, Clone, PartialEq, Eq, Hash)]
                pub struct #name #body
            }
        });
        quote! {
            /// Keys, one type for each definition.
            pub mod keys { #(#types)* }
        }
    }

    /// The members of a struct with these parameters.
    pub(super) fn members(
        &self,
        params: &[Param],
        visible: &TokenStream,
        up: &TokenStream,
    ) -> TokenStream {
        if params.is_empty() {
            return quote!(;);
        }
        let members = params.iter().map(|param| {
            let docs = doc(&param_doc(param));
            let (name, ty) = (snake(&param.name), self.param_type(&param.ty, up));
            quote!(#docs #visible #name: #ty)
        });
        quote!({ #(#members,)* })
    }

    /// What a definition's keys can do.
    pub(super) fn key(&self, key: &Key) -> TokenStream {
        let name = pascal(&key.name);
        let path = quote!(keys::#name);
        let methods = self.methods(key, &path);
        let (kind, number) = (self.kind(key), number(key.number));
        let lifetime = match &key.ttl {
            None => quote!(Undeclared),
            Some(ttl) if ttl.kind == "caller" => quote!(ByCaller),
            Some(_) => quote!(Declared),
        };
        let visit = Self::visit(&key.parts, &key.params);
        let make = Self::make(&path, &names(&key.params));
        let display = self.fixed().then(|| {
            quote! {
                impl fmt::Display for #path {
                    #[inline]
                    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        generated::show(self, &Prefix, f)
                    }
                }
            }
        });
        quote! {
            impl #path { #methods }

            impl ::keyward::Key for #path {
                type Keyspace = Key;
                type Kind = #kind;
                type Lifetime = ::keyward::kind::#lifetime;

                const NUMBER: usize = #number;

                #[inline]
                fn into_any(self) -> Key { Key::#name(self) }

                #visit
                #make
            }

            #display
        }
    }

    /// What the schema says about its keys, by their numbers.
    pub(super) fn definitions(&self) -> TokenStream {
        // Definitions share lists of parameters: each list is compiled once.
        let mut lists: Vec<&[Param]> = Vec::new();
        let mut rows = TokenStream::new();
        for key in self.keys {
            let known = lists.iter().position(|list| same_params(list, &key.params));
            let list = known.unwrap_or_else(|| {
                lists.push(&key.params);
                lists.len() - 1
            });
            let row = definition(key, list, self.module.cluster);
            rows.extend(quote!(#row,));
        }
        let lists = lists.iter().map(|list| {
            let params = list.iter().map(Self::param_static);
            quote!(&[#(#params,)*])
        });
        let former = self.module.former.iter().map(former);
        quote! {
            const FORMER: &'static [Former] = &[#(#former,)*];

            const DEFINITIONS: &'static [Definition] = {
                const PARAMS: &[&[Param]] = &[#(#lists,)*];
                &[#rows]
            };
        }
    }

    fn methods(&self, key: &Key, path: &TokenStream) -> TokenStream {
        let here = TokenStream::new();
        let names = names(&key.params);
        let types: Vec<TokenStream> =
            key.params.iter().map(|param| self.param_type(&param.ty, &here)).collect();
        let constructor = key.shadowed.then(|| {
            let docs = key.params.iter().map(|param| doc(&param_doc(param)));
            let getters = key.params.iter().map(|param| {
                let taken = METHODS.contains(&param.name.snake.as_str());
                if taken { ident(&format!("{}_", param.name.snake)) } else { snake(&param.name) }
            });
            quote! {
                /// The key, unless it is too long or belongs to a more specific definition.
                pub fn new(#(#names: #types,)*) -> Result<Self, Reserved> {
                    generated::unreserved(#path { #(#names,)* })
                }

                #(
                    #docs
                    pub fn #getters(&self) -> &#types {
                        &self.#names
                    }
                )*
            }
        });
        let (held, prefix) = (self.held(), self.the_prefix());
        // A parameter may be called `prefix` too.
        let taken = key.params.iter().any(|param| param.name.snake == "prefix");
        let given = ident(if taken { "prefix_" } else { "prefix" });
        let (given_first, given) = if self.fixed() {
            (None, quote!(&Prefix))
        } else {
            (Some(quote!(#given: &Prefix,)), quote!(#given))
        };
        quote! {
            #constructor

            /// The key. One allocation.
            #[inline]
            pub fn key(&self, #held) -> String {
                generated::key(self, #prefix)
            }

            /// A glob that finds the keys with these values; `None` is any value.
            #[inline]
            pub fn glob(#given_first #(#names: Option<#types>,)*) -> String {
                generated::glob_of(<Self as ::keyward::Key>::DEFINITION, #given, &[#(generated::bound(#names),)*])
            }
        }
    }

    /// How the pieces of a key are written, in order.
    pub(super) fn visit(parts: &[PatternPart], params: &[Param]) -> TokenStream {
        let mut steps = TokenStream::new();
        let mut literal = None;
        for part in parts {
            let Some(at) = part.param else {
                literal = part.literal.as_ref();
                continue;
            };
            let name = snake(&params[at].name);
            steps.extend(if let Some(literal) = literal.take() {
                quote!(to.pair(#literal, &self.#name);)
            } else {
                quote!(to.param(&self.#name);)
            });
        }
        let last = literal.map(|literal| quote!(to.literal(#literal);));
        quote! {
            #[inline]
            fn visit(&self, to: &mut impl Visitor) { #steps #last }
        }
    }

    /// How values are made into a key, a prefix or an event.
    pub(super) fn make(path: &TokenStream, names: &[Ident]) -> TokenStream {
        let at = (0..names.len()).map(number);
        let body = if names.is_empty() {
            quote!(Some(#path))
        } else {
            quote! {
                let (#(Some(#names),)*) = (#(from.param(#at),)*) else { return None };
                Some(#path { #(#names,)* })
            }
        };
        quote! {
            #[inline]
            fn make(from: &mut ParamSource<'_>) -> Option<Self> { #body }
        }
    }

    /// What a parameter says about itself.
    pub(super) fn param_static(param: &Param) -> TokenStream {
        let (id, description, language) =
            (&param.name.id, &param.ty.description, language(&param.ty));
        quote!(Param::new(#id, #description, #language))
    }

    /// What a type says about itself, as if it were a parameter.
    pub(super) fn type_static(ty: &ParamType) -> TokenStream {
        let (id, description, language) = (&ty.name.id, &ty.description, language(ty));
        quote!(Param::new(#id, #description, #language))
    }

    /// The module `ttl`.
    pub(super) fn ttls(&self) -> TokenStream {
        let constants = self.keys.iter().map(|key| {
            let text = key.ttl.as_ref().map_or("not declared".to_owned(), |ttl| code(&ttl.text));
            let docs = doc(&format!("{}: {text}", code(&key.name.id)));
            let (name, ttl) = (screaming(&key.name), ttl(key.ttl.as_ref()));
            quote!(#docs pub const #name: Ttl = #ttl;)
        });
        quote! {
            /// How long keys live, by the names of their definitions.
            pub mod ttl {
                use ::keyward::Ttl;
                use ::std::time::Duration;

                #(#constants)*
            }
        }
    }
}

fn key_doc(key: &Key) -> TokenStream {
    let mut lines = Vec::new();
    if let Some(text) = prose(key.doc.as_ref()) {
        lines.extend([text, String::new()]);
    }
    lines.push(format!("- pattern: {}", code(&key.pattern)));
    let ttl = key.ttl.as_ref().map_or("not declared".to_owned(), |ttl| code(&ttl.text));
    let mut line = format!("- TTL: {ttl}, lifecycle: {}", key.lifecycle);
    if let Some(ty) = &key.ty {
        line.push_str(&format!(", type: {ty}"));
    }
    if let Some(role) = key.role {
        line.push_str(&format!(", role: {role}"));
    }
    lines.push(line);
    let named =
        |what: &str, text: &Option<String>| Some(format!("{what}: {}", prose(text.as_ref())?));
    let whose: Vec<String> =
        [named("owner", &key.owner), named("group", &key.group)].into_iter().flatten().collect();
    if !whose.is_empty() {
        lines.push(format!("- {}", whose.join(", ")));
    }
    lines.extend(key.examples.iter().map(|example| format!("- example: {}", code(example))));
    lines.iter().map(|line| doc(line)).collect()
}

pub(super) fn param_doc(param: &Param) -> String {
    prose(param.doc.as_ref()).or_else(|| prose(param.ty.doc.as_ref())).unwrap_or_else(|| {
        format!("The parameter {}: {}", code(&param.name.id), code(&param.ty.description))
    })
}

fn language(ty: &ParamType) -> TokenStream {
    match ty.language {
        Some(language) if ty.kind != "key" => {
            let language = number(language);
            quote!(Language::Of(#language))
        }
        _ => keys_language(&ty.keys),
    }
}

fn keys_language(keys: &[usize]) -> TokenStream {
    let keys = keys.iter().map(|&at| number(at));
    quote!(Language::Keys(&[#(#keys,)*]))
}

/// Whether both say the same about themselves.
fn same_params(one: &[Param], other: &[Param]) -> bool {
    let same = |(one, other): (&Param, &Param)| {
        let (ty, other_ty) = (&one.ty, &other.ty);
        one.name.id == other.name.id
            && (&ty.description, ty.kind, ty.language, &ty.keys)
                == (&other_ty.description, other_ty.kind, other_ty.language, &other_ty.keys)
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

fn definition(key: &Key, params: usize, cluster: bool) -> TokenStream {
    let (at, params, template) = (number(key.number), number(params), template(&key.parts));
    let (id, pattern, glob) = (&key.name.id, &key.pattern, &key.glob);
    let ty = option(key.ty.as_ref());
    let mut lifecycle = key.lifecycle.to_owned();
    lifecycle[..1].make_ascii_uppercase();
    let (lifecycle, ttl) = (ident(&lifecycle), screaming(&key.name));
    let behaviour = behaviour(key, &key.behaviour);
    let behaviour =
        (!behaviour.is_empty()).then(|| quote!(.behaving(::keyward::Behaviour::NONE #behaviour)));
    let shadowed = key.shadowed.then(|| quote!(.shadowed()));
    let former = (!key.former.is_empty()).then(|| {
        let numbers = key.former.iter().map(|&at| number(at));
        quote!(.formerly(&[#(#numbers,)*]))
    });
    let cluster = cluster.then(|| quote!(.clustered()));
    let links = key.links.iter().map(|link| {
        let (what, at) = (link.what, number(link.key));
        quote!(Link::new(#what, #at))
    });
    let links = (!key.links.is_empty()).then(|| quote!(.linked(&[#(#links,)*])));
    let fields = key.fields.iter().map(|field| {
        let (id, kind, optional) = (&field.name.id, field.value.kind, field.optional);
        quote!(FieldInfo::new(#id, #kind, #optional))
    });
    let fields = key.fields_at_run_time.then(|| quote!(.having(&[#(#fields,)*])));
    quote! {
        Definition::new(#at, [#id, #pattern, #glob, #template], PARAMS[#params], #ty, Lifecycle::#lifecycle, ttl::#ttl)
            #behaviour
            #shadowed
            #cluster
            #former
            #links
            #fields
    }
}

/// What follows the prefix, as `Definition::new` of the library reads it: `user:{0}:name`.
fn template(parts: &[PatternPart]) -> String {
    let mut template = String::new();
    for part in parts {
        match (&part.literal, part.param) {
            (None, Some(at)) => template.push_str(&format!("{{{at}}}")),
            (literal, _) => {
                for char in literal.iter().flat_map(|literal| literal.chars()) {
                    if matches!(char, '{' | '}' | '\\') {
                        template.push('\\');
                    }
                    template.push(char);
                }
            }
        }
    }
    template
}

fn former(former: &Former) -> TokenStream {
    let phase = ident(match former.phase {
        "dual-write" => "DualWrite",
        "read-fallback" => "ReadFallback",
        _ => "Cleanup",
    });
    let parts = former.parts.iter().map(|part| {
        if let Some(literal) = &part.literal {
            return quote!(FormerPart::Literal(#literal));
        }
        let param = option(part.param.map(number));
        let language = match part.language.map(number) {
            None => keys_language(&part.keys),
            Some(language) => quote!(Language::Of(#language)),
        };
        let recase = part.recase.map(|recase| {
            let recase = ident(if recase == "lower" { "Lower" } else { "Upper" });
            quote!(generated::Recase::#recase)
        });
        let recase = option(recase);
        quote!(FormerPart::Value(#param, #language, #recase))
    });
    let (migration, definition) = (&former.migration, number(former.key));
    let db = former.db.map(number).map(|db| quote!(.in_db(#db)));
    quote!(Former::new(#migration, Phase::#phase, #definition, &[#(#parts,)*]) #db)
}

/// What differs from a key without any behaviour, each by its method: a struct literal would break when the
/// library adds an option.
fn behaviour(key: &Key, it: &Behaviour) -> TokenStream {
    let mut made = TokenStream::new();
    if it.jitter > 0.0 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        let jitter = number((it.jitter * 10.0).round() as u64);
        made.extend(quote!(.jitter(#jitter)));
    }
    let switches = [
        ("keep_ttl", it.keep_ttl),
        ("sliding", it.sliding),
        ("refuse_when_full", it.refuse_when_full),
        ("early_refresh", it.early_refresh),
        ("closed_on_outage", it.closed_on_outage),
        ("negative", it.negative),
        ("on_by_default", it.on_by_default),
        ("refreshed", it.refreshed),
        ("fair", it.fair),
        ("dead_as_is", it.queue.as_ref().is_some_and(|queue| queue.dead_as_is)),
    ];
    for (name, _) in switches.into_iter().filter(|(_, on)| *on) {
        let name = ident(name);
        made.extend(quote!(.#name()));
    }
    let queue = it.queue.as_ref();
    let numbers = [
        ("lease_ms", queue.map(|it| it.lease_ms)),
        ("timeout_ms", queue.and_then(|it| it.timeout_ms)),
        ("max_attempts", queue.and_then(|it| it.max_attempts)),
        ("max_crashes", queue.and_then(|it| it.max_crashes)),
        ("backoff_ms", queue.map(|it| it.backoff_ms)),
        ("max_backoff_ms", queue.map(|it| it.max_backoff_ms)),
        ("retain_ms", queue.and_then(|it| it.retain_ms)),
        ("per_group", queue.and_then(|it| it.per_group)),
        ("l1_ms", it.l1_ms),
        ("stale_ms", it.stale_ms),
        ("slow_ms", it.slow_ms),
        ("negative_ms", it.negative_ms),
        ("load_lock_ms", it.load_lock_ms),
        ("limit", it.limit),
        ("window_ms", it.window_ms),
        ("reuse_grace_ms", it.reuse_grace_ms),
        ("holders", it.holders),
        ("replicas", it.replicas),
        ("max_bytes", key.max_bytes),
        ("max_len", key.max_len),
    ];
    for (name, value) in numbers {
        if let Some(value) = value.map(number) {
            let name = ident(name);
            made.extend(quote!(.#name(#value)));
        }
    }
    if let Some(id) = queue.and_then(|it| it.job_id.as_ref()) {
        made.extend(quote!(.job_id(#id)));
    }
    if !it.indexes.is_empty() {
        let indexes = it.indexes.iter().map(|bound| {
            let bound = bound.iter().map(|&at| number(at));
            quote!(&[#(#bound,)*])
        });
        made.extend(quote!(.indexes(&[#(#indexes,)*])));
    }
    let words = [
        ("keep", it.keep, [("first", quote!(Keep::First)), ("last", quote!(Keep::Last))]),
        ("ties", it.ties, [("first", quote!(Ties::First)), ("last", quote!(Ties::Last))]),
        (
            "algorithm",
            it.algorithm,
            [
                ("sliding-window", quote!(Algorithm::SlidingWindow)),
                ("gcra", quote!(Algorithm::Gcra)),
            ],
        ),
    ];
    for (name, word, known) in words {
        if let Some((_, value)) = known.into_iter().find(|(known, _)| Some(*known) == word) {
            let name = ident(name);
            made.extend(quote!(.#name(::keyward::#value)));
        }
    }
    if let Some(session) = &it.session {
        let session = session_options(session);
        made.extend(quote!(.session(#session)));
    }
    if let Some((holds_keys, reverse_holds_keys)) = it.index {
        let holds = holds_keys.then(|| quote!(.holds_keys()));
        let reverse = reverse_holds_keys.then(|| quote!(.reverse_holds_keys()));
        made.extend(quote!(.index(::keyward::IndexOptions::new() #holds #reverse)));
    }
    if let Some((field, kind)) = &it.touched {
        let stamp = stamp(kind);
        made.extend(quote!(.touched((#field, #stamp))));
    }
    made
}

fn session_options(session: &Session) -> TokenStream {
    let id = number(session.id);
    let max_age = session.max_age_ms.map(number).map(|age| quote!(.max_age_ms(#age)));
    let revoked = session.revoked.as_ref().map(|kind| {
        let stamp = stamp(kind);
        quote!(.revoked(#stamp))
    });
    let listed = session.listed_as_key.then(|| quote!(.listed_as_key()));
    let score = session.score_ms.map(number).map(|unit| quote!(.score_ms(#unit)));
    quote!(::keyward::SessionOptions::new(#id) #max_age #revoked #listed #score)
}

/// What says that something happens now.
fn stamp(kind: &str) -> TokenStream {
    match (kind, kind.strip_prefix('=')) {
        (_, Some(word)) => quote!(::keyward::Stamp::Word(#word)),
        ("unix", _) => quote!(::keyward::Stamp::Unix),
        ("unix_ms", _) => quote!(::keyward::Stamp::UnixMs),
        ("date", _) => quote!(::keyward::Stamp::Date),
        _ => quote!(::keyward::Stamp::Timestamp),
    }
}

fn ttl(ttl: Option<&Ttl>) -> TokenStream {
    // Whole seconds are read more easily, by the compiler too.
    let duration = |ms: u64| match (number(ms), number(ms / 1000)) {
        (_, seconds) if ms.is_multiple_of(1000) => quote!(Duration::from_secs(#seconds)),
        (ms, _) => quote!(Duration::from_millis(#ms)),
    };
    let Some(ttl) = ttl else { return quote!(Ttl::Undeclared) };
    let (min, max) = (ttl.min_ms.map(duration), ttl.max_ms.map(duration));
    match ttl.kind {
        "none" => quote!(Ttl::None),
        "fixed" => quote!(Ttl::Fixed(#max)),
        "range" => quote!(Ttl::Range { min: #min, max: #max }),
        "by" => {
            let param = ttl.by.as_ref().map(|by| &by.id);
            let words = ttl.words.iter().map(|(word, ms)| {
                let ttl = duration(*ms);
                quote!((#word, #ttl))
            });
            quote!(Ttl::By { param: #param, words: &[#(#words,)*] })
        }
        _ => {
            let max = option(max);
            quote!(Ttl::Caller { max: #max })
        }
    }
}
