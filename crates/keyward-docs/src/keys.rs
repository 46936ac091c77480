//! The definitions, by group.

use super::context::{Context, date, doc, quoted, written};
use super::doc::Doc;
use super::page::{self, Accepted, Fact, Field, Former, InvalidatedBy, Token};
use super::prose::Prose;
use keyward_pattern::{Glob, Part, derived};
use keyward_schema::model::{Allow, Definition, Derived, Phase};

impl<'a> Context<'a> {
    /// The groups with their definitions.
    pub(super) fn groups(&self) -> Vec<page::Group> {
        let group = |(name, target): &(Option<String>, super::Target)| {
            let named = self.schema.groups.iter().find(|it| Some(&it.name.value) == name.as_ref());
            let own = self
                .shown()
                .filter(|it| it.group.as_ref().map(|group| &group.value) == name.as_ref());
            page::Group {
                name: name.clone(),
                target: target.clone(),
                doc: named.and_then(|named| doc(named.doc.as_ref())),
                definitions: own.filter_map(|it| self.described(it)).collect(),
            }
        };
        self.anchors.groups.iter().map(group).collect()
    }

    fn described(&self, definition: &'a Definition) -> Option<page::Definition> {
        let compiled = self.compiled(definition)?;
        let examples = self.examples(definition);
        let glob = compiled.glob_named(&[]).ok()?;
        let subject = self.definition(&definition.name);
        Some(page::Definition {
            target: self.target(&definition.name)?.clone(),
            doc: doc(definition.doc.as_ref()),
            group: definition.group.as_ref().map(|group| group.value.clone()),
            owner: definition.owner.as_ref().map(|owner| owner.value.clone()),
            lifecycle: self.lifecycle_name(definition.lifecycle),
            pattern: self.pattern(definition),
            pieces: self.pieces(definition),
            params: self.params(definition),
            key_type: definition.key_type.as_ref().map(|key_type| self.key_type(key_type)),
            content: self.content(definition),
            fields: definition.fields.iter().map(|field| self.field(field)).collect(),
            open: definition.open,
            ttl: self.ttl(definition),
            role: definition.role.as_ref().map(|role| self.role(role)).unwrap_or_default(),
            role_name: definition.role.as_ref().map(|role| role.name()),
            bounds: self.bounds(definition),
            cache: self.cache(definition),
            related: [self.relations(definition), self.related(definition)].concat(),
            invalidated_by: self.invalidated_by(definition),
            derived: self.derived(definition, examples.first()),
            former: self.former(definition),
            command: self.scan(&glob),
            also_finds: self.also_finds(definition, &glob),
            glob,
            examples: examples.to_vec(),
            accepted: accepted_for(&subject, &definition.allow),
        })
    }

    fn pieces(&self, definition: &'a Definition) -> Vec<Token> {
        let separator = char::from(self.keyspace.separator());
        let mut pieces = Vec::new();
        for (part, prefix) in self.parts(&definition.pattern) {
            let mut add = |kind, text: String, hint| {
                if !text.is_empty() {
                    pieces.push(Token { kind, prefix, text, hint });
                }
            };
            match part {
                Part::Literal(text) => {
                    for (number, word) in text.split(separator).enumerate() {
                        if number > 0 {
                            add("separator", separator.to_string(), None);
                        }
                        add("literal", word.to_owned(), None);
                    }
                }
                Part::Hole(hole) => {
                    let declared = definition.params.iter().find(|it| *it.name == hole.name);
                    let hint = declared.map(|it| self.param(it, Some(hole), false).ty.plain());
                    if hole.tag {
                        add("brace", "{".to_owned(), None);
                    }
                    let rest = if hole.rest { "…" } else { "" };
                    add("param", format!("{}{rest}", hole.name), hint);
                    if hole.tag {
                        add("brace", "}".to_owned(), None);
                    }
                }
            }
        }
        pieces
    }

    fn params(&self, definition: &'a Definition) -> Vec<page::Param> {
        self.parts(&definition.pattern)
            .filter_map(|(part, in_prefix)| {
                let Part::Hole(hole) = part else { return None };
                let declared = definition.params.iter().find(|it| *it.name == hole.name)?;
                Some(self.param(declared, Some(hole), in_prefix))
            })
            .collect()
    }

    fn content(&self, definition: &Definition) -> Vec<Fact> {
        let words = self.words;
        let entries = definition.key_type.as_ref().is_some_and(|it| it.is_collection());
        let value = if entries { words.each_entry } else { words.value };
        [
            (value, &definition.value),
            (words.member, &definition.member),
            (words.score, &definition.score),
        ]
        .into_iter()
        .filter_map(|(label, held)| {
            let value = self.value(&held.as_ref()?.value);
            Some(Fact { label: label.to_owned(), value })
        })
        .collect()
    }

    fn field(&self, field: &keyward_schema::model::Field) -> Field {
        let words = self.words;
        let doc = field.doc.as_ref().map(|doc| Doc::read(doc).line);
        let ttl = field
            .ttl
            .as_ref()
            .map(|ttl| Prose::fill(words.field_ttl, &[self.ttl_text(Some(&ttl.value))]));
        Field {
            name: field.name.value.clone(),
            value: self.value(&field.value),
            optional: field.optional,
            meaning: words.sentences(doc.into_iter().chain(ttl)),
        }
    }

    fn invalidated_by(&self, definition: &'a Definition) -> Vec<InvalidatedBy> {
        let mut found = Vec::new();
        for (number, target) in &self.anchors.events {
            let event = &self.schema.events[*number];
            let calls = event.invalidates.iter();
            let calls = calls.filter(|call| call.definition == *definition.name);
            let keys: Vec<_> = calls.map(|it| self.invalidated(definition, event, it)).collect();
            if !keys.is_empty() {
                let doc = doc(event.doc.as_ref());
                found.push(InvalidatedBy { event: target.clone(), doc, keys });
            }
        }
        found
    }

