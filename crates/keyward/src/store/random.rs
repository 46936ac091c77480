//! Ids and tokens that nobody can guess.

use super::error::Error;
use std::str::FromStr;

/// A random value that nobody can guess, for the id of a session or for a token: 256 bits as base64url where
/// the type takes that, otherwise as many hex digits, a random UUID, or 128 bits as 32 hex digits.
///
/// # Errors
/// If the type takes none of these, or the system has no random numbers.
///
/// ```
/// let id: String = keyward::random_id()?;
/// assert_eq!(id.len(), 43);
/// # Ok::<(), keyward::Error>(())
/// ```
pub fn random_id<T: FromStr>() -> Result<T, Error> {
    fitting(|text| text.parse().ok())
}

/// What tells one lease or one attempt at a lock from every other, of any process.
pub(crate) fn secret() -> Result<String, Error> {
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes()?)))
}

fn bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Settings(format!("the system has no random numbers: {error}")))?;
    Ok(bytes)
}

/// The first of some random texts that something can be made of.
pub(crate) fn fitting<T>(make: impl FnMut(&str) -> Option<T>) -> Result<T, Error> {
    let bytes: [u8; 32] = bytes()?;
    let digit = |bits: u8| char::from_digit(bits.into(), 16).unwrap_or('0');
    let hex: String = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
    let uuid =
        uuid::Builder::from_random_bytes(*bytes.first_chunk().unwrap_or(&[0; 16])).into_uuid();
    let texts = [base64url(&bytes), hex.clone(), uuid.to_string(), hex[..32].to_owned()];
    texts.iter().map(String::as_str).find_map(make).ok_or_else(|| {
        Error::Settings(
            "a random id does not fit its type: give it one that takes base64url, hex digits or a UUID"
                .to_owned(),
        )
    })
}

fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 1);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spelled_as_base64url_without_padding() {
        for (bytes, text) in
            [(&b"f"[..], "Zg"), (b"fo", "Zm8"), (b"foo", "Zm9v"), (b"\xfb\xff\xbf", "-_-_")]
        {
            assert_eq!(base64url(bytes), text);
        }
    }

    #[test]
    fn an_id_is_of_the_type_it_is_for_or_there_is_none() {
        assert_eq!(random_id::<String>().unwrap().len(), 43);
        assert_eq!(random_id::<crate::Uuid>().unwrap().get_version_num(), 4);
        assert!(matches!(random_id::<u64>(), Err(Error::Settings(_))));
        assert_ne!(random_id::<String>().unwrap(), random_id::<String>().unwrap());
    }
}
