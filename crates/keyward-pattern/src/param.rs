//! What a parameter holds: its type, and how an application's value becomes its spelling.

use crate::language::Language;
use std::fmt;

/// The languages of bytes that a parameter may hold. Each has one canonical spelling for a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Type {
    /// Valid UTF-8, not empty, no separator, no control character, no `{` or `}`
    Text,
    /// `550e8400-e29b-41d4-a716-446655440000`: lower case, hyphenated
    Uuid,
    /// Canonical decimal in the range of `i64`
    Int,
    /// Canonical decimal in the range of `u64`
    Uint,
    /// Exactly this many of `[0-9]`
    Digits(u16),
    /// `[0-9a-f]+`, or exactly this many
    Hex(Option<u16>),
    /// `[A-Za-z0-9_]+`
    Word,
    /// `[a-z0-9]+(-[a-z0-9]+)*`
    Slug,
    /// `de`, `de_DE`, `de-DE`, `zh_Hans_CN`, `es_419`
    Locale,
    /// A day of the calendar, `0001-01-01` to `9999-12-31`
    Date,
    /// Seconds since 1970, up to the year 9999
    Unix,
    /// Milliseconds since 1970, up to the year 9999
    UnixMs,
    /// Dotted IPv4, or IPv6 as 32 hex digits; an IPv4 address mapped into IPv6 is the IPv4 address
    Ip,
    /// 26 of Crockford's base 32 in capitals, the first `0` to `7`
    Ulid,
    /// `anna@example.com`: ASCII, as forms on the web take it, without braces and the separator
    Email,
    /// `[A-Za-z0-9_-]+`, or exactly this many
    Base64Url(Option<u16>),
    /// `[A-Za-z0-9]+`, or exactly this many
    Alnum(Option<u16>),
    /// Dotted IPv4, or IPv6 as RFC 5952 writes it: with colons, so that it may span segments
    RawIp,
    /// Text that may contain braces and control characters: what other software put into its keys
    Raw,
    /// Any non-empty string: `[A-Za-z0-9._-]` minus the separator as it is, the rest as `%XX`
    Encoded,
    /// One of these words
    Enum(Vec<String>),
    /// What a regular expression matches from end to end: ASCII, no look-around
    Regex(String),
    /// What any of these types holds; they have nothing in common
    Any(Vec<Type>),
    /// A whole key of one of these definitions, without the prefix
    Key(Vec<String>),
}

impl Type {
    /// The names that [`Type::named`] reads; `(n)` is a length. Only `raw` is not among them, which is for old names.
    pub const NAMES: &[&str] = &[
        "text",
        "uuid",
        "int",
        "uint",
        "digits(n)",
        "hex",
        "hex(n)",
        "word",
        "slug",
        "locale",
        "date",
        "unix",
        "unix_ms",
        "ip",
        "ulid",
        "email",
        "base64url",
        "base64url(n)",
        "alnum",
        "alnum(n)",
        "raw_ip",
        "encoded",
    ];

    /// The longest length that `digits(n)` and the like take.
    pub const MAX_LEN: u16 = 1024;

    /// Reads a type by its name.
    ///
    /// ```
    /// use keyward_pattern::Type;
    /// assert_eq!(Type::named("digits(3)"), Ok(Type::Digits(3)));
    /// assert_eq!(Type::named("uid").unwrap_err().help().unwrap(), "did you mean `uuid`?");
    /// ```
    pub fn named(name: &str) -> Result<Type, UnknownType> {
        let ty = match name {
            "text" => Type::Text,
            "uuid" => Type::Uuid,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "hex" => Type::Hex(None),
            "word" => Type::Word,
            "slug" => Type::Slug,
            "locale" => Type::Locale,
            "date" => Type::Date,
            "unix" => Type::Unix,
            "unix_ms" => Type::UnixMs,
            "ip" => Type::Ip,
            "ulid" => Type::Ulid,
            "email" => Type::Email,
            "base64url" => Type::Base64Url(None),
            "alnum" => Type::Alnum(None),
            "raw_ip" => Type::RawIp,
            "raw" => Type::Raw,
            "encoded" => Type::Encoded,
            _ => {
                let unknown = || UnknownType { name: name.to_owned() };
                let (base, len) = name
                    .strip_suffix(')')
                    .and_then(|name| name.split_once('('))
                    .ok_or_else(unknown)?;
                let len = len.parse().ok().filter(|len| (1..=Type::MAX_LEN).contains(len));
                match (base, len) {
                    ("digits", Some(len)) => Type::Digits(len),
                    ("hex", Some(len)) => Type::Hex(Some(len)),
                    ("base64url", Some(len)) => Type::Base64Url(Some(len)),
                    ("alnum", Some(len)) => Type::Alnum(Some(len)),
                    _ => return Err(unknown()),
                }
            }
        };
        Ok(ty)
    }
}

