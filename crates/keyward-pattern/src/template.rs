//! The pattern grammar: text → literals and holes.
//!
//! ```text
//! pattern = { literal | hole }
//! literal = any character but braces and control characters, "{{" for "{", "}}" for "}",
//!           "{0x" two hex digits for each byte "}"
//! hole    = "{" [ "#" ] name [ "..." ] [ ":" type ] "}"
//! name    = letter or "_", then letters, digits or "_"
//! type    = uuid | digits(3) | …                                  see `Type::named`
//! ```

use crate::Type;
use std::fmt;
use std::ops::Range;

/// The longest pattern that is read.
const MAX_LEN: usize = 4096;

/// A pattern's text, parsed: literals and holes, nothing resolved yet.
///
/// ```
/// use keyward_pattern::Template;
///
/// let template = Template::parse("cart:{#user_id:uint}:items")?;
/// let hole = template.holes().next().unwrap();
/// assert_eq!(hole.name, "user_id");
/// assert!(hole.tag);
/// # Ok::<(), keyward_pattern::GrammarError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
    /// Where literal bytes are written in hex
    bytes: Vec<Range<usize>>,
}

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Part of every key; never empty, and no two follow each other
    Literal(String),
    /// A parameter
    Hole(Hole),
}

/// `{name}`, `{name:type}`, `{#name}` or `{name...}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// The parameter's name
    pub name: String,
    /// Its type, where it is given in place
    pub ty: Option<Type>,
    /// `{#name}`: the braces are part of the key and make a Redis Cluster hash tag
    pub tag: bool,
    /// `{name...}`: takes any number of segments, to the end of the key where nothing follows
    pub rest: bool,
    /// Where it is in the pattern's text, braces included
    pub span: Range<usize>,
}

impl Template {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, GrammarError> {
        if text.len() > MAX_LEN {
            return Err(GrammarError::at(0..text.len(), GrammarErrorKind::TooLong));
        }
        let mut parts = Vec::new();
        let mut bytes = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        while let Some(char) = text[at..].chars().next() {
            let next = at + char.len_utf8();
            let doubled = text[next..].starts_with(char);
            match char {
                '{' | '}' if doubled => {
                    literal.push(char);
                    at = next + 1;
                }
                '{' if text[next..].starts_with("0x") => {
                    let (written, span) = read_bytes(text, at)?;
                    literal.push_str(&written);
                    at = span.end;
                    bytes.push(span);
                }
                '{' => {
                    let hole = read_hole(text, at)?;
                    if !literal.is_empty() {
                        parts.push(Part::Literal(std::mem::take(&mut literal)));
                    }
                    at = hole.span.end;
                    parts.push(Part::Hole(hole));
                }
                '}' => return Err(GrammarError::at(at..next, GrammarErrorKind::UnopenedBrace)),
                _ if char.is_control() => {
                    return Err(GrammarError::at(at..next, GrammarErrorKind::Control(char)));
                }
                _ => {
                    literal.push(char);
                    at = next;
                }
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        if parts.is_empty() {
            return Err(GrammarError::at(0..0, GrammarErrorKind::Empty));
        }
        Ok(Template { text: text.to_owned(), parts, bytes })
    }

    /// A pattern without parameters, whatever its text.
    pub(crate) fn literal(text: &str) -> Self {
        let parts = vec![Part::Literal(text.to_owned())];
        Template { text: text.replace('{', "{{").replace('}', "}}"), parts, bytes: Vec::new() }
    }

    /// The text it was read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where `{0x…}` stands in the text: literal bytes in hex, for names of other software.
    pub fn bytes(&self) -> &[Range<usize>] {
        &self.bytes
    }

    /// Literals and holes, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The holes, in order.
    pub fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole(hole) => Some(hole),
            Part::Literal(_) => None,
        })
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for Template {
    type Err = GrammarError;

    fn from_str(text: &str) -> Result<Self, GrammarError> {
        Template::parse(text)
    }
}

/// Reads `{0x…}`: the characters, and where it stands.
pub(crate) fn read_bytes(text: &str, start: usize) -> Result<(String, Range<usize>), GrammarError> {
    const MARK: usize = "{0x".len();
    let Some(len) = text[start..].find('}') else {
        return Err(GrammarError::at(start..text.len(), GrammarErrorKind::UnclosedBrace));
    };
    let span = start..start + len + 1;
    let error = |kind| Err(GrammarError::at(span.clone(), kind));
    let digits: Vec<u32> =
        text[start + MARK..span.end - 1].chars().map_while(|char| char.to_digit(16)).collect();
    if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() != len - MARK {
        return error(GrammarErrorKind::Bytes);
    }
    let bytes = digits.chunks(2).filter_map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok());
    match String::from_utf8(bytes.collect()) {
        Ok(characters) => Ok((characters, span)),
        Err(_) => error(GrammarErrorKind::NotText),
    }
}

