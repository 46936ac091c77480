//! What an audit looks for: schemas, compiled into what is asked of every key.

mod chains;
mod definition;
mod indexes;
mod joins;
mod look;
mod references;
mod relations;
mod space;

pub(crate) use chains::PlannedChain;
pub(crate) use definition::{Planned, slots};
pub(crate) use indexes::{Kept, Located, PlannedAgreement, Said, Statement};
pub use look::DeclaredKey;
pub(crate) use references::{Names, PlannedReference, Spelling};
pub(crate) use relations::{End, PlannedRelation, Step};
use space::{Beginning, REST};
pub(crate) use space::{Class, Space};

use crate::hash::Salt;
use crate::mask::{Mask, Masked};
use crate::outline::{Outline, OutlinedDefinition, OutlinedForeign, OutlinedParam, OutlinedSchema};
use crate::report::{ChecklistItem, Severity};
use crate::settings;
use keyward_pattern::{Glob, Keyspace, Part, Template, is_plan_marker};
use keyward_rules::{Live, Rule, checklist};
use keyward_schema::model::{Date, Definition, Schema, Severity as RuleSeverity};
use std::ops::Range;

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
    /// What is counted
    pub(crate) outline: Outline,
    pub(crate) spaces: Vec<Space>,
    /// The definitions of all schemas, one schema after the other
    pub(crate) definitions: Vec<Planned>,
    pub(crate) references: Vec<PlannedReference>,
    /// Indexes that must agree with what they find
    pub(crate) agreements: Vec<PlannedAgreement>,
    /// References from a definition to itself
    pub(crate) chains: Vec<PlannedChain>,
    /// Relations that must agree
    pub(crate) relations: Vec<PlannedRelation>,
    /// The pool of keys that belong to no definition, where references are looked up in it
    pub(crate) others: Option<usize>,
    pub(crate) mask: Mask,
    pub(crate) top: usize,
    /// Whether only some definitions are looked at
    pub(crate) selective: bool,
    /// The beginnings of keys that are looked at, where the prefix is bound
    bound: Vec<Glob>,
}

