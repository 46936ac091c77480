//! IPv6 addresses that were put into keys as they are, colons included.

use std::net::Ipv6Addr;

/// The IPv6 addresses that a text may begin with, the longest first, each with its end. An address ends where neither
/// a letter nor a digit follows.
///
/// ```
/// let text = b"2001:db8::1:limit";
/// let (end, address) = keyward_pattern::raw_ipv6(text).next().expect("an address");
/// assert_eq!((&text[end..], address), (&b":limit"[..], "2001:db8::1".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
pub fn raw_ipv6(text: &[u8]) -> impl Iterator<Item = (usize, Ipv6Addr)> + '_ {
    /// Eight groups of four digits.
    const LONGEST: usize = 39;
    let is_part = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b':';
    let run = text.iter().take(LONGEST).take_while(is_part).count();
    let ends = move |end: &usize| text.get(*end).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let address = |end: usize| str::from_utf8(&text[..end]).ok()?.parse().ok();
    (2..=run).rev().filter(ends).filter_map(move |end| Some((end, address(end)?)))
}