fn read_hole(text: &str, start: usize) -> Result<Hole, GrammarError> {
    let Some(len) = text[start + 1..].find(['{', '}']) else {
        return Err(GrammarError::at(start..text.len(), GrammarErrorKind::UnclosedBrace));
    };
    let end = start + 1 + len;
    if text.as_bytes()[end] == b'{' {
        return Err(GrammarError::at(start..end, GrammarErrorKind::UnclosedBrace));
    }
    let span = start..end + 1;
    let mut inner = &text[start + 1..end];
    let tag = inner.starts_with('#');
    if tag {
        inner = &inner[1..];
    }
    let (mut name, ty) = match inner.split_once(':') {
        Some((name, ty)) => (name, Some(ty)),
        None => (inner, None),
    };
    let rest = name.ends_with("...");
    if rest {
        name = &name[..name.len() - 3];
    }
    let name_start = start + 1 + usize::from(tag);
    if !is_name(name) {
        let name_span = name_start..(name_start + name.len()).max(name_start + 1).min(span.end);
        return Err(GrammarError::at(name_span, GrammarErrorKind::Name(name.to_owned())));
    }
    let ty = match ty {
        None => None,
        Some(ty) if rest && ty != "raw" => {
            return Err(GrammarError::at(span, GrammarErrorKind::TypedRest));
        }
        Some(ty) => match Type::named(ty) {
            Ok(ty) => Some(ty),
            Err(unknown) => {
                let from = end - ty.len();
                return Err(GrammarError::at(
                    from..end.max(from + 1),
                    GrammarErrorKind::Type(unknown),
                ));
            }
        },
    };
    Ok(Hole { name: name.to_owned(), ty, tag, rest, span })
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Why a text is not a pattern, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrammarError {
    /// The place, in bytes of the pattern's text
    pub span: Range<usize>,
    /// What is wrong there
    pub kind: GrammarErrorKind,
}

/// What is wrong with a pattern's text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrammarErrorKind {
    /// No text at all
    Empty,
    /// Longer than 4,096 bytes
    TooLong,
    /// `{` without its `}`
    UnclosedBrace,
    /// `}` without its `{`
    UnopenedBrace,
    /// A control character
    Control(char),
    /// Not a parameter's name
    Name(String),
    /// Not a parameter's type
    Type(crate::UnknownType),
    /// `{name...:type}`
    TypedRest,
    /// `{0x…}` with something else than two hex digits a byte
    Bytes,
    /// `{0x…}` with bytes that are no characters
    NotText,
}

impl GrammarError {
    fn at(span: Range<usize>, kind: GrammarErrorKind) -> Self {
        GrammarError { span, kind }
    }

    /// What to do next, where it can be said.
    pub fn help(&self) -> Option<String> {
        let text = match &self.kind {
            GrammarErrorKind::UnclosedBrace => {
                "close it with `}`, or write `{{` for a literal brace"
            }
            GrammarErrorKind::UnopenedBrace => "write `}}` for a literal brace",
            GrammarErrorKind::Name(_) => {
                "a name starts with a letter or `_` and continues with letters, digits or `_`"
            }
            GrammarErrorKind::TypedRest => {
                "write `{name...}`: it is text that may contain the separator"
            }
            GrammarErrorKind::Control(char) => {
                return Some(format!("in an old name, write `{}`", in_hex(*char)));
            }
            GrammarErrorKind::Bytes => "write two hex digits for each byte: `{0x0616}`",
            GrammarErrorKind::NotText => {
                "keys that are not UTF-8 cannot be renamed: describe them by a glob in `[foreign]`"
            }
            GrammarErrorKind::Type(unknown) => return unknown.help(),
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// A character as `{0x…}`.
fn in_hex(char: char) -> String {
    let digits = |text: String, byte| format!("{text}{byte:02x}");
    format!("{{0x{}}}", char.to_string().bytes().fold(String::new(), digits))
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            GrammarErrorKind::Empty => f.write_str("the pattern is empty"),
            GrammarErrorKind::TooLong => write!(f, "the pattern is longer than {MAX_LEN} bytes"),
            GrammarErrorKind::UnclosedBrace => f.write_str("this brace is never closed"),
            GrammarErrorKind::UnopenedBrace => f.write_str("this brace was never opened"),
            GrammarErrorKind::Control(char) => {
                write!(f, "a pattern cannot contain the control character U+{:04X}", *char as u32)
            }
            GrammarErrorKind::Name(name) if name.is_empty() => {
                f.write_str("a parameter needs a name")
            }
            GrammarErrorKind::Name(name) => write!(f, "`{name}` is not a parameter name"),
            GrammarErrorKind::Type(unknown) => unknown.fmt(f),
            GrammarErrorKind::TypedRest => {
                f.write_str("a parameter that takes several segments cannot have a type")
            }
            GrammarErrorKind::Bytes => f.write_str("these are not bytes in hex"),
            GrammarErrorKind::NotText => f.write_str("these bytes are not UTF-8"),
        }
    }
}

impl std::error::Error for GrammarError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<String> {
        let template = Template::parse(text).unwrap();
        let show = |part: &Part| match part {
            Part::Literal(text) => format!("{text:?}"),
            Part::Hole(hole) => format!(
                "{}{}{}{}",
                if hole.tag { "#" } else { "" },
                hole.name,
                if hole.rest { "..." } else { "" },
                hole.ty.as_ref().map_or(String::new(), |ty| format!(":{ty}")),
            ),
        };
        template.parts().iter().map(show).collect()
    }

