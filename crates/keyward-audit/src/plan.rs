//! What an audit looks for: schemas, compiled into what is asked of every key.

mod definition;
mod joins;
mod space;

pub(crate) use definition::{Limit, Planned, Slot, Stored, slots};
pub(crate) use joins::{Joins, PlannedJoin, Side};
use space::Beginning;
pub(crate) use space::{Class, Space};

use crate::hash::Salt;
use crate::mask::Mask;
use crate::report::{SchemaInfo, Severity};
use keyward_pattern::{Keyspace, Part, Template};
use keyward_rules::Live;
use keyward_schema::model::{Date, Definition, Schema, Severity as RuleSeverity};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// What an audit looks for, shared by all who observe.
///
/// ```
/// use std::sync::Arc;
/// use keyward_audit::{Audit, Options, Subject};
///
/// let schema = keyward_schema::read(r#"
/// version = 1
/// [keyspace]
/// name = "shop"
/// [keys.cart]
/// pattern = "cart:{user_id:uint}"
/// ttl = "7d"
/// "#).schema.expect("a schema without errors");
/// let audit = Arc::new(Audit::new(vec![Subject::new(schema)], &Options::default()));
/// # let writer = keyward_rdb::writer::Writer::new(Vec::new(), keyward_rdb::Version::redis(10))?;
/// # let bytes = writer.finish()?;
/// let report = audit.read(keyward_rdb::Reader::from_slice(&bytes), "dump.rdb", Default::default())?;
/// assert_eq!(report.summary.keys, 0);
/// assert_eq!(report.definitions[0].name, "cart");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Audit {
    pub(crate) schemas: Vec<Schema>,
    pub(crate) keyspaces: Vec<Keyspace>,
    pub(crate) infos: Vec<SchemaInfo>,
    pub(crate) spaces: Vec<Space>,
    /// The definitions of all schemas, one schema after the other
    pub(crate) definitions: Vec<Planned>,
    pub(crate) joins: Vec<PlannedJoin>,
    pub(crate) mask: Mask,
    pub(crate) top: usize,
    /// Tells the texts of the schemas apart
    pub(crate) fingerprint: String,
    /// How serious an unknown key is
    pub(crate) unknown_key: Option<Severity>,
    /// Whether only some definitions are looked at
    pub(crate) selective: bool,
    /// The words of all patterns
    pub(crate) vocabulary: Arc<HashSet<String>>,
}

/// A schema to hold keys against.
#[derive(Debug)]
pub struct Subject {
    /// The schema
    pub schema: Schema,
    /// Its keyspace, perhaps with the prefix bound
    pub keyspace: Keyspace,
    /// Where it was read from
    pub path: Option<String>,
}

impl Subject {
    /// A schema as it is.
    pub fn new(schema: Schema) -> Self {
        Subject { keyspace: schema.compiled.clone(), schema, path: None }
    }
}

/// How an audit is done.
pub struct Options<'s> {
    /// The secret by which keys are masked
    pub salt: Salt,
    /// Whether keys are shown as they are
    pub show_keys: bool,
    /// How many of the biggest keys are listed
    pub top: usize,
    /// The day on which migrations are judged
    pub today: Date,
    /// [`fingerprint`](crate::fingerprint) of the texts of all schemas, so that reports against different
    /// ones are told apart when they are merged
    pub schemas: String,
    /// Which definitions are looked at, if not all
    pub select: Option<&'s dyn Fn(&Definition) -> bool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            salt: Salt::random(),
            show_keys: false,
            top: 10,
            today: Date { year: 1970, month: 1, day: 1 },
            schemas: String::new(),
            select: None,
        }
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("show_keys", &self.show_keys).finish_non_exhaustive()
    }
}

