//! A schema that was drafted from a keyspace.

use crate::content::Kind;

/// A drafted schema, before it is written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Draft {
    /// The keyspace's separator
    pub separator: char,
    /// What all keys begin with
    pub prefix: String,
    /// The one database with keys, if it is not 0
    pub db: Option<u64>,
    /// How many keys were seen
    pub keys: u64,
    /// In the order in which they are written
    pub definitions: Vec<Definition>,
    /// Software that brings keys of its own
    pub foreign: Vec<Foreign>,
    /// Keys that no definition has
    pub rest: Rest,
    /// What could not be seen
    pub notes: Vec<String>,
    /// Whether example keys are written, with the values in them
    pub show_keys: bool,
}

/// A drafted definition.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Definition {
    /// Its id
    pub id: String,
    /// The pieces of its pattern, without the prefix
    pub pieces: Vec<PatternPiece>,
    /// Its parameters, in the order of the pattern
    pub params: Vec<Param>,
    /// Characters besides the keyspace's separator that no text of the pattern contains
    pub separators: String,
    /// How many keys it has, as far as the sample says
    pub keys: u64,
    /// The group it belongs to
    pub group: Option<String>,
    /// The type that TYPE answers, if it is the same for all keys
    pub key_type: Option<String>,
    /// How long its keys live
    pub ttl: Ttl,
    /// How long they live by the words of the parameter that decides, in milliseconds; empty if they are durations
    pub ttls: Vec<(String, u64)>,
    /// Whether each use begins the TTL again
    pub sliding: bool,
    /// Whether keys may be lost before their TTL ends, where the words say so
    pub lifecycle: Option<&'static str>,
    /// What its values hold
    pub holds: Holds,
    /// The most entries of a collection, with headroom
    pub max_len: Option<u64>,
    /// What else a reader should know
    pub notes: Vec<String>,
    /// Keys of it, as they are: they are written only where that is asked for
    pub(crate) examples: Vec<Box<[u8]>>,
}

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternPiece {
    /// Text as it stands in the key
    Text(String),
    /// The number of a parameter
    Param(usize),
}

/// A drafted parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Param {
    /// Its name
    pub name: String,
    /// What it holds
    pub ty: ParamType,
    /// How many different values the sample has
    pub values: usize,
}

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamType {
    /// A named type: `uuid`
    Named(String),
    /// One of these words
    Enum(Vec<String>),
    /// A named type without some characters
    Without(String, String),
    /// A regular expression
    Regex(String),
    /// One or more segments: at the end of a pattern the rest of the key
    Rest,
}

/// How long keys live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ttl {
    /// They never expire
    None,
    /// At most this long, in milliseconds
    Within(u64),
    /// Between two durations, in milliseconds
    Range(u64, u64),
    /// As long as the application says, at most this, in milliseconds
    Caller(u64),
    /// As long as the value of the parameter of this number says
    By(usize),
    /// Some expire, within so many milliseconds, and others do not: the share that does, in per cent
    Mixed {
        /// The longest
        within: u64,
        /// The share that expires
        percent: u8,
    },
    /// Longer than a schema can say
    Unknown,
}

/// What values hold.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Holds {
    /// What a string, or each item or member of a collection, holds
    pub value: Option<Held>,
    /// The fields of a hash or of a stream's entries
    pub fields: Vec<Field>,
    /// What fields hold that have no name of their own: `true`, or a type
    pub open: Option<Option<&'static str>>,
    /// What a sorted set is ordered by
    pub score: Option<&'static str>,
    /// The names at the top level of JSON values
    pub json: Vec<String>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// A value's type
    Type(&'static str),
    /// A value of another definition's parameter
    Ref(String, String),
    /// A whole key of one of these definitions
    Key(Vec<String>),
}

/// A field of a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name
    pub name: String,
    /// What it holds
    pub held: Held,
    /// Whether it may be missing
    pub optional: bool,
}

/// Software that brings keys of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Foreign {
    /// Its id
    pub id: String,
    /// What it is
    pub about: String,
    /// A glob over its keys
    pub glob: String,
    /// How many keys it has
    pub keys: u64,
}

/// Keys that no definition has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Rest {
    /// How many, as far as the sample says
    pub keys: u64,
    /// Why, with how many keys
    pub why: Vec<(String, u64)>,
}

impl Definition {
    /// The pattern as a schema has it, with types in place where `inline` says so.
    pub fn pattern(&self, inline: impl Fn(&Param) -> bool) -> String {
        let mut out = String::new();
        let mut at = 0;
        while at < self.pieces.len() {
            match &self.pieces[at] {
                PatternPiece::Text(text) => {
                    // `{` right before and `}` right behind a parameter are its hash tag.
                    let tagged = text.ends_with('{') && self.is_tagged(at + 1);
                    let text = if tagged { &text[..text.len() - 1] } else { text };
                    let skip = usize::from(at > 0 && self.is_tagged(at - 1));
                    out.push_str(&text[skip..].replace('{', "{{").replace('}', "}}"));
                }
                PatternPiece::Param(number) => {
                    let param = &self.params[*number];
                    let tag = if self.is_tagged(at) { "#" } else { "" };
                    let ty = match &param.ty {
                        ParamType::Named(name) if inline(param) => format!(":{name}"),
                        ParamType::Rest => "...".to_owned(),
                        _ => String::new(),
                    };
                    out.push_str(&format!("{{{tag}{}{ty}}}", param.name));
                }
            }
            at += 1;
        }
        out
    }

    /// The further separators that its pattern has, if they separate a text.
    pub(crate) fn separators(&self) -> String {
        let is_text = |param: &Param| match &param.ty {
            ParamType::Named(name) => name == "text",
            ParamType::Rest => true,
            _ => false,
        };
        if !self.params.iter().any(is_text) {
            return String::new();
        }
        let is_there = |mark: &char| {
            let has = |piece: &PatternPiece| match piece {
                PatternPiece::Text(text) => text.contains(*mark),
                PatternPiece::Param(_) => false,
            };
            self.pieces.iter().any(has)
        };
        self.separators.chars().filter(is_there).collect()
    }

    /// Whether a piece is a parameter between braces of the key.
    fn is_tagged(&self, at: usize) -> bool {
        let text = |at: usize| match self.pieces.get(at) {
            Some(PatternPiece::Text(text)) => Some(text),
            _ => None,
        };
        matches!(self.pieces.get(at), Some(PatternPiece::Param(_)))
            && at > 0
            && text(at - 1).is_some_and(|text| text.ends_with('{'))
            && text(at + 1).is_some_and(|text| text.starts_with('}'))
    }
}

impl Kind {
    /// The word in a schema.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Uint => "uint",
            Kind::Int => "int",
            Kind::Float => "float",
            Kind::Bool => "bool",
            Kind::Uuid => "uuid",
            Kind::Timestamp => "timestamp",
            Kind::Date => "date",
            Kind::Json => "json",
            Kind::Text => "text",
            Kind::Bytes => "bytes",
        }
    }

    /// What both are.
    pub(crate) fn and(self, other: Kind) -> Kind {
        let number = |kind| matches!(kind, Kind::Uint | Kind::Int | Kind::Float);
        match (self, other) {
            (one, two) if one == two => one,
            (Kind::Bytes, _) | (_, Kind::Bytes) => Kind::Bytes,
            (Kind::Uint | Kind::Int, Kind::Uint | Kind::Int) => Kind::Int,
            (one, two) if number(one) && number(two) => Kind::Float,
            _ => Kind::Text,
        }
    }
}