impl Type {
    /// Whether values of the type may contain the separator, so that they span segments.
    pub fn spans(&self) -> bool {
        match self {
            Type::RawIp => true,
            Type::Any(types) => types.iter().any(Type::spans),
            _ => false,
        }
    }

    /// Whether the word is one that an enum lists.
    fn lists(&self, word: &str) -> bool {
        match self {
            Type::Enum(words) => words.iter().any(|listed| listed == word),
            Type::Any(types) => types.iter().any(|ty| ty.lists(word)),
            _ => false,
        }
    }

    /// What a value looks like, in a few words; `None` where the type's own text says it.
    pub(crate) fn expectation(&self) -> Option<String> {
        let text = match self {
            Type::Uuid => "hex digits in groups of 8-4-4-4-12",
            Type::Int => "a whole number without leading zeros, of 64 bits at most",
            Type::Uint => "a whole number from 0, without leading zeros, of 64 bits at most",
            Type::Digits(count) => return Some(format!("exactly {count} digits")),
            Type::Hex(None) => "lower-case hex digits",
            Type::Hex(Some(count)) => {
                return Some(format!("exactly {count} lower-case hex digits"));
            }
            Type::Word => "letters, digits and `_`",
            Type::Slug => "lower-case letters and digits, joined by single hyphens",
            Type::Locale => "a locale such as `de`, `de_DE` or `zh_Hans_CN`",
            Type::Date => "a day of the calendar such as `2026-11-15`",
            Type::Unix => "seconds since 1970, up to the year 9999",
            Type::UnixMs => "milliseconds since 1970, up to the year 9999",
            Type::Ip => "an IPv4 or IPv6 address",
            Type::Ulid => "26 of the digits and letters of Crockford's base 32, up to `7ZZZ…`",
            Type::Email => "an e-mail address such as `anna@example.com`, in ASCII",
            Type::Base64Url(None) => "letters, digits, `-` and `_`",
            Type::Base64Url(Some(count)) => {
                return Some(format!("exactly {count} letters, digits, `-` and `_`"));
            }
            Type::Alnum(None) => "letters and digits",
            Type::RawIp => "an IPv4 or IPv6 address, as RFC 5952 writes it",
            Type::Alnum(Some(count)) => return Some(format!("exactly {count} letters and digits")),
            Type::Enum(_) => "one of these words",
            Type::Any(_) => "a value of one of these types",
            Type::Text | Type::Raw | Type::Encoded | Type::Regex(_) | Type::Key(_) => return None,
        };
        Some(text.to_owned())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Type::Text => "text",
            Type::Uuid => "uuid",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Digits(len) => return write!(f, "digits({len})"),
            Type::Hex(None) => "hex",
            Type::Hex(Some(len)) => return write!(f, "hex({len})"),
            Type::Word => "word",
            Type::Slug => "slug",
            Type::Locale => "locale",
            Type::Date => "date",
            Type::Unix => "unix",
            Type::UnixMs => "unix_ms",
            Type::Ip => "ip",
            Type::Ulid => "ulid",
            Type::Email => "email",
            Type::Base64Url(None) => "base64url",
            Type::Base64Url(Some(len)) => return write!(f, "base64url({len})"),
            Type::Alnum(None) => "alnum",
            Type::Alnum(Some(len)) => return write!(f, "alnum({len})"),
            Type::RawIp => "raw_ip",
            Type::Raw => "raw",
            Type::Encoded => "encoded",
            Type::Enum(words) => return write!(f, "one of {}", list(words)),
            Type::Regex(regex) => return write!(f, "regex {regex}"),
            Type::Any(types) => {
                let names: Vec<String> = types.iter().map(ToString::to_string).collect();
                return f.write_str(&names.join(" or "));
            }
            Type::Key(names) => return write!(f, "a key of {}", list(names)),
        };
        f.write_str(name)
    }
}

/// The first words of a list, and how many more there are.
fn list(words: &[String]) -> String {
    const SHOWN: usize = 8;
    let text =
        words.iter().take(SHOWN).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match words.len().saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// A name that is not a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownType {
    /// What was written
    pub name: String,
}