impl Audit {
    /// Prepares to hold keys against these schemas; without one, keys are grouped by what they look
    /// like.
    pub fn new(subjects: Vec<Subject>, options: &Options<'_>) -> Self {
        let (mut schemas, mut keyspaces, mut infos) = (Vec::new(), Vec::new(), Vec::new());
        for Subject { schema, keyspace, path } in subjects {
            infos.push(SchemaInfo {
                name: schema.keyspace.name.value.clone(),
                path,
                definitions: schema.keys.len() as u64,
            });
            schemas.push(schema);
            keyspaces.push(keyspace);
        }
        let mut audit = Audit {
            vocabulary: Arc::new(schemas.iter().flat_map(words).collect()),
            unknown_key: strictest(
                schemas.iter().map(|schema| Live::new(schema).severity("unknown-key", None)),
            ),
            schemas,
            keyspaces,
            infos,
            spaces: Vec::new(),
            definitions: Vec::new(),
            joins: Vec::new(),
            mask: Mask { salt: options.salt, reveal: options.show_keys },
            top: options.top,
            fingerprint: options.schemas.clone(),
            selective: options.select.is_some(),
        };
        for (number, (schema, keyspace)) in audit.schemas.iter().zip(&audit.keyspaces).enumerate() {
            let live = Live::new(schema);
            let first = audit.definitions.len();
            audit.spaces.push(Space::new(schema, keyspace, &live, first, options.today));
            for (definition, compiled) in schema.keys.iter().zip(keyspace.definitions()) {
                let selected = options.select.is_none_or(|takes| takes(definition));
                audit
                    .definitions
                    .push(Planned::new(number, definition, &compiled, &live, selected));
            }
        }
        Joins::plan(&mut audit);
        audit
    }

    /// Whether keys are held against a schema at all.
    pub(crate) fn has_schema(&self) -> bool {
        !self.schemas.is_empty()
    }

    /// What a key is; where its parameters lie goes to `places`.
    #[inline]
    pub(crate) fn classify(&self, key: &[u8], places: &mut Vec<Range<usize>>) -> Class {
        if self.spaces.is_empty() {
            return Class::Unknown;
        }
        let begins = Beginning::new(key);
        for space in &self.spaces {
            if space.may_begin_with(begins)
                && let Some(id) = space.keyspace.locate(key, places)
            {
                return Class::Defined(space.first + id.index());
            }
        }
        self.classify_otherwise(key, places)
    }

    /// The same for keys that are no definition's own.
    #[cold]
    fn classify_otherwise(&self, key: &[u8], places: &mut Vec<Range<usize>>) -> Class {
        if key.contains(&b'~')
            && let Ok(text) = str::from_utf8(key)
        {
            for space in &self.spaces {
                if let Some((owner, word)) = space.owners.find(text)
                    && let Some(id) = space.owners.definition(&space.keyspace, owner, word)
                {
                    return Class::Derived(space.first + id.index());
                }
            }
        }
        for (number, space) in self.spaces.iter().enumerate() {
            if let Some(rename) = space.old_name(key, places) {
                return Class::Old { space: number, rename };
            }
        }
        for (number, space) in self.spaces.iter().enumerate() {
            if let Some(foreign) =
                space.foreign.iter().position(|foreign| foreign.glob.matches(key))
            {
                return Class::Foreign { space: number, foreign };
            }
        }
        Class::Unknown
    }

    /// The schema and the definition of a planned one.
    pub(crate) fn declared(&self, planned: &Planned) -> (&Schema, &Definition) {
        let schema = &self.schemas[planned.schema];
        (schema, &schema.keys[planned.number])
    }
}

/// The words of a schema's patterns, former ones included.
fn words(schema: &Schema) -> Vec<String> {
    let prefix = schema.keyspace.prefix.iter().map(|prefix| &prefix.value);
    let own = schema.keys.iter().map(|definition| &definition.pattern.value);
    let old = schema.migrations.iter().flat_map(|it| &it.renames).map(|rename| &rename.from.value);
    let parts = prefix.chain(own).chain(old).flat_map(Template::parts);
    let texts = parts.filter_map(|part| match part {
        Part::Literal(text) => Some(text),
        Part::Hole(_) => None,
    });
    texts
        .flat_map(|text| text.split(*schema.keyspace.separator))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A rule's severity in a report; `None` where it is off.
pub(crate) fn weight(severity: RuleSeverity) -> Option<Severity> {
    match severity {
        RuleSeverity::Error => Some(Severity::Error),
        RuleSeverity::Warn => Some(Severity::Warning),
        RuleSeverity::Off => None,
    }
}

/// How serious something is that several schemas judge.
fn strictest(severities: impl Iterator<Item = RuleSeverity>) -> Option<Severity> {
    severities.max().and_then(weight)
}
