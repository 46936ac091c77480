//! The values of each type as an automaton, before normalisation and encoding.

use crate::automaton::{Dfa, Meeting, Nfa, TooLarge, chars, meet_dfa};
use crate::language::{LanguageError, MAX_STATES};
use crate::{Type, lower};
use std::sync::LazyLock;

const ALNUM: &[(u8, u8)] = &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')];
const BASE64URL: &[(u8, u8)] =
    &[(b'-', b'-'), (b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')];
/// No `I`, `L`, `O` and `U`.
const CROCKFORD: &[(u8, u8)] =
    &[(b'0', b'9'), (b'A', b'H'), (b'J', b'K'), (b'M', b'N'), (b'P', b'T'), (b'V', b'Z')];

/// The values of a type, before normalisation and encoding.
pub(crate) fn values(ty: &Type, separator: u8) -> Result<Dfa, LanguageError> {
    let digits = || Nfa::bytes(&[(b'0', b'9')]);
    let hex = || Nfa::bytes(&[(b'0', b'9'), (b'a', b'f')]);
    let many = |nfa: Nfa| nfa.repeat(1, None);
    let exactly = |nfa: Nfa, count: u32| nfa.repeat(count, Some(count));
    let nfa = match ty {
        Type::Text => return text(&[separator, b'{', b'}']),
        Type::Encoded => return Ok(many(chars(&[('\0', char::MAX)])?)?.determinize(MAX_STATES)?),
        Type::Uuid => {
            let hyphen = || Nfa::literal(b"-");
            Nfa::concat([
                exactly(hex(), 8)?,
                hyphen(),
                exactly(hex(), 4)?,
                hyphen(),
                exactly(hex(), 4)?,
                hyphen(),
                exactly(hex(), 4)?,
                hyphen(),
                exactly(hex(), 12)?,
            ])?
        }
        Type::Int => Nfa::any([
            up_to(i64::MAX as u64)?,
            Nfa::literal(b"-").then(positive_up_to(i64::MIN.unsigned_abs())?)?,
        ])?,
        Type::Uint => up_to(u64::MAX)?,
        Type::Unix => up_to(253_402_300_799)?,
        Type::UnixMs => up_to(253_402_300_799_999)?,
        Type::Digits(count) => exactly(digits(), u32::from(*count))?,
        Type::Hex(None) => many(hex())?,
        Type::Hex(Some(count)) => exactly(hex(), u32::from(*count))?,
        Type::Word => many(Nfa::bytes(&[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')]))?,
        Type::Slug => {
            let run = || many(Nfa::bytes(&[(b'0', b'9'), (b'a', b'z')]));
            run()?.then(Nfa::literal(b"-").then(run()?)?.repeat(0, None)?)?
        }
        Type::Locale => locale()?,
        Type::Date => date()?,
        Type::Ip => Nfa::any([ipv4()?, ipv6()?])?,
        Type::Ulid => Nfa::bytes(&[(b'0', b'7')]).then(exactly(Nfa::bytes(CROCKFORD), 25)?)?,
        Type::Email => return email(separator),
        Type::Base64Url(None) => many(Nfa::bytes(BASE64URL))?,
        Type::Base64Url(Some(count)) => exactly(Nfa::bytes(BASE64URL), u32::from(*count))?,
        Type::Alnum(None) => many(Nfa::bytes(ALNUM))?,
        Type::Alnum(Some(count)) => exactly(Nfa::bytes(ALNUM), u32::from(*count))?,
        Type::RawIp => return raw_ip(),
        Type::Raw => return raw(&[separator]),
        Type::Enum(words) => enumeration(words)?,
        Type::Regex(regex) => return regex_values(regex),
        Type::Any(types) => return union(types, separator),
        Type::Key(_) => return Err(LanguageError::KeyInside),
    };
    Ok(nfa.determinize(MAX_STATES)?)
}

/// Text without these bytes of ASCII.
pub(crate) fn text(without: &[u8]) -> Result<Dfa, LanguageError> {
    let mut ranges = Vec::new();
    let mut first = ' ';
    for byte in 0x21..=0x7fu8 {
        let char = byte as char;
        if char == '\x7f' || without.contains(&byte) {
            if first < char {
                ranges.push((first, (byte - 1) as char));
            }
            first = (byte + 1) as char;
        }
    }
    ranges.push(('\u{a0}', char::MAX));
    Ok(chars(&ranges)?.repeat(1, None)?.determinize(MAX_STATES)?)
}

/// Characters of any kind but these of ASCII.
pub(crate) fn raw(without: &[u8]) -> Result<Dfa, LanguageError> {
    let all = chars(&[('\0', char::MAX)])?.repeat(1, None)?.determinize(MAX_STATES)?;
    Ok(all.intersect(&free_of(without)?, MAX_STATES)?)
}

/// Everything that contains none of these bytes.
pub(crate) fn free_of(bytes: &[u8]) -> Result<Dfa, LanguageError> {
    let others = (0..=u8::MAX).filter(|byte| !bytes.contains(byte)).map(|byte| (byte, byte));
    Ok(Nfa::bytes(&others.collect::<Vec<_>>()).repeat(0, None)?.determinize(MAX_STATES)?)
}

/// What `lower` leaves alone. For a type of ASCII words, bytes are enough and far smaller.
pub(crate) fn small(ty: &Type) -> Result<Dfa, LanguageError> {
    // From 1,400 ranges of characters: made once, since every schema with `normalize` needs it.
    static CHARS: LazyLock<Result<Dfa, LanguageError>> = LazyLock::new(|| {
        let mut ranges = Vec::new();
        let mut first = '\0';
        for capital in lower::capitals() {
            if first < capital {
                ranges.extend(char::from_u32(capital as u32 - 1).map(|last| (first, last)));
            }
            first = char::from_u32(capital as u32 + 1).unwrap_or(capital);
        }
        ranges.push((first, char::MAX));
        Ok(chars(&ranges)?.repeat(0, None)?.determinize(MAX_STATES)?)
    });
    if matches!(ty, Type::Text | Type::Raw | Type::Encoded | Type::Enum(_) | Type::Any(_)) {
        return CHARS.clone();
    }
    let bytes = Nfa::bytes(&[(0, b'A' - 1), (b'Z' + 1, 0xff)]);
    Ok(bytes.repeat(0, None)?.determinize(MAX_STATES)?)
}

fn enumeration(words: &[String]) -> Result<Nfa, LanguageError> {
    if words.is_empty() {
        return Err(LanguageError::Nothing);
    }
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = words.iter().find(|word| !seen.insert(word.as_str())) {
        return Err(LanguageError::WordTwice(twice.clone()));
    }
    Ok(Nfa::any(words.iter().map(|word| Nfa::literal(word.as_bytes())))?)
}

fn union(types: &[Type], separator: u8) -> Result<Dfa, LanguageError> {
    let mut members: Vec<(&Type, Dfa)> = Vec::new();
    for ty in types {
        if *ty == Type::Encoded {
            return Err(LanguageError::EncodedInside);
        }
        let dfa = values(ty, separator)?;
        for (other, earlier) in &members {
            if let Meeting::At(witness) = meet_dfa(earlier, &dfa)? {
                return Err(LanguageError::NotDisjoint {
                    left: other.to_string(),
                    right: ty.to_string(),
                    witness: String::from_utf8_lossy(&witness).into_owned(),
                });
            }
        }
        members.push((ty, dfa));
    }
    if members.is_empty() {
        return Err(LanguageError::Nothing);
    }
    Ok(Nfa::any(members.iter().map(|(_, dfa)| Nfa::from_dfa(dfa)))?.determinize(MAX_STATES)?)
}

/// Canonical decimal numbers from 0.
fn up_to(max: u64) -> Result<Nfa, TooLarge> {
    Nfa::any([Nfa::literal(b"0"), positive_up_to(max)?])
}

/// Canonical decimal numbers from 1: shorter ones, and those as long that are no greater.
fn positive_up_to(max: u64) -> Result<Nfa, TooLarge> {
    let digits = max.to_string().into_bytes();
    let any = |count: usize| {
        let count = u32::try_from(count).map_err(|_| TooLarge)?;
        Nfa::bytes(&[(b'0', b'9')]).repeat(count, Some(count))
    };
    let mut ways = vec![Nfa::literal(&digits)];
    for shorter in 1..digits.len() {
        ways.push(Nfa::bytes(&[(b'1', b'9')]).then(any(shorter - 1)?)?);
    }
    for (at, &digit) in digits.iter().enumerate() {
        let first = if at == 0 { b'1' } else { b'0' };
        if first < digit {
            let smaller = Nfa::bytes(&[(first, digit - 1)]).then(any(digits.len() - at - 1)?)?;
            ways.push(Nfa::literal(&digits[..at]).then(smaller)?);
        }
    }
    Nfa::any(ways)
}

fn ipv4() -> Result<Nfa, TooLarge> {
    let octet = || up_to(255);
    let dot = || Nfa::literal(b".");
    Nfa::concat([octet()?, dot(), octet()?, dot(), octet()?, dot(), octet()?])
}

/// 32 hex digits, but not an IPv4 address mapped into IPv6: that one has its own spelling.
fn ipv6() -> Result<Nfa, TooLarge> {
    const MAPPED: &[u8] = b"00000000000000000000ffff";
    let hex = |count: usize| {
        let count = u32::try_from(count).map_err(|_| TooLarge)?;
        Nfa::bytes(&[(b'0', b'9'), (b'a', b'f')]).repeat(count, Some(count))
    };
    let mut ways = Vec::new();
    for (at, &digit) in MAPPED.iter().enumerate() {
        let others: Vec<(u8, u8)> = b"0123456789abcdef"
            .iter()
            .filter(|&&other| other != digit)
            .map(|&other| (other, other))
            .collect();
        let parted = Nfa::bytes(&others).then(hex(31 - at)?)?;
        ways.push(Nfa::literal(&MAPPED[..at]).then(parted)?);
    }
    Nfa::any(ways)
}

/// IPv4 with dots, or IPv6 as RFC 5952 writes it.
fn raw_ip() -> Result<Dfa, LanguageError> {
    // From 256 ways to place zeros among eight groups: made once.
    static ADDRESSES: LazyLock<Result<Dfa, LanguageError>> =
        LazyLock::new(|| Ok(Nfa::any([ipv4()?, raw_ipv6()?])?.determinize(MAX_STATES)?));
    ADDRESSES.clone()
}

/// Eight groups in hex without leading zeros, the first of the longest runs of two or more zeros as `::`, and an
/// IPv4 address that is mapped with its dots.
fn raw_ipv6() -> Result<Nfa, TooLarge> {
    let hex = || Nfa::bytes(&[(b'0', b'9'), (b'a', b'f')]);
    let first = || Nfa::bytes(&[(b'1', b'9'), (b'a', b'f')]);
    let group = || first().then(hex().repeat(0, Some(3))?);
    // With `ffff` behind five zeros it would be a mapped address, which has dots.
    let not_ffff = || {
        let mut ways = vec![first().then(hex().repeat(0, Some(2))?)?];
        for at in 0..4u32 {
            let low = if at == 0 { b'1' } else { b'0' };
            let other = Nfa::bytes(&[(low, b'9'), (b'a', b'e')]);
            let same = Nfa::literal(&b"ffff"[..at as usize]);
            ways.push(Nfa::concat([same, other, hex().repeat(3 - at, Some(3 - at))?])?);
        }
        Nfa::any(ways)
    };
    let mut all = vec![Nfa::literal(b"::ffff:").then(ipv4()?)?];
    for zeros in 0..=u8::MAX {
        let is_zero = |at: usize| zeros & (1 << at) != 0;
        let run = |from: usize| (from..8).take_while(|&at| is_zero(at)).count();
        let longest = (0..8).rev().max_by_key(|&from| run(from)).filter(|&from| run(from) > 1);
        let mapped = (0..5).all(is_zero);
        let mut address = Nfa::empty();
        let mut at = 0;
        while at < 8 {
            if longest == Some(at) {
                address = address.then(Nfa::literal(b"::"))?;
                at += run(at);
                continue;
            }
            let behind_run = longest.is_some_and(|from| at == from + run(from));
            if at > 0 && !behind_run {
                address = address.then(Nfa::literal(b":"))?;
            }
            address = address.then(match at {
                _ if is_zero(at) => Nfa::literal(b"0"),
                5 if mapped => not_ffff()?,
                _ => group()?,
            })?;
            at += 1;
        }
        all.push(address);
    }
    Nfa::any(all)
}

/// What WHATWG's HTML calls a valid e-mail address, without a bound on its length: an atom or several with dots
/// anywhere, and labels of a domain. Braces would open a hash tag, and the separator end the value.
fn email(separator: u8) -> Result<Dfa, LanguageError> {
    const MARKS: &[u8] = b".!#$%&'*+/=?^_`|~-";
    // What the part behind the `@` is made of cannot be left out.
    if matches!(separator, b'@' | b'.' | b'-') {
        return Err(LanguageError::Forbidden(separator as char));
    }
    let marks = MARKS.iter().filter(|mark| **mark != separator).map(|mark| (*mark, *mark));
    let local: Vec<(u8, u8)> = ALNUM.iter().copied().chain(marks).collect();
    let alnum = || Nfa::bytes(ALNUM).repeat(1, None);
    let hyphens = || Nfa::literal(b"-").repeat(1, None);
    let label = || alnum()?.then(hyphens()?.then(alnum()?)?.repeat(0, None)?);
    let domain = label()?.then(Nfa::literal(b".").then(label()?)?.repeat(0, None)?)?;
    let local = Nfa::bytes(&local).repeat(1, None)?;
    Ok(Nfa::concat([local, Nfa::literal(b"@"), domain])?.determinize(MAX_STATES)?)
}

/// Language, script and region with the same joint throughout.
fn locale() -> Result<Nfa, TooLarge> {
    let small = || Nfa::bytes(&[(b'a', b'z')]);
    let capital = || Nfa::bytes(&[(b'A', b'Z')]);
    let mut ways = Vec::new();
    for joint in [b"_", b"-"] {
        let script = Nfa::concat([Nfa::literal(joint), capital(), small().repeat(3, Some(3))?])?;
        let region = Nfa::any([
            capital().repeat(2, Some(2))?,
            Nfa::bytes(&[(b'0', b'9')]).repeat(3, Some(3))?,
        ])?;
        let region = Nfa::literal(joint).then(region)?;
        ways.push(script.repeat(0, Some(1))?.then(region.repeat(0, Some(1))?)?);
    }
    small().repeat(2, Some(3))?.then(Nfa::any(ways)?)
}

/// The days of the Gregorian calendar, years 1 to 9999.
fn date() -> Result<Nfa, TooLarge> {
    let words = |range: std::ops::RangeInclusive<u32>, keep: &dyn Fn(u32) -> bool, width: usize| {
        let words =
            range.filter(|&n| keep(n)).map(|n| Nfa::literal(format!("{n:0width$}").as_bytes()));
        Nfa::any(words.collect::<Vec<_>>())
    };
    let leap = |year: u32| {
        (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
    };
    let days = |last: u32| words(1..=last, &|_| true, 2);
    let long = words(1..=12, &|month| matches!(month, 1 | 3 | 5 | 7 | 8 | 10 | 12), 2)?;
    let short = words(1..=12, &|month| matches!(month, 4 | 6 | 9 | 11), 2)?;
    let hyphen = || Nfa::literal(b"-");
    let of_any_year = Nfa::any([
        Nfa::concat([long, hyphen(), days(31)?])?,
        Nfa::concat([short, hyphen(), days(30)?])?,
        Nfa::concat([Nfa::literal(b"02-"), days(28)?])?,
    ])?;
    // Ten thousand words would be a large automaton on the way to a small one: centuries first.
    let pair = |keep: &dyn Fn(u32) -> bool| words(0..=99, keep, 2);
    let year = Nfa::any([
        pair(&|century| century > 0)?.then(pair(&|_| true)?)?,
        Nfa::literal(b"00").then(pair(&|year| year > 0)?)?,
    ])?;
    let leap_year = Nfa::any([
        pair(&|_| true)?.then(pair(&|year| year > 0 && leap(year))?)?,
        pair(&|century| century > 0 && leap(century * 100))?.then(Nfa::literal(b"00"))?,
    ])?;
    Nfa::any([
        Nfa::concat([year, hyphen(), of_any_year])?,
        Nfa::concat([leap_year, Nfa::literal(b"-02-29")])?,
    ])
}

#[cfg(feature = "prove")]
fn regex_values(regex: &str) -> Result<Dfa, LanguageError> {
    crate::prove::regex(regex)
}

#[cfg(not(feature = "prove"))]
fn regex_values(_: &str) -> Result<Dfa, LanguageError> {
    Err(LanguageError::Regex("regular expressions need the feature `prove`".to_owned()))
}
