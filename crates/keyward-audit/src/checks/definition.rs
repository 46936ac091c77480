//! One definition: what its keys must be, and what is said where they are not.

use super::indexes::Said;
use crate::mask::MaskedParam;
use crate::outline::{OutlinedParam, Slot};
use crate::report::{Severity, Unit};
use keyward_fact::{Duration, KeyType, Show, thousands};
use keyward_pattern::{Definition as Compiled, Template};
use keyward_rules::judge::{Expected, LOOKED_AT};
use keyward_rules::{Live, RAW_IPV6, Rule, judge};
use keyward_schema::model::{Definition, Derived, Role, Ttl, Value};

/// A definition, ready to be asked about every key.
#[derive(Debug)]
pub(crate) struct Planned {
    /// The number of its schema
    pub(crate) schema: usize,
    /// Its number in the schema
    pub(crate) number: usize,
    /// Whether it was asked for
    pub(crate) selected: bool,
    pub(crate) params: Vec<PlannedParam>,
    /// How many of them are the prefix's, which come first
    pub(crate) prefix_params: usize,
    /// How its parameters are masked
    pub(crate) masked: Vec<MaskedParam>,
    /// The type that its keys must have; `None` where any may
    pub(crate) key_type: Option<KeyType>,
    pub(crate) limit: Limit,
    pub(crate) max_len: Option<u64>,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) fields: Vec<PlannedField>,
    /// Whether other fields are looked at
    pub(crate) closed: bool,
    /// What a string, or each item of a list, must be
    pub(crate) value: Expected,
    pub(crate) member: Expected,
    pub(crate) score: Option<Score>,
    /// The reference that the values or members are
    pub(crate) refers: Option<usize>,
    /// The pool of its keys
    pub(crate) pool: Option<usize>,
    /// What its values or members say about an index
    pub(crate) said: Vec<Said>,
    /// Which joins look for entities of it that have a former name too
    pub(crate) renamed: Vec<usize>,
    /// The keys that the store writes beside its own
    pub(crate) derived: Vec<PlannedDerived>,
    /// Whether its keys are compared with others, or refer to them
    pub(crate) joins: bool,
    /// How much of a value is to be shown
    pub(crate) show: Show,
}

/// A key that the store writes beside a definition's own.
#[derive(Debug)]
pub(crate) struct PlannedDerived {
    word: &'static str,
    /// How long it may live
    longest: Option<Duration>,
}

impl PlannedDerived {
    pub(crate) fn is_leaked(&self, remaining: Option<u64>) -> bool {
        judge::leaked_derived_key(self.longest.map(Duration::as_millis), remaining)
    }
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct PlannedParam {
    pub(crate) name: String,
    /// The pool of its values
    pub(crate) pool: Option<usize>,
    /// The reference that its values are
    pub(crate) refers: Option<usize>,
}

/// A field of a hash, or of a stream's entries.
#[derive(Debug)]
pub(crate) struct PlannedField {
    pub(crate) name: Box<[u8]>,
    pub(crate) required: bool,
    pub(crate) value: Expected,
    /// How long the field itself may live
    pub(crate) limit: Limit,
    /// The reference that its values are
    pub(crate) refers: Option<usize>,
    /// What it says about an index
    pub(crate) said: Vec<Said>,
}

/// What a score must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Score {
    Whole,
    NotNegative,
}

impl Score {
    pub(crate) fn takes(self, score: f64) -> bool {
        score.fract() == 0.0 && (self == Score::Whole || score >= 0.0)
    }
}

/// How long keys may live, in milliseconds.
#[derive(Debug)]
pub(crate) enum Limit {
    /// The schema does not say
    Unsaid,
    /// They must not expire
    Never,
    /// They must expire, at any time
    Sometime,
    /// They must expire within this
    Within(u64),
    /// The same by the word in a parameter
    By { param: usize, words: Vec<(Box<[u8]>, u64)>, longest: u64 },
}

/// The numbers of what may be wrong.
pub(crate) mod slots {
    use keyward_rules::Rule;

    pub(crate) const WRONG_TYPE: usize = 0;
    pub(crate) const TTL_MISSING: usize = 1;
    pub(crate) const TTL_TOO_LONG: usize = 2;
    pub(crate) const TTL_UNEXPECTED: usize = 3;
    pub(crate) const UNKNOWN_FIELD: usize = 4;
    pub(crate) const OVERSIZED_COLLECTION: usize = 5;
    pub(crate) const OVERSIZED_VALUE: usize = 6;
    pub(crate) const VALUE: usize = 7;
    pub(crate) const MEMBER: usize = 8;
    pub(crate) const SCORE: usize = 9;
    const FIELDS: usize = 10;
    const OF_FIELD: usize = 5;

