//! An entry of a stream as bytes: its names and values in turn, each behind its length: `2:to3:you`.

/// The most fields of an entry: a script cannot pass many more to a command.
const MOST: usize = 1000;

/// The bytes of an entry.
pub(crate) fn spell<N: AsRef<[u8]>, V: AsRef<[u8]>>(
    pairs: impl IntoIterator<Item = (N, V)>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut text = |text: &[u8]| {
        bytes.extend(text.len().to_string().into_bytes());
        bytes.push(b':');
        bytes.extend(text);
    };
    for (name, value) in pairs {
        text(name.as_ref());
        text(value.as_ref());
    }
    bytes
}

/// The names and values of an entry; `None` if the bytes are not one.
pub(crate) fn read(mut bytes: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let mut pairs = Vec::new();
    while !bytes.is_empty() {
        pairs.push((text(&mut bytes)?, text(&mut bytes)?));
    }
    Some(pairs)
}

fn text<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let size: usize = std::str::from_utf8(&bytes[..colon]).ok()?.parse().ok()?;
    let (text, rest) = bytes[colon + 1..].split_at_checked(size)?;
    *bytes = rest;
    Some(text)
}

/// The same as texts; `None` too if they are not UTF-8, or a name is there twice.
#[cfg(feature = "store")]
pub(crate) fn texts(bytes: &[u8]) -> Option<Vec<(&str, &str)>> {
    let mut names = std::collections::HashSet::new();
    let utf8 = |(name, value)| Some((str::from_utf8(name).ok()?, str::from_utf8(value).ok()?));
    let pairs: Vec<(&str, &str)> = read(bytes)?.into_iter().map(utf8).collect::<Option<_>>()?;
    pairs.iter().all(|(name, _)| names.insert(*name)).then_some(pairs)
}

/// Why an entry cannot be added to a stream, if it cannot.
pub(crate) fn unfit(bytes: &[u8]) -> Option<String> {
    match read(bytes).map(|pairs| pairs.len()) {
        None => Some("the job is not an entry of a stream".to_owned()),
        Some(0) => {
            Some("the job has no fields, and an entry of a stream has one at least".to_owned())
        }
        Some(fields) if fields > MOST => {
            Some(format!("the job has {fields} fields, and {MOST} are the most"))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_spelled() {
        let pairs: [(&[u8], &[u8]); 3] = [(b"to", b"you"), (b"", b"\xff:3:"), (b"to", b"")];
        let bytes = spell(pairs);
        assert_eq!(bytes, b"2:to3:you0:4:\xff:3:2:to0:");
        assert_eq!(read(&bytes).unwrap(), pairs);
        assert_eq!(read(b""), Some(Vec::new()));
        for wrong in ["2", "2:t", "2:to", "x:to1:a", "1:a99999999999999999999:b", "-1:a1:b"] {
            assert_eq!(read(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
