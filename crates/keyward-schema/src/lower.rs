//! Tables as written → the schema: files put together, names and parameters resolved, definitions
//! compiled.

use crate::Diagnostic;
use crate::compile::compile;
use crate::definition::{self, Surroundings};
use crate::form::Map;
use crate::generate;
use crate::layout;
use crate::migration::{self, MigrationTable};
use crate::model::{
    Accept, Alerts, Allow, Case, ChecklistItem, Defaults, Event, Foreign, Keyspace, Migration,
    Named, ParamDeclaration, Plans, RuleSet, RuleSetting, RuleSettings, Schema,
};
use crate::param::ParamForm;
use crate::relation;
use crate::scalar::NonEmpty;
use crate::server::{self, ServerTable};
use crate::span::{FileId, Sources, Span, Spanned};
use crate::tables::{
    AcceptTable, AllowTable, ChecklistTable, DefaultsTable, EventTable, KeyTable, KeyspaceTable,
    PlansTable, RootTable, RuleForm, RulesTable,
};
use crate::text::{self, TextTable};
use crate::ttl::TtlForm;
use keyward_pattern::Template;
use std::collections::HashMap;

/// One file, read.
pub(crate) struct Document {
    pub(crate) file: FileId,
    pub(crate) table: RootTable,
}

/// The most definitions that a schema may have.
const MAX_DEFINITIONS: usize = 20_000;

