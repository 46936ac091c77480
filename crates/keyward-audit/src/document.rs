//! A report, made once of all that was counted.

mod checklist;
mod facts;
mod snippet;
mod source;

use crate::counts::{Amount, Counted, DefinitionCounts, KeyCounts};
use crate::drafted::DraftedPattern;
use crate::findings;
use crate::leaves::Group as Leaves;
use crate::mask::Masked;
use crate::outline::{Outline, OutlinedDefinition};
use crate::report::{
    BytesKind, Count, Definition, Foreign, Group, OldName, Param, Report, SchemaInfo, Setting,
    Source, Summary, VERSION,
};
use crate::share::share;
use crate::sketch;
use keyward_fact::thousands;
use keyward_rules::judge;
use std::cmp::Reverse;

pub(crate) use snippet::is_sound;

/// The most groups that are listed.
const MOST_GROUPS: usize = 200;

const APPROXIMATE: &str = "there are too many patterns of undeclared keys to keep them apart: some were put \
                           together, and which ones depends on the order of the keys";
const SELECTIVE: &str = "only some definitions were asked for: all other keys are left out";
const SALTS: &str = "the reports were masked with different salts: whether the keys that keys refer to exist, and \
                     which entities have two names, was not checked";
const TEXTS: &str = "the schemas of the reports differ, though not in what is counted: where their rules differ, \
                     keys were judged by different ones";

impl Report {
    /// The report of what was counted. `created_at` is RFC 3339.
    pub(crate) fn new(mut counted: Counted, created_at: String) -> Report {
        counted.counts.resolve(&counted.outline);
        let Counted { outline, counts } = &counted;
        let mut source = Source::of(&counts.sources);
        let groups = counts.leaves.groups(outline.revealed);
        if outline.selective {
            source.note(SELECTIVE);
        }
        if outline.salt.is_none() {
            source.note(SALTS);
        }
        if outline.texts.is_none() {
            source.note(TEXTS);
        }
        if counts.leaves.is_approximate() {
            source.note(APPROXIMATE);
        }
        if counts.drafted.mixed() > 0 {
            source.note(mixed(counts.drafted.mixed()));
        }
        if counts.databases.len() > 1 {
            let names: Vec<String> = counts.databases.iter().map(u64::to_string).collect();
            source.note(format!("keys of the databases {} were read", names.join(", ")));
        }
        if let Some(narrowed) = &outline.narrowed {
            source.note(narrowed.as_str());
        }
        for (definition, counts) in outline.definitions.iter().zip(&counts.definitions) {
            source.notes.extend(counts.as_ref().and_then(|it| in_part(definition, it)));
        }
        let notes = source.notes.len();
        let joined = findings::joined(outline, counts, &mut source);
        let is_uncompared = source.notes.len() > notes;
        let maker = Maker { counted: &counted, known: source.bytes };
        let summary = maker.summary();
        let listed = maker.groups(&groups, &summary);
        let (unknown, groups_listed) =
            if outline.has_schema() { (listed, Vec::new()) } else { (Vec::new(), listed) };
        let mut found = findings::of_keys(outline, counts, source.bytes);
        found.extend(joined);
        found.extend(findings::unknown(outline, counts, &groups, source.bytes));
        found.extend(findings::of_server(outline, counts));
        findings::sort(outline, &mut found);
        let settings = maker.settings();
        let seen = checklist::Seen {
            counted: &counted,
            source: &source,
            settings: &settings,
            is_uncompared,
        };
        Report {
            version: VERSION,
            keyward: env!("CARGO_PKG_VERSION").to_owned(),
            created_at,
            schemas: maker.schemas(),
            definitions: maker.definitions(&summary),
            unknown,
            groups: groups_listed,
            foreign: maker.foreign(),
            checklist: seen.tick(&found),
            settings,
            findings: found,
            baseline: None,
            summary,
            source,
            counts: counted,
        }
    }
}

/// What to say of keys that were counted with others.
fn mixed(keys: u64) -> String {
    format!(
        "{} keys look alike although they belong to several patterns: they were counted with the pattern that most of them \
         have",
        thousands(keys)
    )
}