/// A schema to check keys against.
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
    /// ones are distinguished when they are merged
    pub schemas: String,
    /// Which keys are looked at, if the prefixes of the subjects are bound, in words: other keys are left out
    pub narrowed: Option<String>,
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
            narrowed: None,
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
    /// Prepares to check keys against these schemas; without one, keys are grouped by the definitions that are drafted of
    /// them.
    pub fn new(subjects: Vec<Subject>, options: &Options<'_>) -> Self {
        let (mut schemas, mut keyspaces, mut paths) = (Vec::new(), Vec::new(), Vec::new());
        for Subject { schema, keyspace, path } in subjects {
            schemas.push(schema);
            keyspaces.push(keyspace);
            paths.push(path);
        }
        let selective = options.select.is_some();
        let unknown_key =
            schemas.iter().map(|schema| Live::new(schema).severity(Rule::UnknownKey, None));
        let mut audit = Audit {
            outline: Outline {
                salt: Some(options.salt.fingerprint()),
                texts: Some(options.schemas.clone()),
                revealed: options.show_keys,
                selective,
                narrowed: options.narrowed.clone(),
                unknown_key: strictest(unknown_key).filter(|_| !selective),
                ..Outline::default()
            },
            mask: Mask::new(options.salt, options.show_keys, &schemas),
            schemas,
            keyspaces,
            spaces: Vec::new(),
            definitions: Vec::new(),
            references: Vec::new(),
            agreements: Vec::new(),
            chains: Vec::new(),
            relations: Vec::new(),
            others: None,
            top: options.top,
            selective,
            bound: Vec::new(),
        };
        if options.narrowed.is_some() {
            audit.bound = audit.keyspaces.iter().map(beginning).collect();
        }
        for (number, path) in paths.into_iter().enumerate() {
            audit.add_schema(number, path, options);
        }
        references::plan(&mut audit);
        joins::plan(&mut audit);
        indexes::plan(&mut audit);
        chains::plan(&mut audit);
        relations::plan(&mut audit);
        for (planned, outlined) in audit.definitions.iter_mut().zip(&audit.outline.definitions) {
            planned.decide_show(&outlined.slots);
        }
        audit
    }

    fn add_schema(&mut self, number: usize, path: Option<String>, options: &Options<'_>) {
        let (schema, keyspace) = (&self.schemas[number], &self.keyspaces[number]);
        let live = Live::new(schema);
        let first = self.definitions.len();
        let (space, old_names) = Space::new(schema, keyspace, &live, first, options.today);
        let foreign = schema.foreign.iter().map(|foreign| OutlinedForeign {
            name: foreign.name.value.clone(),
            glob: foreign.glob.value.clone(),
        });
        self.outline.schemas.push(OutlinedSchema {
            name: schema.keyspace.name.value.clone(),
            path,
            prefix: schema.keyspace.prefix.as_ref().map_or_else(String::new, |it| shape(&it.value)),
            separator: *schema.keyspace.separator,
            old_names,
            foreign: if self.selective { Vec::new() } else { foreign.collect() },
            settings: if self.selective { Vec::new() } else { settings::wanted(schema) },
            server_setting: Severity::of(live.severity(Rule::ServerSetting, None)),
            memory: schema.alerts.memory.as_ref().map(|alert| alert.value),
            memory_high: Severity::of(live.severity(Rule::MemoryHigh, None)),
            checklist: checklist(schema, &keyward_rules::Options { today: options.today })
                .iter()
                .map(|tick| ChecklistItem::new(&schema.keyspace.name, tick))
                .collect(),
        });
        let prefix = schema.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
        for (definition, compiled) in schema.keys.iter().zip(keyspace.definitions()) {
            let selected = options.select.is_none_or(|takes| takes(definition));
            let derived = schema.derived(definition);
            let planned =
                Planned::new(number, definition, &compiled, keyspace.prefix(), selected, derived);
            let params = compiled
                .params()
                .iter()
                .map(|(name, param)| OutlinedParam { name: name.clone(), ty: param.to_string() });
            let params: Vec<_> = params.collect();
            self.outline.definitions.push(OutlinedDefinition {
                schema: number,
                selected,
                name: definition.name.value.clone(),
                pattern: format!("{prefix}{}", definition.pattern.as_str()),
                group: definition.group.as_ref().map(|group| group.value.clone()),
                owner: definition.owner.as_ref().map(|owner| owner.value.clone()),
                contact: schema.contact(definition).map(str::to_owned),
                lifecycle: definition.lifecycle.name().to_owned(),
                key_type: definition.key_type.as_ref().map(|it| it.name().to_owned()),
                ttl: definition.ttl.as_ref().map(|ttl| ttl.to_string()),
                slots: planned.slots(definition, &params, &live),
                params,
            });
            self.definitions.push(planned);
        }
        self.spaces.push(space);
    }

    /// Whether a key is no definition's own or derived key, no old name and nobody else's.
    pub fn is_unknown(&self, db: u64, key: &[u8]) -> bool {
        self.classify(db, key, &mut Vec::new()) == Class::Unknown
    }

    /// Whether a key is not looked at, because the prefix is bound and it has another.
    #[inline]
    pub(crate) fn leaves_out(&self, class: Class, key: &[u8]) -> bool {
        !self.bound.is_empty()
            && matches!(class, Class::Unknown | Class::Foreign { .. })
            && !self.bound.iter().any(|glob| glob.matches(key))
    }

    /// What a key is; where its parameters lie goes to `places`.
    #[inline]
    pub(crate) fn classify(&self, db: u64, key: &[u8], places: &mut Vec<Range<usize>>) -> Class {
        if self.spaces.is_empty() {
            return Class::Unknown;
        }
        let begins = Beginning::new(key);
        for space in &self.spaces {
            if space.may_begin_with(begins)
                && space.is_in(db)
                && let Some(id) = space.keyspace.locate(key, places)
            {
                return Class::Defined(space.first + id.index());
            }
        }
        self.classify_otherwise(db, key, places)
    }

    /// The same for keys that are not a definition's own.
    #[cold]
    fn classify_otherwise(&self, db: u64, key: &[u8], places: &mut Vec<Range<usize>>) -> Class {
        let spaces = || self.spaces.iter().enumerate().filter(|(_, space)| space.is_in(db));
        if key.contains(&b'~')
            && let Ok(text) = str::from_utf8(key)
        {
            if is_plan_marker(text) {
                return Class::Marker;
            }
            for (_, space) in spaces() {
                if let Some((owner, word)) = space.owners.find(text)
                    && let Some(id) = space.owners.definition(&space.keyspace, owner, word)
                {
                    let definition = space.first + id.index();
                    let word = self.definitions[definition].derived_word(word);
                    return Class::Derived { definition, word };
                }
            }
        }
        for (number, space) in spaces() {
            if let Some(rename) = space.old_name(key, places) {
                return Class::Old { space: number, rename };
            }
        }
        for (number, space) in spaces() {
            if let Some(foreign) =
                space.foreign.iter().position(|foreign| foreign.glob.matches(key))
            {
                return Class::Foreign { space: number, foreign };
            }
        }
        Class::Unknown
    }

    /// Where the values of a schema's prefix lie in a key that no definition has, and their names.
    pub(crate) fn prefix_values(&self, db: u64, key: &[u8]) -> Vec<(Range<usize>, &str)> {
        let mut places = Vec::new();
        let mut of = |space: &&Space| space.prefix.as_ref()?.locate(key, &mut places);
        let mut spaces = self.spaces.iter().filter(|space| space.is_in(db));
        let Some(space) = spaces.find(|space| of(space).is_some()) else { return Vec::new() };
        let names = space
            .prefix
            .iter()
            .flat_map(Keyspace::definitions)
            .flat_map(|it| it.params().iter().map(|(name, _)| name.as_str()));
        places.into_iter().zip(names).filter(|(_, name)| *name != REST).collect()
    }

    /// A key of a class, masked.
    pub(crate) fn masked(&self, class: Class, key: &[u8], places: &[Range<usize>]) -> Masked {
        match class {
            Class::Defined(number) => {
                self.mask.defined(key, places, &self.definitions[number].masked)
            }
            Class::Old { space, rename } => {
                self.mask.defined(key, places, &self.spaces[space].renames[rename].params)
            }
            _ => self.mask.unknown(key),
        }
    }

    /// The schema and the definition of a planned one.
    pub(crate) fn declared(&self, planned: &Planned) -> (&Schema, &Definition) {
        let schema = &self.schemas[planned.schema];
        (schema, &schema.keys[planned.number])
    }
}

/// A prefix, its parameters without their types.
fn shape(prefix: &Template) -> String {
    let part = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        Part::Hole(hole) => format!("{{{}}}", hole.name),
    };
    prefix.parts().iter().map(part).collect()
}

/// What the keys of a keyspace begin with.
fn beginning(keyspace: &Keyspace) -> Glob {
    let mut glob = String::new();
    for part in keyspace.prefix().map_or(&[][..], Template::parts) {
        match part {
            Part::Literal(text) => {
                for char in text.chars() {
                    if matches!(char, '*' | '?' | '[' | ']' | '\\') {
                        glob.push('\\');
                    }
                    glob.push(char);
                }
            }
            Part::Hole(_) => glob.push('*'),
        }
    }
    glob.push('*');
    Glob::new(&glob)
}

/// How serious something is that several schemas judge.
fn strictest(severities: impl Iterator<Item = RuleSeverity>) -> Option<Severity> {
    severities.max().and_then(Severity::of)
}