    /// A rule that a key's lifetime breaks.
    pub(crate) const fn lifetime(rule: Rule) -> usize {
        match rule {
            Rule::TtlMissing => TTL_MISSING,
            Rule::TtlUnexpected => TTL_UNEXPECTED,
            _ => TTL_TOO_LONG,
        }
    }

    pub(crate) const fn missing(field: usize) -> usize {
        FIELDS + OF_FIELD * field
    }

    pub(crate) const fn invalid(field: usize) -> usize {
        missing(field) + 1
    }

    /// A rule that a field's lifetime breaks.
    pub(crate) const fn field_lifetime(field: usize, rule: Rule) -> usize {
        missing(field) + 1 + lifetime(rule)
    }

    /// A parameter that is not of its type.
    pub(crate) const fn param(fields: usize, param: usize) -> usize {
        missing(fields) + 2 * param
    }

    /// A parameter that is a raw IPv6 address.
    pub(crate) const fn raw_ipv6(fields: usize, param: usize) -> usize {
        missing(fields) + 2 * param + 1
    }
}

/// What a counter, a quota or a rate limit must be, in whatever way its value is declared. A number that the
/// schema declares itself may be negative.
fn counted(definition: &Definition) -> Option<Expected> {
    let (role, value) = (definition.role.as_ref()?, definition.value.as_ref()?);
    let may_fall = match &role.value {
        Role::Counter(counter) => counter.negative,
        Role::Quota(_) | Role::RateLimit(_) => false,
        _ => return None,
    };
    let negative = match value.value {
        Value::Int => may_fall || value.span != role.span,
        Value::Uint => false,
        _ => return None,
    };
    Some(Expected::Count { negative })
}

/// Whether the fraction of a score says when it was reached.
fn has_ties(definition: &Definition) -> bool {
    matches!(definition.role.as_deref(), Some(Role::Ranking(ranking)) if ranking.ties.is_some())
}

impl Planned {
    pub(super) fn new(
        schema: usize,
        definition: &Definition,
        compiled: &Compiled<'_>,
        prefix: Option<&Template>,
        selected: bool,
        derived: Vec<Derived>,
    ) -> Self {
        let in_prefix =
            |name: &str| prefix.is_some_and(|it| it.holes().any(|hole| hole.name == name));
        let prefix_params =
            (compiled.params().iter()).take_while(|(name, _)| in_prefix(name)).count();
        let names = || compiled.params().iter().map(|(name, _)| name.as_str());
        let param = |name: &str| PlannedParam { name: name.to_owned(), pool: None, refers: None };
        let params = names().map(param);
        let fields = definition.fields.iter().map(|field| PlannedField {
            name: field.name.as_bytes().into(),
            required: !field.optional,
            value: Expected::new(&field.value),
            limit: Limit::of_field(field.ttl.as_deref()),
            refers: None,
            said: Vec::new(),
        });
        let expected = |value: Option<&Value>| value.map_or(Expected::ANYTHING, Expected::new);
        let key_type = definition.key_type.as_ref().map(|it| &it.value);
        let has_fields = matches!(key_type, Some(KeyType::Hash | KeyType::Stream));
        // Who removes a key that is renamed across slots leaves its lease, so that nobody moves it back.
        let is_split = derived.contains(&Derived::Version);
        let longest = |it: Derived| match it {
            Derived::Lease if is_split => Derived::Version.longest(definition),
            it => it.longest(definition),
        };
        Planned {
            schema,
            number: compiled.id().index(),
            selected,
            params: params.collect(),
            prefix_params,
            masked: (compiled.params().iter())
                .map(|(name, param)| MaskedParam::new(&definition.params, name, &param.ty))
                .collect(),
            key_type: key_type.cloned(),
            limit: Limit::new(definition, names()),
            max_len: definition.max_len.as_ref().map(|bound| bound.value),
            max_bytes: definition.max_bytes.as_ref().map(|bound| bound.bytes()),
            fields: if has_fields { fields.collect() } else { Vec::new() },
            closed: has_fields && !definition.open && !definition.fields.is_empty(),
            value: counted(definition).unwrap_or_else(|| {
                expected(definition.value.as_deref().or(definition.others.as_deref()))
            }),
            member: expected(definition.member.as_deref()),
            // With ties decided, a score has a fraction.
            score: definition.score.as_ref().filter(|_| !has_ties(definition)).and_then(|score| {
                match score.value {
                    Value::Int => Some(Score::Whole),
                    Value::Uint | Value::Unix | Value::UnixMs => Some(Score::NotNegative),
                    _ => None,
                }
            }),
            refers: None,
            said: Vec::new(),
            pool: None,
            renamed: Vec::new(),
            derived: (derived.into_iter())
                .map(|it| PlannedDerived { word: it.word(), longest: longest(it) })
                .collect(),
            joins: false,
            show: Show::NOTHING,
        }
    }