/// What to say of values that were read in part.
fn in_part(definition: &OutlinedDefinition, counts: &DefinitionCounts) -> Option<String> {
    let values = match counts.in_part {
        0 => return None,
        1 => "1 value".to_owned(),
        values => format!("{} values", thousands(values)),
    };
    Some(format!(
        "{values} of `{}` {} large, and at most {} elements of each were read: findings about elements are of \
         a sample, and `--via snapshot` reads all of them",
        definition.name,
        if counts.in_part == 1 { "is" } else { "are" },
        thousands(counts.most_in_part)
    ))
}

/// Makes the parts of a report.
struct Maker<'c> {
    counted: &'c Counted,
    known: BytesKind,
}

impl Maker<'_> {
    fn outline(&self) -> &Outline {
        &self.counted.outline
    }

    fn count(&self, Amount { keys, bytes }: Amount) -> Count {
        Count { keys, bytes: self.known.of(bytes) }
    }

    fn summary(&self) -> Summary {
        let (outline, counts) = (self.outline(), &self.counted.counts);
        let undeclared = Amount::sum([counts.leaves.amount(), counts.drafted.amount()]);
        let foreign = counts.foreign();
        let all = Amount::sum([counts.defined, foreign, undeclared]);
        let is_judged = counts.judged > 0 && outline.has_schema();
        Summary {
            keys: all.keys,
            bytes: self.known.of(all.bytes),
            key_lengths: counts.names.lengths(),
            compliance: is_judged.then(|| share(counts.compliant, counts.judged)),
            judged: counts.judged,
            compliant: counts.compliant,
            expired: counts.expired,
            foreign: self.count(foreign),
            unknown: self.count(if outline.has_schema() { undeclared } else { Amount::default() }),
            defined: self.count(counts.defined),
        }
    }

    fn schemas(&self) -> Vec<SchemaInfo> {
        let info = |(number, schema): (usize, &crate::outline::OutlinedSchema)| {
            let definitions = self.outline().definitions.iter();
            SchemaInfo {
                name: schema.name.clone(),
                path: schema.path.clone(),
                definitions: definitions.filter(|it| it.schema == number).count() as u64,
            }
        };
        self.outline().schemas.iter().enumerate().map(info).collect()
    }

    fn definitions(&self, summary: &Summary) -> Vec<Definition> {
        let numbered = self.outline().definitions.iter().enumerate();
        let selected = numbered.filter(|(_, definition)| definition.selected);
        selected.map(|(number, definition)| self.definition(number, definition, summary)).collect()
    }

    fn definition(
        &self,
        number: usize,
        definition: &OutlinedDefinition,
        summary: &Summary,
    ) -> Definition {
        let counts = self.counted.counts.definitions[number].as_deref();
        let keys = counts.map(|counts| counts.keys.clone()).unwrap_or_default();
        let param = |(at, param): (usize, &crate::outline::OutlinedParam)| Param {
            name: param.name.clone(),
            ty: param.ty.clone(),
            distinct: counts.map_or(0, |counts| counts.params[at].estimate()),
            error: sketch::ERROR,
        };
        Definition {
            schema: self.outline().schema_of(definition).to_owned(),
            name: definition.name.clone(),
            pattern: definition.pattern.clone(),
            group: definition.group.clone(),
            owner: definition.owner.clone(),
            lifecycle: definition.lifecycle.clone(),
            declared_type: definition.key_type.clone(),
            facts: facts::facts(&keys, definition.ttl.clone(), self.known, summary.bytes, |big| {
                big.clone()
            }),
            read_in_part: counts.map_or(0, |counts| counts.in_part),
            params: definition.params.iter().enumerate().map(param).collect(),
            old_names: self.old_names(number),
            derived: self.count(counts.map(|counts| counts.derived).unwrap_or_default()),
        }
    }

    fn old_names(&self, definition: usize) -> Vec<OldName> {
        let outlined = self.outline().schemas.iter().flat_map(|schema| &schema.old_names);
        let counted = self.counted.counts.old_names.iter().flatten();
        let own = outlined.zip(counted).filter(|(old, _)| old.definition == Some(definition));
        own.map(|(old, broken)| OldName {
            migration: old.migration.clone(),
            pattern: old.pattern.clone(),
            keys: broken.amount.keys,
            bytes: self.known.of(broken.amount.bytes),
        })
        .collect()
    }

    /// The groups of undeclared keys, those with the most bytes first.
    fn groups(&self, groups: &[Leaves], summary: &Summary) -> Vec<Group> {
        let group = |group: &Leaves| {
            let examples = group.leaf.examples.iter().map(|it| &it.key);
            let pattern = Masked::pattern(&group.segments);
            let looks = (pattern, group.segments.as_slice());
            Group {
                nearest: findings::nearest(self.outline(), group),
                ..self.group(looks, &group.leaf.keys, examples, summary)
            }
        };
        let drafted = |it: &DraftedPattern| {
            let examples = it.examples.iter().map(|it| &it.key);
            let looks = (it.shown.pattern(), it.shown.segments());
            Group { toml: it.shown.toml(), ..self.group(looks, &it.keys, examples, summary) }
        };
        let mut all: Vec<(Group, &[String])> =
            groups.iter().map(|it| (group(it), it.segments.as_slice())).collect();
        all.extend(self.counted.counts.drafted.patterns().map(|it| (drafted(it), &[][..])));
        all.sort_by(|(left, _), (right, _)| {
            let rank = |group: &Group| (Reverse(group.facts.bytes), Reverse(group.facts.keys));
            rank(left).cmp(&rank(right)).then_with(|| left.pattern.cmp(&right.pattern))
        });
        all.truncate(MOST_GROUPS);
        let complete = |(group, segments): (Group, &[String])| {
            let toml = group.toml.clone();
            let toml = toml.or_else(|| snippet::toml(self.outline(), segments, &group.facts));
            Group { toml, ..group }
        };
        all.into_iter().map(complete).collect()
    }

    /// Keys that look alike: their pattern, and its segments as they are laid over masked keys.
    fn group<'k>(
        &self,
        (pattern, segments): (Masked, &[String]),
        keys: &KeyCounts,
        examples: impl Iterator<Item = &'k Masked>,
        summary: &Summary,
    ) -> Group {
        let reveal = self.outline().revealed;
        let shown = |key: &Masked| if reveal { key.clone() } else { key.within(segments) };
        Group {
            pattern,
            toml: None,
            facts: facts::facts(keys, None, self.known, summary.bytes, shown),
            examples: examples.map(shown).collect(),
            nearest: None,
        }
    }

    fn foreign(&self) -> Vec<Foreign> {
        let outlined = self.outline().schemas.iter();
        let outlined = outlined.flat_map(|it| it.foreign.iter().map(move |foreign| (it, foreign)));
        let counted = self.counted.counts.foreign.iter().flatten();
        let foreign =
            |((schema, foreign), amount): ((&crate::outline::OutlinedSchema, _), &Amount)| {
                let foreign: &crate::outline::OutlinedForeign = foreign;
                Foreign {
                    schema: schema.name.clone(),
                    name: foreign.name.clone(),
                    glob: foreign.glob.clone(),
                    keys: amount.keys,
                    bytes: self.known.of(amount.bytes),
                }
            };
        outlined.zip(counted).map(foreign).collect()
    }

    fn settings(&self) -> Vec<Setting> {
        let setting = |it: &crate::counts::Got| {
            let schema = &self.outline().schemas[it.schema];
            let wanted = &schema.settings[it.setting];
            let why = match (&it.value, &it.unseen) {
                (Some(_), _) => &wanted.why,
                (None, Some(why)) => why,
                (None, None) => "this source does not show it",
            };
            Setting {
                schema: schema.name.clone(),
                name: wanted.name.clone(),
                want: wanted.want.clone(),
                ok: it
                    .value
                    .as_ref()
                    .map(|got| !judge::server_setting(&wanted.name, &wanted.want, got)),
                got: it.value.clone(),
                why: why.to_owned(),
            }
        };
        self.counted.counts.server.settings.iter().map(setting).collect()
    }
}

impl BytesKind {
    /// A number of bytes, if it means anything.
    pub(crate) fn of(self, bytes: u64) -> Option<u64> {
        self.is_known().then_some(bytes)
    }
}
