//! Whether a reply is one that a command for a value can have.

use super::connection::Reply;

/// Whether a server may answer so.
pub(super) fn is(command: &str, reply: &Reply) -> bool {
    match (command, reply) {
        ("STRLEN" | "HLEN" | "LLEN" | "SCARD" | "ZCARD" | "XLEN", reply) => {
            matches!(reply, Reply::Integer(0..))
        }
        ("GETRANGE", reply) => is_text(reply),
        ("HSCAN" | "SSCAN", Reply::Array(reply)) => match &reply[..] {
            [Reply::Bytes(cursor), Reply::Array(elements)] => {
                is_cursor(cursor)
                    && elements.iter().all(is_text)
                    && (command == "SSCAN" || elements.len().is_multiple_of(2))
            }
            _ => false,
        },
        ("LRANGE", Reply::Array(items)) => items.iter().all(is_text),
        ("ZRANGE", Reply::Array(pairs)) => {
            let is_pair = |pair: &[Reply]| is_text(&pair[0]) && is_score(&pair[1]);
            pairs.len().is_multiple_of(2) && pairs.chunks_exact(2).all(is_pair)
        }
        ("XRANGE" | "XREVRANGE", Reply::Array(entries)) => entries.iter().all(is_entry),
        _ => false,
    }
}

fn is_text(reply: &Reply) -> bool {
    matches!(reply, Reply::Bytes(_) | Reply::Skipped)
}

fn is_cursor(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|cursor| cursor.parse::<u64>().is_ok())
}

fn is_score(reply: &Reply) -> bool {
    let Reply::Bytes(text) = reply else { return false };
    std::str::from_utf8(text).is_ok_and(|score| score.parse::<f64>().is_ok())
}

fn is_entry(reply: &Reply) -> bool {
    let Reply::Array(entry) = reply else { return false };
    let [Reply::Bytes(_), Reply::Array(fields)] = &entry[..] else { return false };
    fields.len().is_multiple_of(2) && fields.iter().all(is_text)
}
