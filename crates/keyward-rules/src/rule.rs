//! What a rule is, and how a rule's file declares itself.

use crate::breaking::Change;
use crate::context::Context;
use crate::finding::Findings;
use crate::live::{Case, Wording};
use crate::rules::Rule;
use keyward_schema::model::{RuleSet, Severity};
#[cfg(feature = "exchange")]
use serde::de::Error as _;
#[cfg(feature = "exchange")]
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Makes [`Rule`] out of the registry: a line for each rule, with its variant and its file.
macro_rules! registry {
    ($($variant:ident: $file:ident,)+) => {
        /// A rule: one check, identified by its variant and named after its file.
        ///
        /// ```
        /// use keyward_rules::Rule;
        ///
        /// assert_eq!(Rule::UnknownKey.name(), "unknown-key");
        /// assert_eq!(Rule::parse("unknown-key"), Some(Rule::UnknownKey));
        /// assert_eq!(Rule::parse("unknown-kye"), None);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(
                #[doc = concat!("Declared in `rules/", stringify!($file), ".rs`")]
                $variant,
            )+
        }

        impl Rule {
            /// Every rule, by name.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant),+];

            pub(crate) const fn declaration(self) -> &'static $crate::rule::Declaration {
                match self {
                    $(Rule::$variant => &$file::RULE,)+
                }
            }
        }
    };
}
pub(crate) use registry;

/// What a rule's file declares.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) name: &'static str,
    pub(crate) category: Category,
    pub(crate) severity: Severity,
    pub(crate) set: Option<RuleSet>,
    pub(crate) tier: Option<Tier>,
    pub(crate) options: &'static [RuleOption],
    pub(crate) comment: &'static str,
    pub(crate) judges: Judges,
}

pub(crate) type Check = for<'a> fn(&Context<'a>, &mut Findings<'a>);
pub(crate) type Weigh = for<'a> fn(&Change<'a>, &mut Findings<'a>);
pub(crate) type Compare = for<'a> fn(&Context<'a>, &Context<'a>, &mut Findings<'a>);

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Judges {
    /// A schema: finds what is wrong with it
    Schema(Check),
    /// A schema, and two that share servers: finds what is wrong between them
    Schemas(Check, Compare),
    /// Two versions of a schema: finds what the change breaks
    Change(Weigh),
    /// Keys, which an audit counts: says what is wrong with them
    Keys(fn(&Case<'_>) -> Wording),
}

impl Rule {
    /// The rule of that name.
    pub fn parse(name: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.name() == name)
    }

    /// The rule whose name is nearest to a name that no rule has.
    pub fn nearest(name: &str) -> Option<Rule> {
        keyward_pattern::nearest(name, Rule::ALL.iter().map(|rule| rule.name()))
            .and_then(Rule::parse)
    }

    /// Its name in kebab case, which is the name of its file.
    pub const fn name(self) -> &'static str {
        self.declaration().name
    }

    /// What it is about.
    pub fn category(self) -> Category {
        self.declaration().category
    }

    /// How serious its findings are, unless `[rules]` says otherwise.
    pub fn severity(self) -> Severity {
        self.declaration().severity
    }

    /// The smallest rule set it belongs to; `None` if it applies only where `[rules]` names it.
    pub fn set(self) -> Option<RuleSet> {
        self.declaration().set
    }

    /// What `[rules]` may say about it beyond the severity.
    pub fn options(self) -> &'static [RuleOption] {
        self.declaration().options
    }

    /// What its findings break, if it compares two versions of a schema.
    pub fn tier(self) -> Option<Tier> {
        self.declaration().tier
    }

    /// The word for its rule set: `opt-in` if it is in none.
    pub fn set_name(self) -> &'static str {
        self.set().map_or("opt-in", RuleSet::name)
    }

    /// Whether it also compares schemas that are checked together.
    pub(crate) fn compares(self) -> Option<Compare> {
        match self.declaration().judges {
            Judges::Schemas(_, compare) => Some(compare),
            _ => None,
        }
    }

    /// Whether it compares two versions of a schema: `breaking` applies it, `check` does not.
    pub fn is_breaking(self) -> bool {
        matches!(self.declaration().judges, Judges::Change(_))
    }

    /// Whether it looks at keys: `audit` judges by it, `check` does not.
    pub fn is_live(self) -> bool {
        matches!(self.declaration().judges, Judges::Keys(_))
    }

    /// The rules whose findings `keyward plan fix` repairs, in the order of its rows.
    pub const REPAIRED: [Rule; 8] = [
        Rule::UnknownKey,
        Rule::TtlMissing,
        Rule::TtlTooLong,
        Rule::OversizedCollection,
        Rule::OldName,
        Rule::StaleIndex,
        Rule::DanglingReference,
        Rule::IndexContradiction,
    ];

    /// Its documentation in Markdown: what it does, why that is bad, an example, what to use
    /// instead.
    pub fn documentation(self) -> String {
        self.declaration().documentation()
    }

    /// What it does, in one sentence.
    pub fn summary(self) -> String {
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

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        Rule::parse(name).ok_or_else(|| UnknownRule(name.to_owned()))
    }
}

