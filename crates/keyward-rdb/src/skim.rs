//! Passes over keys, looking no further into their values than to find where they end.

use crate::error::Error;
use crate::input::Input;
use crate::string::{Form, length};
use crate::written::{TtlForm, Written};

/// Passes over a key's name and its value. `false`, and nothing was read, where the value's own marks must
/// be followed.
#[inline]
pub(crate) fn pass<I: Input>(written: Written, input: &mut I) -> Result<bool, Error> {
    match written {
        Written::String
        | Written::HashZipmap
        | Written::HashZiplist
        | Written::HashListpack
        | Written::HashListpackEx { minimum: false }
        | Written::ListZiplist
        | Written::SetIntset
        | Written::SetListpack
        | Written::ZsetZiplist
        | Written::ZsetListpack => {
            string(input)?;
            string(input)?;
        }
        Written::HashListpackEx { minimum: true } => {
            string(input)?;
            input.skip(8)?;
            string(input)?;
        }
        Written::List | Written::Set | Written::Quicklist => each(input, string)?,
        Written::Hash => each(input, pair)?,
        Written::Quicklist2 => each(input, |input| {
            length(input)?;
            string(input)
        })?,
        Written::Zset { text_scores: false } => each(input, |input| {
            string(input)?;
            input.skip(8)
        })?,
        Written::HashWithTtls(TtlForm::Behind) => each(input, |input| {
            pair(input)?;
            input.skip(8)
        })?,
        Written::HashWithTtls(TtlForm::Absolute | TtlForm::Relative)
        | Written::Zset { text_scores: true }
        | Written::Stream { .. }
        | Written::Module
        | Written::Array => return Ok(false),
    }
    Ok(true)
}

/// Passes over a name, and over as many elements as are said to follow.
#[inline]
fn each<I: Input>(
    input: &mut I,
    element: impl Fn(&mut I) -> Result<(), Error>,
) -> Result<(), Error> {
    string(input)?;
    for _ in 0..length(input)? {
        element(input)?;
    }
    Ok(())
}

#[inline]
fn string<I: Input>(input: &mut I) -> Result<(), Error> {
    Form::read(input)?.skip(input)
}

#[inline]
fn pair<I: Input>(input: &mut I) -> Result<(), Error> {
    string(input)?;
    string(input)
}