impl UnknownType {
    /// What may have been meant.
    pub fn help(&self) -> Option<String> {
        let base = self.name.split('(').next().unwrap_or_default();
        if matches!(base, "digits" | "hex" | "base64url" | "alnum") {
            let max = Type::MAX_LEN;
            return Some(format!("write `{base}(n)` with n from 1 to {max}"));
        }
        let known = Type::NAMES.iter().copied().filter(|name| !name.ends_with(')'));
        if let Some(nearest) = crate::nearest(base, known) {
            // `uid` is as far from both.
            let without_l = nearest == "ulid" && !base.contains(['l', 'L']);
            let nearest = if without_l { "uuid" } else { nearest };
            return Some(format!("did you mean `{nearest}`?"));
        }
        Some(format!("the types are {}", Type::NAMES.join(", ")))
    }
}

impl fmt::Display for UnknownType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a parameter type", self.name)
    }
}

impl std::error::Error for UnknownType {}

/// A parameter's type and how an application's value becomes its spelling in a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Param {
    /// What the application's value may be, after `normalize` and before `encode`
    pub ty: Type,
    /// Equality that is intended: the parameter *is* the result
    pub normalize: Option<Normalize>,
    /// Characters that are spelled otherwise in the key; parsing turns them back
    pub encode: Vec<(char, String)>,
    /// Values of the type that the parameter refuses, see [`Param::refuse`]
    pub except: Vec<String>,
    /// ASCII characters that no spelling has: what stands between parameters of one segment
    pub without: String,
}

impl From<Type> for Param {
    fn from(ty: Type) -> Self {
        let (encode, except) = (Vec::new(), Vec::new());
        Param { ty, normalize: None, encode, except, without: String::new() }
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ty.fmt(f)?;
        let marks: Vec<String> = self.without.chars().map(|mark| format!("`{mark}`")).collect();
        if marks.is_empty() { Ok(()) } else { write!(f, " without {}", marks.join(", ")) }
    }
}

impl Param {
    /// Whether values of the parameter, where they stand in one place, contain the separator in a key.
    pub fn spans(&self, separator: char) -> bool {
        let separator = u8::try_from(separator).unwrap_or(b':');
        let uses =
            || Language::shared(self, false, separator).map(|it| it.spelling.uses(separator));
        self.ty.spans() && uses().unwrap_or(false)
    }

    /// Whether a character has another spelling in the key.
    pub(crate) fn encodes(&self, byte: u8) -> bool {
        self.encode.iter().any(|(char, _)| *char == byte as char)
    }

    /// Refuses a word from now on, if it is a value and the type does not list it by name.
    ///
    /// ```
    /// use keyward_pattern::{Param, Type};
    ///
    /// let mut symbol = Param::from(Type::Text);
    /// symbol.refuse("active", ':');
    /// assert_eq!(symbol.except, ["active"]);
    ///
    /// let mut number = Param::from(Type::Uint);
    /// number.refuse("active", ':');
    /// assert!(number.except.is_empty());
    /// ```
    pub fn refuse(&mut self, word: &str, separator: char) {
        let separator = u8::try_from(separator).unwrap_or(b':');
        let lists = self.ty.lists(word) || matches!(self.ty, Type::Key(_));
        let known = self.except.iter().any(|known| known == word);
        let holds = || Language::shared(self, false, separator).is_ok_and(|it| it.holds(word));
        if !lists && !known && holds() {
            self.except.push(word.to_owned());
        }
    }
}

/// What makes two values the same parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Normalize {
    /// Unicode's simple lower-case mapping, see [`crate::lower`]
    Lower,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_type_prints_its_name() {
        for name in Type::NAMES {
            let name = name.replace("(n)", "(12)");
            assert_eq!(Type::named(&name).unwrap().to_string(), name);
        }
    }

    #[test]
    fn an_unknown_type_names_the_nearest() {
        let help = |name: &str| Type::named(name).unwrap_err().help().unwrap();
        assert_eq!(help("UUID"), "did you mean `uuid`?");
        assert_eq!(
            help("varchar"),
            "the types are text, uuid, int, uint, digits(n), hex, hex(n), word, slug, locale, date, unix, unix_ms, ip, ulid, email, base64url, base64url(n), alnum, alnum(n), raw_ip, encoded"
        );
        assert_eq!(help("uid"), "did you mean `uuid`?");
        assert_eq!(help("encode"), "did you mean `encoded`?");
        assert_eq!(help("digits"), "write `digits(n)` with n from 1 to 1024");
        assert_eq!(help("hex(0)"), "write `hex(n)` with n from 1 to 1024");
        assert_eq!(help("alnum(1025)"), "write `alnum(n)` with n from 1 to 1024");
        assert_eq!(help("e-mail"), "did you mean `email`?");
    }
}
