//! The pattern grammar: text → literals and holes.
//!
//! ```text
//! pattern = { literal | hole }
//! literal = any character but braces and control characters, "{{" for "{", "}}" for "}"
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
    /// `{name...}`: takes the rest of the key
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
                '{' => {
                    let hole = read_hole(text, at)?;
                    if let Some(before) = last_hole(&parts)
                        && before.rest
                    {
                        return Err(GrammarError::at(
                            before.span.clone(),
                            GrammarErrorKind::RestNotLast,
                        ));
                    }
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
            if let Some(before) = last_hole(&parts)
                && before.rest
            {
                return Err(GrammarError::at(before.span.clone(), GrammarErrorKind::RestNotLast));
            }
            parts.push(Part::Literal(literal));
        }
        if parts.is_empty() {
            return Err(GrammarError::at(0..0, GrammarErrorKind::Empty));
        }
        Ok(Template { text: text.to_owned(), parts })
    }

    /// A pattern without parameters, whatever its text.
    pub(crate) fn literal(text: &str) -> Self {
        let parts = vec![Part::Literal(text.to_owned())];
        Template { text: text.replace('{', "{{").replace('}', "}}"), parts }
    }

    /// The text it was read from.
    pub fn as_str(&self) -> &str {
        &self.text
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

fn last_hole(parts: &[Part]) -> Option<&Hole> {
    match parts.last() {
        Some(Part::Hole(hole)) => Some(hole),
        _ => None,
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
    if tag && rest {
        return Err(GrammarError::at(span, GrammarErrorKind::TaggedRest));
    }
    let ty = match ty {
        None => None,
        Some(_) if rest => return Err(GrammarError::at(span, GrammarErrorKind::TypedRest)),
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
    /// `{name...}` with something after it
    RestNotLast,
    /// `{#name...}`
    TaggedRest,
    /// `{name...:type}`
    TypedRest,
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
            GrammarErrorKind::RestNotLast => {
                "leave out the `...`, or move the parameter to the end"
            }
            GrammarErrorKind::TaggedRest | GrammarErrorKind::TypedRest => {
                "write `{name...}`: it is text that may contain the separator"
            }
            GrammarErrorKind::Type(unknown) => return unknown.help(),
            _ => return None,
        };
        Some(text.to_owned())
    }
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
            GrammarErrorKind::RestNotLast => {
                f.write_str("only the last parameter can take the rest of the key")
            }
            GrammarErrorKind::TaggedRest => {
                f.write_str("a hash tag cannot take the rest of the key")
            }
            GrammarErrorKind::TypedRest => {
                f.write_str("a parameter that takes the rest of the key cannot have a type")
            }
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
        assert_eq!(parts("bo:symbols::active"), ["\"bo:symbols::active\""]);
    }

    #[test]
    fn doubled_braces_are_literal() {
        assert_eq!(parts("a{{b}}c"), ["\"a{b}c\""]);
        assert_eq!(parts("{{{x}}}"), ["\"{\"", "x", "\"}\""]);
    }

    #[test]
    fn errors_point_at_their_place() {
        assert_eq!(error(""), ("the pattern is empty".into(), 0..0));
        assert_eq!(error("a:{b"), ("this brace is never closed".into(), 2..4));
        assert_eq!(error("a:b}"), ("this brace was never opened".into(), 3..4));
        assert_eq!(error("a:{}"), ("a parameter needs a name".into(), 3..4));
        assert_eq!(error("a:{1b}"), ("`1b` is not a parameter name".into(), 3..5));
        assert_eq!(error("a:{b:uid}").1, 5..8);
        assert_eq!(error("{b...}:c").0, "only the last parameter can take the rest of the key");
        assert_eq!(error("{b...}{c}").0, "only the last parameter can take the rest of the key");
        assert_eq!(error("{#b...}").0, "a hash tag cannot take the rest of the key");
        assert_eq!(error("a\n").1, 1..2);
    }
}