    /// Says how much of a value must be shown, once it is known what is asked of it.
    pub(super) fn decide_show(&mut self, slots: &[Slot]) {
        let mut params = self.params.iter();
        self.joins = params.any(|it| it.pool.is_some() || it.refers.is_some())
            || self.pool.is_some()
            || !self.renamed.is_empty();
        let on = |slot: usize| slots[slot].severity.is_some();
        let fields = self.fields.iter().enumerate().any(|(number, field)| {
            on(slots::missing(number)) && field.required
                || on(slots::field_lifetime(number, Rule::TtlUnexpected)) && self.is_hash()
                || on(slots::invalid(number)) && field.value.asks()
        });
        let wanted = fields
            || self.closed && on(slots::UNKNOWN_FIELD)
            || self.value.asks() && on(slots::VALUE)
            || self.member.asks() && on(slots::MEMBER)
            || self.score.is_some() && on(slots::SCORE)
            || self.stores_references();
        self.show = if wanted { Show::up_to(LOOKED_AT) } else { Show::NOTHING };
        // A server has to be asked, which is worth it where there should be some.
        if wanted && self.fields.iter().any(|field| !matches!(field.limit, Limit::Never)) {
            self.show = self.show.with_field_ttls();
        }
    }

    /// Which of its derived keys has this word.
    pub(super) fn derived_word(&self, word: &str) -> Option<usize> {
        self.derived.iter().position(|it| it.word == word)
    }

    /// The slot of derived keys that it does not have.
    pub(crate) fn stray_derived(&self) -> usize {
        slots::param(self.fields.len(), self.params.len())
    }

    /// The slot of derived keys that live too long.
    pub(crate) fn leaked_derived(&self, word: usize) -> usize {
        self.stray_derived() + 1 + word
    }

    /// Whether what it stores refers to other keys.
    pub(crate) fn stores_references(&self) -> bool {
        let in_fields = |field: &PlannedField| field.refers.is_some() || !field.said.is_empty();
        self.refers.is_some() || !self.said.is_empty() || self.fields.iter().any(in_fields)
    }

    pub(crate) fn is_hash(&self) -> bool {
        self.key_type == Some(KeyType::Hash)
    }

