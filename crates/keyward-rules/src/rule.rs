//! What a rule is, and how a rule's file declares itself.

use crate::context::Context;
use crate::finding::Findings;
use crate::live::{Case, Wording};
use keyward_schema::model::{RuleSet, Severity};

/// One check, with its documentation.
#[derive(Debug)]
pub struct Rule {
    /// Its name in kebab case, which is the name of its file
    pub name: &'static str,
    /// What it is about
    pub category: Category,
    /// How serious its findings are, unless `[rules]` says otherwise
    pub severity: Severity,
    /// The smallest rule set it belongs to
    pub set: RuleSet,
    /// What `[rules]` may say about it beyond the severity
    pub options: &'static [RuleOption],
    pub(crate) comment: &'static str,
    pub(crate) judges: Judges,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Judges {
    /// A schema: finds what is wrong with it
    Schema(for<'a> fn(&Context<'a>, &mut Findings<'a>)),
    /// Keys, which an audit counts: says what is wrong with them
    Keys(fn(&Case<'_>) -> Wording),
}

impl Rule {
    /// Its documentation in Markdown: what it does, why that is bad, an example, what to use
    /// instead.
    pub fn documentation(&self) -> String {
        let lines = self.comment.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
        let mut text = lines.collect::<Vec<_>>().join("\n");
        text.push('\n');
        text
    }

    /// What it does, in one sentence.
    pub fn summary(&self) -> String {
        let documentation = self.documentation();
        let paragraph = documentation
            .lines()
            .skip_while(|line| line.is_empty() || line.starts_with('#'))
            .take_while(|line| !line.is_empty());
        let paragraph = paragraph.collect::<Vec<_>>().join(" ");
        match paragraph.split_once(". ") {
            Some((sentence, _)) => format!("{sentence}."),
            None => paragraph,
        }
    }
}

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Every key belongs to one definition and reads back as it was built
    Soundness,
    /// Keys live as long as they should, and the server lets them
    Lifetime,
    /// Patterns and types look as the team agreed
    Shape,
    /// Events, migrations and roles do what they promise
    Change,
    /// Someone knows what a key is and who answers for it
    Care,
}

impl Category {
    /// All, in the order of the enum.
    pub const ALL: [Category; 5] = [
        Category::Soundness,
        Category::Lifetime,
        Category::Shape,
        Category::Change,
        Category::Care,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Category::Soundness => "soundness",
            Category::Lifetime => "lifetime",
            Category::Shape => "shape",
            Category::Change => "change",
            Category::Care => "care",
        }
    }
}

/// Something that `[rules.<name>]` may say beyond the severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleOption {
    /// `words`: words the rule looks for
    Words,
    /// `accept`: words the rule leaves alone
    Accept,
    /// `max`: a bound in time
    Max,
}

impl RuleOption {
    /// The field in `[rules.<name>]`.
    pub fn name(self) -> &'static str {
        match self {
            RuleOption::Words => "words",
            RuleOption::Accept => "accept",
            RuleOption::Max => "max",
        }
    }
}

/// Declares the rule of a file: its documentation as a doc comment, then category, severity and
/// rule set. The file has a function `check` beside it; if the rule is `live`, a function `word`.
macro_rules! rule {
    (
        $(#[doc = $line:literal])+
        live $category:ident, $severity:ident, $set:ident
    ) => {
        $crate::rule::rule!(@rule [$($line)+] $category, $severity, $set, [], Keys(word));
    };
    (
        $(#[doc = $line:literal])+
        $category:ident, $severity:ident, $set:ident $(, options = [$($option:ident),+])?
    ) => {
        $crate::rule::rule!(
            @rule [$($line)+] $category, $severity, $set, [$($($option),+)?], Schema(check)
        );
    };
    (
        @rule [$($line:literal)+]
        $category:ident, $severity:ident, $set:ident, [$($option:ident),*], $judges:ident($by:ident)
    ) => {
        $(#[doc = $line])+
        pub(crate) const RULE: $crate::rule::Rule = $crate::rule::Rule {
            name: {
                const PATH: &str = module_path!();
                const NAME: [u8; $crate::rule::name_len(PATH)] = $crate::rule::kebab_case(PATH);
                match std::str::from_utf8(&NAME) {
                    Ok(name) => name,
                    Err(_) => panic!("a rule's file has an ASCII name"),
                }
            },
            category: $crate::rule::Category::$category,
            severity: keyward_schema::model::Severity::$severity,
            set: keyward_schema::model::RuleSet::$set,
            options: &[$($crate::rule::RuleOption::$option),*],
            comment: concat!($($line, "\n"),+),
            judges: $crate::rule::Judges::$judges($by),
        };
    };
}
pub(crate) use rule;

/// The length of a module path's last part.
pub(crate) const fn name_len(path: &str) -> usize {
    let bytes = path.as_bytes();
    let mut len = 0;
    while len < bytes.len() && bytes[bytes.len() - 1 - len] != b':' {
        len += 1;
    }
    len
}

/// The last part of a module path, `LEN` bytes long, in kebab case.
pub(crate) const fn kebab_case<const LEN: usize>(path: &str) -> [u8; LEN] {
    let bytes = path.as_bytes();
    let mut name = [0; LEN];
    let mut at = 0;
    while at < LEN {
        let byte = bytes[bytes.len() - LEN + at];
        name[at] = if byte == b'_' { b'-' } else { byte };
        at += 1;
    }
    name
}