/// Puts the files together. `None` when something is missing that nothing can stand for.
pub(crate) fn lower(
    documents: Vec<Document>,
    sources: &Sources,
    errors: &mut Vec<Diagnostic>,
) -> Option<Schema> {
    let mut parts = Parts::default();
    let mut root = None;
    for document in documents {
        let Document { file, table } = document;
        let head = Head {
            keyspace: table.keyspace,
            layout: table.layout,
            server: table.server,
            alerts: table.alerts,
            generate: table.generate,
            defaults: table.defaults,
            rules: table.rules,
            plans: table.plans,
        };
        if root.is_none() {
            root = Some((file, head));
        }
        parts.params.add(table.params, "parameter", errors);
        parts.texts.add(table.text, "text pipeline", errors);
        parts.keys.add(table.keys, "definition", errors);
        parts.events.add(table.events, "event", errors);
        parts.groups.add(table.groups, "group", errors);
        parts.owners.add(table.owners, "owner", errors);
        parts.foreign.add(table.foreign, "entry", errors);
        parts.migrations.add(table.migrations, "migration", errors);
        parts.checklist.extend(checklist(table.checklist));
        parts.allow.extend(allowed(table.allow));
        parts.accept.extend(accepted(table.accept));
    }
    let (file, head) = root?;
    if parts.keys.entries.len() > MAX_DEFINITIONS {
        let over = &parts.keys.entries[MAX_DEFINITIONS].0;
        errors.push(Diagnostic::schema(
            "a schema has at most 20,000 definitions",
            over.span.clone(),
            "one too many",
        ));
        return None;
    }

    // Without its keyspace, a schema still has other errors to show.
    let readable = head.keyspace.is_some();
    let keyspace = match head.keyspace {
        Some(table) => lower_keyspace(table, errors),
        None => unreadable_keyspace(file),
    };
    let layout = head
        .layout
        .filter(|_| readable)
        .and_then(|table| layout::lower(table.value, keyspace.separator.value, sources, errors));
    let server = head.server.map(|table| server::lower(table.value, errors)).unwrap_or_default();
    let defaults =
        head.defaults.map(|table| lower_defaults(table.value, errors)).unwrap_or_default();
    let params: Vec<ParamDeclaration> = declarations(parts.params.entries);
    let texts = text::lower(&parts.texts.entries, errors);
    let groups: Vec<Named> = parts
        .groups
        .entries
        .into_iter()
        .map(|(name, table)| Named {
            name,
            doc: table.value.doc,
            contact: None,
            unstable: table.value.unstable.is_some_and(|unstable| unstable.value),
        })
        .collect();
    let owners: Vec<Named> = parts
        .owners
        .entries
        .into_iter()
        .map(|(name, table)| Named {
            name,
            doc: table.value.doc,
            contact: table.value.contact.map(plain),
            unstable: false,
        })
        .collect();

    definition::known_name("owner", defaults.owner.as_ref(), &owners, errors);
    let named_elsewhere = definition::named_elsewhere(&parts.keys.entries);
    let by_name: HashMap<&str, &ParamDeclaration> =
        params.iter().map(|param| (param.name.as_str(), param)).collect();
    let surroundings = Surroundings {
        sources,
        separator: keyspace.separator.value,
        prefix: keyspace.prefix.as_ref(),
        params: &by_name,
        defaults: &defaults,
        groups: &groups,
        owners: &owners,
        named_elsewhere: &named_elsewhere,
    };
    let mut keys: Vec<_> = parts
        .keys
        .entries
        .into_iter()
        .map(|(name, table)| definition::lower(name, table.value, &surroundings, errors))
        .collect();
    let lower_event = |(name, table): (_, Spanned<EventTable>)| lower_event(name, table, errors);
    let mut events: Vec<Event> = parts.events.entries.into_iter().map(lower_event).collect();
    note_refreshes(&events, &mut keys, errors);
    let mut migrations: Vec<Migration> = parts
        .migrations
        .entries
        .into_iter()
        .map(|(name, table)| migration::lower(name, table.value, &keys, &surroundings, errors))
        .collect();
    let foreign = parts
        .foreign
        .entries
        .into_iter()
        .map(|(name, table)| Foreign { name, doc: table.value.doc, glob: plain(table.value.glob) })
        .collect();
    let rules = lower_rules(head.rules, &keyspace.name.span);
    let generate =
        head.generate.map(|table| generate::lower(table.value, &keyspace, &keys, errors));

    let plans = head.plans.map(|table| lower_plans(table.value, &keys, errors)).unwrap_or_default();

    if !readable {
        return None;
    }
    if let Some(layout) = &layout {
        let bound = keyspace.prefix.as_ref().map_or(0, |prefix| prefix.holes().count());
        let of_keys = keys.iter_mut().flat_map(|key| key.params.iter_mut().skip(bound));
        let of_events = events.iter_mut().flat_map(|event| &mut event.params);
        let of_renames = migrations.iter_mut().flat_map(|migration| &mut migration.renames);
        let of_renames = of_renames.flat_map(|rename| &mut rename.params);
        for param in of_keys.chain(of_events).chain(of_renames) {
            for word in &layout.reserved {
                param.param.value.refuse(word, keyspace.separator.value);
            }
        }
    }
    migration::check(&migrations, &keyspace, &keys, errors);
    let of_keys = keys.iter().flat_map(|key| &key.params);
    let of_events = events.iter().flat_map(|event| &event.params);
    let with_text = of_keys.chain(of_events).chain(&params);
    text::check_sources(with_text, &texts, &parts.texts.broken, keyspace.separator.value, errors);
    relation::check(&keys, &parts.keys.broken, errors);
    let compiled =
        compile(&keyspace, &params, &keys, &events, &migrations, &parts.keys.broken, errors)?;
    Some(Schema {
        keyspace,
        layout,
        server,
        alerts: Alerts {
            memory: head
                .alerts
                .and_then(|table| table.value.memory)
                .map(|memory| Spanned::new(memory.value.0, memory.span)),
        },
        generate: generate.unwrap_or_default(),
        defaults,
        rules,
        params,
        texts,
        keys,
        events,
        groups,
        owners,
        foreign,
        migrations,
        plans,
        checklist: parts.checklist,
        allow: parts.allow,
        accept: parts.accept,
        compiled,
    })
}