    /// What may be wrong, in the order of [`slots`].
    pub(super) fn slots(
        &self,
        definition: &Definition,
        params: &[OutlinedParam],
        live: &Live<'_>,
    ) -> Vec<Slot> {
        let slot = |rule: Rule, subject: Option<&str>, detail: Option<&str>| Slot {
            rule,
            severity: Severity::of(live.severity(rule, Some(definition))),
            subject: subject.map(str::to_owned),
            detail: detail.map(str::to_owned),
            unit: Unit::Keys,
            stored: false,
        };
        let unit = match self.key_type {
            Some(KeyType::Stream) => Unit::Entries,
            Some(KeyType::List) => Unit::Items,
            Some(KeyType::Set | KeyType::Zset) => Unit::Members,
            _ => Unit::Keys,
        };
        let stored = |rule: Rule, subject: Option<&str>, detail: Option<&str>| Slot {
            unit,
            stored: true,
            ..slot(rule, subject, detail)
        };
        let declared_type = definition.key_type.as_ref().map(|it| it.stored().to_owned());
        let ttl = definition.ttl.as_ref().map(|ttl| match ttl.longest() {
            Some(longest) => format!("at most {}", longest.human()),
            None => ttl.to_string(),
        });
        let longest = definition.ttl.as_ref().and_then(|ttl| ttl.longest()).map(Duration::human);
        let max_len = definition.max_len.as_ref().map(|bound| thousands(bound.value));
        let max_bytes = definition.max_bytes.as_ref().map(|bound| bound.human());
        let value_name = match self.key_type {
            Some(KeyType::List) => "an item",
            Some(KeyType::Hash) => "an undeclared field",
            _ => "the value",
        };
        let score =
            if self.score == Some(Score::Whole) { "a whole number" } else { "a time or a count" };
        let is_stream = self.key_type == Some(KeyType::Stream);
        let holders = is_stream.then_some("entries");
        let mut all = vec![
            slot(Rule::WrongType, None, declared_type.as_deref()),
            slot(Rule::TtlMissing, None, ttl.as_deref()),
            slot(Rule::TtlTooLong, None, longest.as_deref()),
            slot(Rule::TtlUnexpected, None, None),
            stored(Rule::UnknownField, None, holders),
            slot(Rule::OversizedCollection, None, max_len.as_deref()),
            slot(Rule::OversizedValue, None, max_bytes.as_deref()),
            stored(Rule::InvalidValue, Some(value_name), Some(&self.value.name())),
            stored(Rule::InvalidValue, Some("a member"), Some(&self.member.name())),
            stored(Rule::InvalidValue, Some("a score"), Some(score)),
        ];
        for (field, declared) in self.fields.iter().zip(&definition.fields) {
            let name = String::from_utf8_lossy(&field.name);
            let subject = format!("field `{name}`");
            let longest = declared.ttl.as_ref().and_then(|ttl| ttl.longest()).map(Duration::human);
            all.push(stored(Rule::MissingField, Some(&name), holders));
            all.push(stored(Rule::InvalidValue, Some(&subject), Some(&field.value.name())));
            all.push(stored(Rule::TtlMissing, Some(&subject), longest.as_deref()));
            all.push(stored(Rule::TtlTooLong, Some(&subject), longest.as_deref()));
            all.push(stored(Rule::TtlUnexpected, Some(&subject), None));
        }
        for param in params {
            all.push(slot(Rule::InvalidParam, Some(&param.name), Some(&param.ty)));
            all.push(slot(Rule::InvalidParam, Some(&param.name), Some(RAW_IPV6)));
        }
        all.push(slot(Rule::LeakedDerivedKey, None, None));
        for derived in &self.derived {
            let longest = derived.longest.map(Duration::human);
            let longest = longest.unwrap_or_else(|| "declared".to_owned());
            all.push(slot(Rule::LeakedDerivedKey, Some(derived.word), Some(&longest)));
        }
        all
    }
}

impl Limit {
    /// The rule that a lifetime breaks; `value` is asked for the value of a parameter.
    #[inline]
    pub(crate) fn broken<'v>(
        &self,
        left: Option<u64>,
        value: impl FnOnce(usize) -> &'v [u8],
    ) -> Option<Rule> {
        let bound = match self {
            Limit::Unsaid => return None,
            Limit::Never => {
                return judge::ttl_unexpected(true, left).then_some(Rule::TtlUnexpected);
            }
            Limit::Sometime => None,
            Limit::Within(bound) => Some(*bound),
            Limit::By { param, words, longest } => {
                let word = value(*param);
                let known = words.iter().find(|(known, _)| **known == *word);
                Some(known.map_or(*longest, |(_, bound)| *bound))
            }
        };
        if judge::ttl_missing(true, left) {
            return Some(Rule::TtlMissing);
        }
        let (bound, left) = (bound?, left?);
        judge::ttl_too_long(bound, left).then_some(Rule::TtlTooLong)
    }

    /// Whether what it limits must expire.
    #[inline]
    pub(crate) fn must_end(&self) -> bool {
        !matches!(self, Limit::Unsaid | Limit::Never)
    }

    /// A field has a TTL only where one is declared.
    fn of_field(ttl: Option<&Ttl>) -> Self {
        match ttl {
            None | Some(Ttl::None) => Limit::Never,
            Some(ttl) => ttl.longest().map_or(Limit::Sometime, |it| Limit::Within(it.as_millis())),
        }
    }

    fn new<'n>(definition: &Definition, mut params: impl Iterator<Item = &'n str>) -> Self {
        match definition.ttl.as_ref().map(|ttl| &ttl.value) {
            None => Limit::Unsaid,
            Some(Ttl::None) => Limit::Never,
            Some(Ttl::By { param, values }) => {
                let words: Vec<(Box<[u8]>, u64)> = values
                    .iter()
                    .map(|(word, ttl)| (word.as_bytes().into(), ttl.as_millis()))
                    .collect();
                let longest = words.iter().map(|(_, ttl)| *ttl).max().unwrap_or(u64::MAX);
                match params.position(|name| name == param) {
                    Some(param) => Limit::By { param, words, longest },
                    None => Limit::Within(longest),
                }
            }
            Some(ttl) => ttl.longest().map_or(Limit::Sometime, |it| Limit::Within(it.as_millis())),
        }
    }
}
