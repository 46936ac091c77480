//! `keyspace!`.
use proc_macro::TokenStream;
/// stub
#[proc_macro]
pub fn keyspace(_input: TokenStream) -> TokenStream { TokenStream::new() }