/// What only the root file has.
struct Head {
    keyspace: Option<Spanned<KeyspaceTable>>,
    layout: Option<Spanned<crate::layout::LayoutTable>>,
    server: Option<Spanned<ServerTable>>,
    alerts: Option<Spanned<crate::tables::AlertsTable>>,
    generate: Option<Spanned<crate::generate::GenerateTable>>,
    defaults: Option<Spanned<DefaultsTable>>,
    rules: Option<Spanned<RulesTable>>,
    plans: Option<Spanned<PlansTable>>,
}

/// What all files have, put together.
#[derive(Default)]
struct Parts {
    params: Merged<ParamForm>,
    texts: Merged<TextTable>,
    keys: Merged<KeyTable>,
    events: Merged<EventTable>,
    groups: Merged<crate::tables::GroupTable>,
    owners: Merged<crate::tables::OwnerTable>,
    foreign: Merged<crate::tables::ForeignTable>,
    migrations: Merged<MigrationTable>,
    checklist: Vec<ChecklistItem>,
    allow: Vec<Allow>,
    accept: Vec<Accept>,
}

/// Entries of several files, each name once.
struct Merged<T> {
    entries: Vec<(Spanned<String>, Spanned<T>)>,
    seen: HashMap<String, Span>,
    broken: Vec<String>,
}

impl<T> Default for Merged<T> {
    fn default() -> Self {
        Merged { entries: Vec::new(), seen: HashMap::new(), broken: Vec::new() }
    }
}

impl<T> Merged<T> {
    fn add<N>(
        &mut self,
        map: Option<Spanned<Map<N, T>>>,
        what: &str,
        errors: &mut Vec<Diagnostic>,
    ) {
        let Some(map) = map else { return };
        self.broken.extend(map.value.broken);
        for (name, value) in map.value.entries {
            if let Some(first) = self.seen.get(&name.value) {
                errors.push(
                    Diagnostic::schema(
                        format!("there are two {what}s named `{}`", *name),
                        name.span.clone(),
                        "again here",
                    )
                    .at(first.clone(), "first here"),
                );
                continue;
            }
            self.seen.insert(name.value.clone(), name.span.clone());
            self.entries.push((name, value));
        }
    }
}

fn plain(text: Spanned<NonEmpty>) -> Spanned<String> {
    Spanned::new(text.value.0, text.span)
}

fn checklist(
    table: Option<Spanned<Vec<Spanned<ChecklistTable>>>>,
) -> impl Iterator<Item = ChecklistItem> {
    table.into_iter().flat_map(|list| list.value).map(|item| ChecklistItem {
        text: plain(item.value.text),
        level: item.value.level.map(|level| level.value).unwrap_or_default(),
        rules: item.value.rules.into_iter().flat_map(|it| it.value).map(plain).collect(),
    })
}

fn allowed(table: Option<Spanned<Vec<Spanned<AllowTable>>>>) -> impl Iterator<Item = Allow> {
    table.into_iter().flat_map(|list| list.value).map(|entry| Allow {
        rule: plain(entry.value.rule),
        reason: plain(entry.value.reason),
        span: entry.span,
    })
}

fn accepted(table: Option<Spanned<Vec<Spanned<AcceptTable>>>>) -> impl Iterator<Item = Accept> {
    table.into_iter().flat_map(|list| list.value).map(|entry| Accept {
        rule: plain(entry.value.rule),
        subject: plain(entry.value.subject),
        reason: plain(entry.value.reason),
        expires: entry.value.expires,
        span: entry.span,
    })
}

pub(crate) fn allow_list(table: Option<Spanned<Vec<Spanned<AllowTable>>>>) -> Vec<Allow> {
    allowed(table).collect()
}

pub(crate) fn declarations(
    entries: Vec<(Spanned<String>, Spanned<ParamForm>)>,
) -> Vec<ParamDeclaration> {
    entries.into_iter().map(|(name, form)| form.value.declare(name, form.span)).collect()
}