    fn derived(&self, definition: &Definition, example: Option<&String>) -> Vec<page::Derived> {
        let words = self.words;
        let one = |it: Derived| page::Derived {
            word: it.word(),
            meaning: Prose::fill(
                match it {
                    Derived::Lease => words.lease,
                    Derived::Index => words.derived_index,
                    Derived::Stale => words.stale_copy,
                    Derived::Nothing => words.nothing_mark,
                    Derived::Refresh => words.due_mark,
                    Derived::Revoked => words.revoked_mark,
                    Derived::Until => words.until_mark,
                    Derived::Ends => words.ends_mark,
                    Derived::Token => words.token_mark,
                    Derived::Changes => words.changes_mark,
                    Derived::Versions => words.versions_mark,
                    Derived::Version => words.version_mark,
                    Derived::Fence => words.fence,
                    Derived::Waiters => words.waiters,
                    Derived::Alive => words.alive,
                    Derived::Jobs => words.queue_jobs,
                    Derived::Taken => words.queue_taken,
                    Derived::Leases => words.queue_leases,
                    Derived::Due => words.queue_due,
                    Derived::Ready => words.queue_ready,
                    Derived::Done => words.queue_done,
                    Derived::Letters => words.queue_letters,
                },
                &[],
            ),
            example: example.and_then(|key| match it {
                Derived::Index => self.index_of(definition, key),
                _ => derived(&self.prefix, key, it.word()),
            }),
        };
        self.schema.derived(definition).into_iter().map(one).collect()
    }

    /// The index that knows a key, for the first event that looks for its like.
    fn index_of(&self, definition: &Definition, key: &str) -> Option<String> {
        let compiled = self.compiled(definition)?;
        let values = compiled.parse(key.as_bytes())?;
        let invalidates = self.schema.events.iter().flat_map(|event| &event.invalidates);
        let looking = invalidates.filter(|it| it.definition == *definition.name);
        let names = || compiled.params().iter().map(|(name, _)| name.as_str());
        // An event is about one prefix, whatever it leaves free.
        let prefix = compiled.prefix_params();
        let mut free = looking.map(|it| {
            let free = |(at, name)| at >= prefix && it.leaves_free(name);
            names().enumerate().map(free).collect::<Vec<_>>()
        });
        let free = free.find(|free| free.contains(&true))?;
        let bound = names().zip(&values).zip(free).filter(|(_, free)| !free);
        let bound: Vec<(&str, &str)> = bound.map(|((name, value), _)| (name, &**value)).collect();
        derived(&self.prefix, &compiled.glob_named(&bound).ok()?, Derived::Index.word())
    }

    fn former(&self, definition: &Definition) -> Vec<Former> {
        let mut former = Vec::new();
        for migration in &self.schema.migrations {
            let renames = migration.renames.iter();
            for rename in renames.filter(|it| it.definition.value == definition.name.value) {
                let (phase, meaning) = self.phase(migration.phase.value);
                let by_plan = || Prose::say(self.words.moved_by_plan, &[]);
                let meaning = if rename.is_known_to_stores() { meaning } else { by_plan() };
                former.push(Former {
                    pattern: rename.from.parts().iter().map(written).collect(),
                    migration: migration.name.value.clone(),
                    phase,
                    meaning,
                    started: migration.started.as_ref().map(date),
                    remove_after: migration.remove_after.as_ref().map(date),
                    changes: self.changes(rename, false),
                });
            }
        }
        former
    }

    /// A phase's word in the schema, and what it means.
    pub(super) fn phase(&self, phase: Phase) -> (&'static str, Prose) {
        let meaning = match phase {
            Phase::DualWrite => self.words.dual_write,
            Phase::ReadFallback => self.words.read_fallback,
            Phase::Cleanup => self.words.cleanup,
        };
        (phase.name(), Prose::fill(meaning, &[]))
    }

    /// The command that finds what a glob matches.
    pub(super) fn scan(&self, glob: &str) -> String {
        let db = self.schema.keyspace.db.as_ref();
        let db = db.map(|db| format!("-n {} ", db.value)).unwrap_or_default();
        format!("redis-cli {db}--scan --pattern {}", quoted(glob))
    }

    /// The definitions whose examples a glob finds as well; a `*` crosses separators.
    fn also_finds(&self, definition: &Definition, glob: &str) -> Option<Prose> {
        // Most keys part from it before its first `*`.
        let start = glob.split(['*', '\\', '?', '[']).next().unwrap_or_default();
        let glob = Glob::new(glob);
        let finds = |key: &String| key.starts_with(start) && glob.matches(key.as_bytes());
        let others = self.schema.keys.iter().filter(|other| other.name != definition.name);
        let found: Vec<Prose> = others
            .filter(|other| self.examples(other).iter().any(finds))
            .map(|other| self.definition(&other.name))
            .collect();
        let phrase = self.words.also_finds;
        (!found.is_empty()).then(|| Prose::fill(phrase, &[self.words.listed(found)]))
    }
}

/// The findings that were accepted for something.
pub(super) fn accepted_for(subject: &Prose, allow: &[Allow]) -> Vec<Accepted> {
    let one = |it: &Allow| Accepted {
        subject: subject.clone(),
        rule: it.rule.value.clone(),
        reason: Doc::read(&it.reason),
    };
    allow.iter().map(one).collect()
}
