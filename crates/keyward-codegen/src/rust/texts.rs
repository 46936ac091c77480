//! Values of parameters from human text.

use super::Rust;
use super::text::{code, doc, ident, number, pascal, prose, screaming};
use crate::model::{ParamType, Text};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};

impl Rust<'_> {
    /// The pipelines that some type takes its values from, and `from_text` of those types.
    pub(super) fn texts(&self) -> TokenStream {
        let sources = || self.module.types.iter().filter_map(|ty| Some((ty, ty.from?)));
        let is_used = |at: usize| sources().any(|(_, from)| from == at);
        let texts = self.module.texts.iter().enumerate().filter(|(at, _)| is_used(*at));
        let pipelines: TokenStream = texts.map(|(_, text)| pipeline(text)).collect();
        if pipelines.is_empty() {
            return TokenStream::new();
        }
        let constructors = sources().map(|(ty, from)| from_text(ty, &self.module.texts[from]));
        quote! {
            ::keyward::__needs_text!();
            ::keyward::__text_pipelines! { #pipelines }
            #(#constructors)*
        }
    }
}

fn pipeline(text: &Text) -> TokenStream {
    let name = screaming(&text.name);
    let first = prose(text.doc.as_ref())
        .unwrap_or_else(|| format!("The text pipeline {}", code(&text.name.id)));
    let docs = doc(&first);
    let (short, long): (Vec<_>, Vec<_>) = text.abbreviations.iter().cloned().unzip();
    let (symbols, spoken): (Vec<_>, Vec<_>) = text.symbols.iter().cloned().unzip();
    let (stop_words, idempotent) = (&text.stop_words, text.idempotent);
    let words = optional(text.words.map(|count| number(count).to_token_stream()));
    let max_len = optional(text.max_len.map(|max| number(max).to_token_stream()));
    let shorten = ident(if text.shorten == "vowels" { "Vowels" } else { "Cut" });
    let numbers = text.numbers.map(|language| {
        let language = ident(if language == "de" { "German" } else { "English" });
        quote!(::keyward::text::Numbers::#language)
    });
    let numbers = optional(numbers);
    quote! {
        #docs
        #name = ::keyward::text::Options {
            abbreviations: &[#((#short, #long),)*],
            numbers: #numbers,
            symbols: &[#((#symbols, #spoken),)*],
            stop_words: &[#(#stop_words,)*],
            words: #words,
            max_len: #max_len,
            shorten: ::keyward::text::Shorten::#shorten,
            idempotent: #idempotent,
        };
    }
}

fn optional(value: Option<TokenStream>) -> TokenStream {
    value.map_or(
        quote!(::core::option::Option::None),
        |value| quote!(::core::option::Option::Some(#value)),
    )
}

fn from_text(ty: &ParamType, text: &Text) -> TokenStream {
    let (name, pipeline) = (pascal(&ty.name), screaming(&text.name));
    let docs = doc(&format!("A value from human text, by the pipeline {}.", code(&text.name.id)));
    quote!(::keyward::__from_text! { #docs values::#name, texts::#pipeline })
}