/// What stands for a `[keyspace]` that is missing or has errors.
fn unreadable_keyspace(file: FileId) -> Keyspace {
    let nowhere = Span::new(file, 0..0);
    Keyspace {
        name: Spanned::new(String::new(), nowhere.clone()),
        doc: None,
        prefix: None,
        separator: Spanned::new(':', nowhere.clone()),
        case: Spanned::new(Case::Lower, nowhere.clone()),
        db: None,
        cluster: Spanned::new(false, nowhere),
        max_key_len: None,
    }
}

fn lower_keyspace(table: Spanned<KeyspaceTable>, errors: &mut Vec<Diagnostic>) -> Keyspace {
    let Spanned { value: table, span } = table;
    let cluster = table.cluster.as_ref().filter(|cluster| cluster.value);
    if let (Some(db), Some(cluster)) = (table.db.as_ref().filter(|db| db.value.0 > 0), cluster) {
        errors.push(
            Diagnostic::schema(
                "a cluster has only database 0",
                db.span.clone(),
                "not on a cluster",
            )
            .at(cluster.span.clone(), "a cluster")
            .help("remove `db`"),
        );
    }
    Keyspace {
        name: plain(table.name),
        doc: table.doc,
        prefix: table.prefix,
        separator: table.separator.map_or(Spanned::new(':', span.clone()), |given| {
            Spanned::new(given.value.0, given.span)
        }),
        case: table.case.unwrap_or(Spanned::new(Case::Lower, span.clone())),
        db: table.db.map(|db| Spanned::new(u32::try_from(db.value.0).unwrap_or(u32::MAX), db.span)),
        cluster: table.cluster.unwrap_or(Spanned::new(false, span)),
        max_key_len: table.max_key_len.map(|len| Spanned::new(len.value.0, len.span)),
    }
}

fn lower_defaults(table: DefaultsTable, errors: &mut Vec<Diagnostic>) -> Defaults {
    let ttl = match table.ttl {
        None => None,
        Some(Spanned { value: TtlForm::Plain(ttl), span }) => Some(Spanned::new(ttl, span)),
        Some(Spanned { value: TtlForm::By(_), span }) => {
            errors.push(Diagnostic::schema(
                "a default TTL cannot depend on a parameter",
                span,
                "not every definition has it",
            ));
            None
        }
    };
    definition::refuse_no_bytes(table.max_bytes.as_ref(), errors);
    Defaults {
        ttl,
        max_len: table.max_len.map(|len| Spanned::new(len.value.0, len.span)),
        max_bytes: table.max_bytes,
        jitter: table.jitter.map(|jitter| Spanned::new(jitter.value.0, jitter.span)),
        owner: table.owner.map(plain),
    }
}

fn lower_rules(table: Option<Spanned<RulesTable>>, implied: &Span) -> RuleSettings {
    let (set, rules) = match table {
        Some(table) => (table.value.set, table.value.rules),
        None => (None, Vec::new()),
    };
    RuleSettings {
        set: set.unwrap_or(Spanned::new(RuleSet::Recommended, implied.clone())),
        rules: rules
            .into_iter()
            .map(|(name, form)| {
                let setting = match form.value {
                    RuleForm::Severity(severity) => {
                        RuleSetting { severity: Some(severity), ..RuleSetting::default() }
                    }
                    RuleForm::Table(table) => RuleSetting {
                        severity: table.severity.map(|severity| severity.value),
                        words: words(table.words),
                        accept: words(table.accept),
                        max: table.max,
                    },
                };
                (name, setting)
            })
            .collect(),
    }
}

fn lower_plans(
    table: PlansTable,
    keys: &[crate::model::Definition],
    errors: &mut Vec<Diagnostic>,
) -> Plans {
    let Some(require_owner) = table.require_owner else { return Plans::default() };
    if require_owner.value && keys.iter().all(|key| key.owner.is_none()) {
        errors.push(
            Diagnostic::schema(
                "`require_owner` has no effect: no definition has an owner",
                require_owner.span,
                "nobody to ask",
            )
            .help("give definitions an `owner`, or all of them one in `[defaults]`"),
        );
    }
    Plans { require_owner: require_owner.value }
}