    fn error(text: &str) -> (String, Range<usize>) {
        let error = Template::parse(text).unwrap_err();
        (error.to_string(), error.span)
    }

    #[test]
    fn literals_and_holes_alternate() {
        assert_eq!(
            parts("folder:{folder_id}:listing"),
            ["\"folder:\"", "folder_id", "\":listing\""]
        );
        assert_eq!(parts("v2_{symbol:word}"), ["\"v2_\"", "symbol:word"]);
        assert_eq!(parts("cart:{#user_id:digits(3)}"), ["\"cart:\"", "#user_id:digits(3)"]);
        assert_eq!(parts("lock:{resource...}"), ["\"lock:\"", "resource..."]);
        assert_eq!(parts("bull:{queue...}:wait"), ["\"bull:\"", "queue...", "\":wait\""]);
        assert_eq!(parts("{#queue...}:wait"), ["#queue...", "\":wait\""]);
        assert_eq!(parts("bo:symbols::active"), ["\"bo:symbols::active\""]);
    }

    #[test]
    fn doubled_braces_are_literal() {
        assert_eq!(parts("a{{b}}c"), ["\"a{b}c\""]);
        assert_eq!(parts("{{{x}}}"), ["\"{\"", "x", "\"}\""]);
    }

    #[test]
    fn bytes_are_literals_in_hex() {
        assert_eq!(
            parts("celery{0x0616}{n:digits(1)}"),
            ["\"celery\\u{6}\\u{16}\"", "n:digits(1)"]
        );
        assert_eq!(parts("a{0x7b}{0xc3bc}{0x7D}"), ["\"a{ü}\""]);
        assert_eq!(parts("{q...:raw}"), ["q...:raw"]);
        assert_eq!(Template::parse("a{0x06}:{0x07}").unwrap().bytes(), [1..7, 8..14]);
        for wrong in ["a{0x}", "a{0x6}", "a{0x0g}", "a{0x06:uint}"] {
            assert_eq!(error(wrong), ("these are not bytes in hex".into(), 1..wrong.len()));
        }
        assert_eq!(error("a{0xac}"), ("these bytes are not UTF-8".into(), 1..7));
        assert_eq!(error("a{0x06"), ("this brace is never closed".into(), 1..6));
        let help = Template::parse("a\u{85}").unwrap_err().help().unwrap();
        assert_eq!(help, "in an old name, write `{0xc285}`");
    }

    #[test]
    fn errors_point_at_their_place() {
        assert_eq!(error(""), ("the pattern is empty".into(), 0..0));
        assert_eq!(error("a:{b"), ("this brace is never closed".into(), 2..4));
        assert_eq!(error("a:b}"), ("this brace was never opened".into(), 3..4));
        assert_eq!(error("a:{}"), ("a parameter needs a name".into(), 3..4));
        assert_eq!(error("a:{1b}"), ("`1b` is not a parameter name".into(), 3..5));
        assert_eq!(error("a:{b:uid}").1, 5..8);
        assert_eq!(
            error("{b...:uuid}").0,
            "a parameter that takes several segments cannot have a type"
        );
        assert_eq!(error("a\n").1, 1..2);
    }
}