/// Written as its name.
#[cfg(feature = "exchange")]
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(feature = "exchange")]
impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        name.parse().map_err(D::Error::custom)
    }
}

/// A name that no rule has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRule(String);

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no rule `{}`", self.0)
    }
}

impl std::error::Error for UnknownRule {}

impl Declaration {
    pub(crate) fn documentation(&self) -> String {
        let lines = self.comment.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
        let mut text = lines.collect::<Vec<_>>().join("\n");
        text.push('\n');
        text
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
    /// A later version of the schema finds the keys, compiles and runs as the one before
    Breaking,
}

impl Category {
    /// All, in the order of the enum.
    pub const ALL: [Category; 6] = [
        Category::Soundness,
        Category::Lifetime,
        Category::Shape,
        Category::Change,
        Category::Care,
        Category::Breaking,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Category::Soundness => "soundness",
            Category::Lifetime => "lifetime",
            Category::Shape => "shape",
            Category::Change => "change",
            Category::Care => "care",
            Category::Breaking => "breaking",
        }
    }
}

/// What a breaking change breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Keys on the server are no longer found, or are found as something else
    Data,
    /// Generated names, types and commands
    Code,
    /// TTLs, memory, slots, ACLs
    Ops,
}

impl Tier {
    /// All, the one that hurts most first.
    pub const ALL: [Tier; 3] = [Tier::Data, Tier::Code, Tier::Ops];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Data => "data",
            Tier::Code => "code",
            Tier::Ops => "ops",
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
/// rule set, which an `opt_in` rule has not. The file has a function `check` beside it; if the rule is
/// `live`, a function `word` instead; if it compares schemas (`across`), a function `compare` as well. A rule that
/// is `breaking` compares two versions: it has a tier in place of category and rule set, and applies unless `[rules]`
/// turns it off.
macro_rules! rule {
    (
        $(#[doc = $line:literal])+
        breaking $tier:ident, $severity:ident
    ) => {
        $crate::rule::rule!(
            @rule [$($line)+] Breaking, $severity, Some(Minimal), [], Change(check), $tier
        );
    };
    (
        $(#[doc = $line:literal])+
        live $category:ident, $severity:ident, $set:ident
    ) => {
        $crate::rule::rule!(@rule [$($line)+] $category, $severity, Some($set), [], Keys(word));
    };
    (
        $(#[doc = $line:literal])+
        across $category:ident, $severity:ident, $set:ident
    ) => {
        $crate::rule::rule!(
            @rule [$($line)+] $category, $severity, Some($set), [], Schemas(check, compare)
        );
    };
    (
        $(#[doc = $line:literal])+
        opt_in $category:ident, $severity:ident
    ) => {
        $crate::rule::rule!(@rule [$($line)+] $category, $severity, None, [], Schema(check));
    };
    (
        $(#[doc = $line:literal])+
        $category:ident, $severity:ident, $set:ident $(, options = [$($option:ident),+])?
    ) => {
        $crate::rule::rule!(
            @rule [$($line)+] $category, $severity, Some($set), [$($($option),+)?], Schema(check)
        );
    };
    (
        @rule [$($line:literal)+]
        $category:ident, $severity:ident, $in:ident $(($set:ident))?, [$($option:ident),*],
        $judges:ident($($by:ident),+) $(, $tier:ident)?
    ) => {
        $(#[doc = $line])+
        pub(crate) const RULE: $crate::rule::Declaration = $crate::rule::Declaration {
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
            set: $in $((keyward_schema::model::RuleSet::$set))?,
            tier: $crate::rule::tier!($($tier)?),
            options: &[$($crate::rule::RuleOption::$option),*],
            comment: concat!($($line, "\n"),+),
            judges: $crate::rule::Judges::$judges($($by),+),
        };
    };
}
pub(crate) use rule;

/// The tier that a rule names, if it names one.
macro_rules! tier {
    () => {
        None
    };
    ($tier:ident) => {
        Some($crate::rule::Tier::$tier)
    };
}
pub(crate) use tier;

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
