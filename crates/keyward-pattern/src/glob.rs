//! Globs as `SCAN MATCH` reads them: `*`, `?`, `[a-z]`, `[^a]` and `\` before a literal; in schemas also `\xHH`.

/// A glob over keys.
///
/// ```
/// use keyward_pattern::Glob;
///
/// let glob = Glob::new("bull:[a-m]*:wait");
/// assert!(glob.matches(b"bull:mail:wait"));
/// assert!(!glob.matches(b"bull:video:wait"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// Any bytes, or none
    Any,
    /// One byte out of a set
    One(Box<[bool; 256]>),
}

impl Glob {
    /// Reads a glob. Every text is one.
    pub fn new(glob: &str) -> Self {
        Glob::read(glob.as_bytes(), &|_| None)
    }

    /// Reads a glob as schemas write them, where `\xHH` is a byte: names of other software need not be text.
    ///
    /// ```
    /// use keyward_pattern::Glob;
    ///
    /// let glob = Glob::with_bytes(r"\xac\xed\x00\x05t*");
    /// assert!(glob.matches(b"\xac\xed\x00\x05t\x00\x02ab"));
    /// ```
    pub fn with_bytes(glob: &str) -> Self {
        Glob::read(glob.as_bytes(), &hex_byte)
    }

    /// `byte` reads what follows a `\`, if that is a byte in another notation.
    fn read(glob: &[u8], byte: &Escape) -> Self {
        let mut rest = glob;
        let mut tokens = Vec::new();
        while let [first, tail @ ..] = rest {
            rest = tail;
            let token = match (first, tail) {
                (b'*', _) if tokens.last() == Some(&Token::Any) => continue,
                (b'*', _) => Token::Any,
                (b'?', _) => Token::One(Box::new([true; 256])),
                (b'[', _) => {
                    let (set, behind) = class(tail, byte);
                    rest = behind;
                    Token::One(set)
                }
                (b'\\', [escaped, behind @ ..]) => {
                    let (read, behind) = byte(tail).unwrap_or((*escaped, behind));
                    rest = behind;
                    literal(read)
                }
                (byte, _) => literal(*byte),
            };
            tokens.push(token);
        }
        Glob { tokens }
    }

    /// Whether the glob matches the whole key. In time proportional to both lengths at worst: on a
    /// mismatch only the last `*` is tried further on.
    pub fn matches(&self, key: &[u8]) -> bool {
        let (mut token, mut at) = (0, 0);
        let mut last_any: Option<(usize, usize)> = None;
        while at < key.len() {
            match self.tokens.get(token) {
                Some(Token::Any) => {
                    last_any = Some((token, at));
                    token += 1;
                    continue;
                }
                Some(Token::One(set)) if set[usize::from(key[at])] => {
                    token += 1;
                    at += 1;
                    continue;
                }
                _ => {}
            }
            let Some((any, from)) = last_any else { return false };
            last_any = Some((any, from + 1));
            (token, at) = (any + 1, from + 1);
        }
        self.tokens[token..].iter().all(|token| *token == Token::Any)
    }

    #[cfg(feature = "prove")]
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }
}

/// Writes text so that a glob takes it literally.
///
/// ```
/// let mut glob = String::new();
/// keyward_pattern::escape_glob("v[2]", &mut glob);
/// assert_eq!(glob, r"v\[2\]");
/// ```
pub fn escape_glob(text: &str, out: &mut String) {
    for char in text.chars() {
        if matches!(char, '*' | '?' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(char);
    }
}

/// Reads what follows a `\`: a byte, and what is behind it.
type Escape = dyn Fn(&[u8]) -> Option<(u8, &[u8])>;

/// The byte of `xHH`.
fn hex_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'x', high, low, behind @ ..] = text else { return None };
    let digit = |byte: u8| (byte as char).to_digit(16);
    Some((u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()?, behind))
}

fn literal(byte: u8) -> Token {
    let mut set = Box::new([false; 256]);
    set[usize::from(byte)] = true;
    Token::One(set)
}

/// `[abc]`, `[a-z]`, `[^a]`; without its `]` it continues to the end, as in the server.
fn class<'t>(mut text: &'t [u8], byte: &Escape) -> (Box<[bool; 256]>, &'t [u8]) {
    let negated = text.first() == Some(&b'^');
    if negated {
        text = &text[1..];
    }
    let mut set = Box::new([false; 256]);
    loop {
        match text {
            [] => break,
            [b']', rest @ ..] => {
                text = rest;
                break;
            }
            [b'\\', escaped, rest @ ..] => {
                let (read, behind) = byte(&text[1..]).unwrap_or((*escaped, rest));
                set[usize::from(read)] = true;
                text = behind;
            }
            [first, b'-', last, rest @ ..] => {
                set[usize::from(*first.min(last))..=usize::from(*first.max(last))].fill(true);
                text = rest;
            }
            [byte, rest @ ..] => {
                set[usize::from(*byte)] = true;
                text = rest;
            }
        }
    }
    if negated {
        set.iter_mut().for_each(|member| *member = !*member);
    }
    (set, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_the_server_does() {
        for (glob, good, bad) in [
            ("a*b*c", "axxbyyc", "axxbyy"),
            ("a?c", "abc", "ac"),
            ("[a-c]x", "bx", "dx"),
            ("[^a-c]x", "dx", "bx"),
            ("[c-a]x", "bx", "dx"),
            ("\\*", "*", "a"),
            ("[\\]]", "]", "\\"),
            ("*a*a*a*b", "aaaab", "aaaa"),
        ] {
            assert!(Glob::new(glob).matches(good.as_bytes()), "{glob} {good}");
            assert!(!Glob::new(glob).matches(bad.as_bytes()), "{glob} {bad}");
        }
        assert!(Glob::new("*").matches(b""));
        assert!(!Glob::new("a[").matches(b"a["));
        assert!(Glob::new("").matches(b""));
        assert!(!Glob::new("").matches(b"a"));
    }

    #[test]
    fn bytes_are_written_in_hex_in_schemas_only() {
        let glob = Glob::with_bytes(r"\x06\x16[\x00\xff]\\x41\x4\*");
        assert!(glob.matches(b"\x06\x16\xff\\x41x4*"));
        assert!(glob.matches(b"\x06\x16\x00\\x41x4*"));
        assert!(!glob.matches(b"\x06\x16x\\x41x4*"));
        assert!(Glob::new(r"\x41").matches(b"x41") && !Glob::new(r"\x41").matches(b"A"));
        assert!(Glob::with_bytes("{bull}:*").matches(b"{bull}:wait"));
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let glob = "a*".repeat(1_000) + "b";
        assert!(!Glob::new(&glob).matches("a".repeat(20_000).as_bytes()));
    }
}