fn words(list: Option<Spanned<Vec<Spanned<NonEmpty>>>>) -> Vec<Spanned<String>> {
    list.into_iter().flat_map(|list| list.value).map(plain).collect()
}

fn lower_event(
    name: Spanned<String>,
    table: Spanned<EventTable>,
    errors: &mut Vec<Diagnostic>,
) -> Event {
    let Spanned { value: table, span } = table;
    // One that could not be read is missing too, and was reported.
    if table.invalidates.is_none() && table.refreshes.is_none() && errors.is_empty() {
        let message = format!("the event `{}` does nothing", *name);
        errors.push(
            Diagnostic::schema(message, span, "neither `invalidates` nor `refreshes`")
                .help("write `invalidates`, with the definitions whose keys it makes invalid"),
        );
    }
    let invalidated = table.invalidates.map(|it| it.value).unwrap_or_default().into_iter();
    let refreshed = table.refreshes.map(|it| it.value).unwrap_or_default().into_iter();
    let refreshed = refreshed.map(|mut call| {
        call.value.refresh = true;
        call
    });
    Event {
        name,
        doc: table.doc,
        params: table.params.map(|map| declarations(map.value.entries)).unwrap_or_default(),
        invalidates: invalidated.chain(refreshed).collect(),
        allow: allow_list(table.allow),
    }
}

/// Lets definitions know that an event refreshes them; what is never loaded again cannot be refreshed.
fn note_refreshes(
    events: &[Event],
    keys: &mut [crate::model::Definition],
    errors: &mut Vec<Diagnostic>,
) {
    for event in events {
        for call in event.invalidates.iter().filter(|call| call.refresh) {
            let name = &call.definition;
            let mut others = event.invalidates.iter().filter(|it| !it.refresh);
            if let Some(other) = others.find(|it| it.definition == *name) {
                let message = format!("`{}` both invalidates and refreshes `{name}`", *event.name);
                errors.push(
                    Diagnostic::schema(message, call.span.clone(), "has no effect")
                        .at(other.span.clone(), "what is removed cannot be served")
                        .help("remove one of them"),
                );
            }
            // One that does not exist is reported by a rule.
            let Some(key) = keys.iter_mut().find(|key| *key.name == *name) else { continue };
            key.refreshed = true;
            if !crate::effect::is_loaded(key) {
                let message = format!("`refreshes` is for what is cached, and `{name}` is not");
                errors.push(
                    Diagnostic::schema(message, call.span.clone(), "is never loaded again")
                        .help("write it in `invalidates`"),
                );
            }
        }
    }
}

/// The declarations of a pattern's parameters: a type in place wins, and without any it is text.
pub(crate) fn template_params<'d>(
    template: &Spanned<Template>,
    sources: &Sources,
    declared: impl Fn(&str) -> Option<&'d ParamDeclaration>,
) -> Vec<ParamDeclaration> {
    template
        .holes()
        .map(|hole| {
            let span = crate::decoder::inside(sources, &template.span, hole.span.clone());
            let found = declared(&hole.name);
            match (&hole.ty, found) {
                (None, Some(declared)) => declared.clone(),
                (ty, found) => ParamDeclaration {
                    name: Spanned::new(hole.name.clone(), span.clone()),
                    param: Spanned::new(
                        ty.clone().unwrap_or(keyward_pattern::Type::Text).into(),
                        span,
                    ),
                    encode_span: None,
                    doc: found.and_then(|declared| declared.doc.clone()),
                    pii: found.is_none_or(|declared| declared.pii),
                    from: found.and_then(|declared| declared.from.clone()),
                },
            }
        })
        .collect()
}
