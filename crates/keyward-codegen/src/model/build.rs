//! From a schema to the model.

use super::name::Names;
use super::{
    Behaviour, Binding, Event, Field, Former, FormerPart, Invalidation, Key, Module, Name, Param,
    ParamType, Part, Prefix, Selection, Ttl, Value, Word,
};
use base64::Engine as _;
use keyward_fact::Duration;
use keyward_pattern::{LanguageError, Tables, Template, Type};
use keyward_schema::Schema;
use keyward_schema::model::{
    Algorithm, BindingSource, Definition, Invalidate, JsonType, Lifecycle, Limit, OnFull, OnOutage,
    OnWrite, ParamDeclaration, Phase, Rename, Role,
};
use keyward_schema::{Spanned, model};
use std::cell::OnceCell;
use std::collections::HashMap;

impl Module {
    /// The model of a schema. What it refers to must exist, as `keyward check` makes sure; what does
    /// not is left out.
    pub fn new(schema: &Schema) -> Result<Self, LanguageError> {
        let besides: Vec<keyward_pattern::Param> = schema
            .events
            .iter()
            .flat_map(|event| &event.params)
            .chain(old_names(schema).flat_map(|(_, rename)| &rename.params))
            .map(|param| param.param.value.clone())
            .collect();
        let export = schema.compiled.export(&besides)?;
        let mut building = Building::new(schema, &export.block);
        let prefix_params = prefix_params(schema);
        let mut keys = Vec::new();
        for (number, definition) in schema.keys.iter().enumerate() {
            let languages = &export.languages[number];
            let mut names = Names::default();
            let holes = schema.keyspace.prefix.iter().flat_map(|prefix| prefix.value.holes());
            let holes = holes.chain(definition.pattern.holes());
            let params = definition.params.iter().zip(languages).zip(holes);
            let params: Vec<Param> = params
                .map(|((param, language), hole)| {
                    building.param(param, *language, hole.rest, &mut names)
                })
                .collect();
            keys.push(params);
        }
        let mut besides = export.besides.iter();
        let mut event_params: Vec<Vec<Param>> = Vec::new();
        for event in &schema.events {
            let mut names = Names::default();
            let params = event.params.iter();
            let params = params.map(|param| {
                let language = besides.next().copied().flatten();
                building.param(param, language, false, &mut names)
            });
            event_params.push(params.collect());
        }
        let former: Vec<(usize, Former)> = old_names(schema)
            .filter_map(|(phase, rename)| building.former(phase, rename, &mut besides))
            .collect();
        let prefix = building.prefix(keys.first().map_or(&[], |params| &params[..prefix_params]));
        let mut keys: Vec<Key> =
            (0..).zip(keys).map(|(number, params)| building.key(number, params)).collect();
        for (number, former) in former {
            keys[number].former.push(former);
        }
        let events: Vec<Event> = schema
            .events
            .iter()
            .zip(event_params)
            .zip(building.event_names())
            .map(|((event, params), name)| building.event(event, name, params, &keys))
            .collect();
        for it in events.iter().flat_map(|event| &event.invalidates) {
            if it.exact || it.resolve != Some("index") {
                continue;
            }
            let bound = it.bindings.iter().enumerate().filter(|(_, binding)| !binding.free);
            let bound: Vec<usize> = bound.map(|(at, _)| at).collect();
            let indexes = &mut keys[it.key].behaviour.indexes;
            if !indexes.contains(&bound) {
                indexes.push(bound);
            }
        }
        let all: Vec<usize> = (0..keys.len()).collect();
        let select = |name: &str, doc: Option<String>, member: &dyn Fn(&Definition) -> bool| {
            let chosen: Vec<usize> =
                all.iter().copied().filter(|&at| member(&schema.keys[at])).collect();
            let globs = chosen.iter().map(|&at| keys[at].glob.clone()).collect();
            Selection { name: Name::new(name), doc, keys: chosen, globs }
        };
        let groups = named(schema, &schema.groups, |key| key.group.as_ref());
        let groups = unique(groups.into_iter().map(|(name, doc)| {
            select(&name, doc, &|key| key.group.as_ref().is_some_and(|group| **group == name))
        }));
        let owners = named(schema, &schema.owners, |key| key.owner.as_ref());
        let owners = unique(owners.into_iter().map(|(name, doc)| {
            select(&name, doc, &|key| key.owner.as_ref().is_some_and(|owner| **owner == name))
        }));
        let lifecycles = Lifecycle::ALL
            .map(|lifecycle| select(lifecycle.name(), None, &|key| key.lifecycle == lifecycle));
        let mut json_types = Vec::new();
        for key in &keys {
            let fields = key.fields.iter().map(|field| &field.value);
            let values = [&key.value, &key.member, &key.score].into_iter().flatten().chain(fields);
            for value in values {
                collect_json_types(value, &mut json_types);
            }
        }
        Ok(Module {
            name: Name::new(&schema.keyspace.name),
            doc: text(schema.keyspace.doc.as_ref()),
            separator: *schema.keyspace.separator,
            prefix,
            block: base64::engine::general_purpose::STANDARD.encode(&export.block),
            types: building.types,
            keys,
            events,
            groups,
            lifecycles: lifecycles.into_iter().filter(|it| !it.keys.is_empty()).collect(),
            owners,
            json_types,
        })
    }
}

fn behaviour(definition: &Definition) -> Behaviour {
    let millis = |duration: &Option<Spanned<Duration>>| {
        duration.as_ref().map(|duration| duration.value.as_millis())
    };
    let cache = &definition.cache;
    let mut made = Behaviour {
        jitter: definition.jitter.as_ref().map_or(0.0, |jitter| jitter.value.clamp(0.0, 100.0)),
        keep_ttl: definition.on_write == OnWrite::Keep,
        sliding: definition.sliding,
        refuse_when_full: definition.on_full == OnFull::Refuse,
        invalidate: definition.invalidate.as_ref().map(|how| resolution(how.value)),
        indexes: Vec::new(),
        l1_ms: millis(&cache.l1),
        early_refresh: cache.early_refresh.as_ref().is_some_and(|on| on.value),
        stale_ms: millis(&cache.stale_if_error),
        negative_ms: millis(&cache.negative_ttl),
        load_lock_ms: millis(&cache.load_lock),
        limit: None,
        window_ms: None,
        algorithm: None,
        closed_on_outage: false,
        negative: false,
    };
    let fixed = |limit: Limit| if let Limit::Fixed(limit) = limit { Some(limit) } else { None };
    match definition.role.as_ref().map(|role| &role.value) {
        Some(Role::Counter(counter)) => made.negative = counter.negative,
        Some(Role::Quota(quota)) => {
            made.limit = fixed(quota.limit.value);
            made.window_ms = millis(&quota.window);
        }
        Some(Role::RateLimit(limit)) => {
            made.limit = fixed(limit.limit.value);
            made.window_ms = Some(limit.window.value.as_millis());
            made.algorithm = Some(match limit.algorithm {
                Algorithm::FixedWindow => "fixed-window",
                Algorithm::SlidingWindow => "sliding-window",
                Algorithm::Gcra => "gcra",
            });
            made.closed_on_outage = limit.on_outage == OnOutage::Closed;
        }
        _ => {}
    }
    made
}

/// The old names that still matter, with the phase of their migration.
fn old_names(schema: &Schema) -> impl Iterator<Item = (Phase, &Rename)> {
    let running = schema.migrations.iter().filter(|it| *it.phase != Phase::Cleanup);
    running.flat_map(|it| it.renames.iter().map(|rename| (*it.phase, rename)))
}

fn resolution(how: Invalidate) -> &'static str {
    match how {
        Invalidate::Index => "index",
        Invalidate::Scan => "scan",
    }
}

/// The groups or owners of a schema: the declared ones, then those that are only used.
fn named(
    schema: &Schema,
    declared: &[model::Named],
    used: impl Fn(&Definition) -> Option<&Spanned<String>>,
) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> =
        declared.iter().map(|named| (named.name.value.clone(), text(named.doc.as_ref()))).collect();
    for name in schema.keys.iter().filter_map(used) {
        if found.iter().all(|(known, _)| *known != **name) {
            found.push((name.value.clone(), None));
        }
    }
    found
}

/// Selections whose names differ, the empty ones left out.
fn unique(selections: impl Iterator<Item = Selection>) -> Vec<Selection> {
    let mut names = Names::default();
    let renamed = selections.map(|mut selection| {
        selection.name = names.add(&selection.name.id);
        selection
    });
    renamed.filter(|selection| !selection.keys.is_empty()).collect()
}

fn collect_json_types(value: &Value, into: &mut Vec<String>) {
    if let Some(name) = &value.json_type
        && !into.contains(name)
    {
        into.push(name.clone());
    }
    if let Some(items) = &value.items {
        collect_json_types(items, into);
    }
}

fn prefix_params(schema: &Schema) -> usize {
    schema.keyspace.prefix.as_ref().map_or(0, |prefix| prefix.holes().count())
}

fn text(text: Option<&Spanned<String>>) -> Option<String> {
    text.map(|text| text.value.clone())
}

/// What is collected on the way.
struct Building<'s> {
    schema: &'s Schema,
    types: Vec<ParamType>,
    type_names: Names,
    /// The type of each declaration: by name, declaration and whether it takes the rest
    known: HashMap<(String, keyward_pattern::Param, bool), ParamType>,
    key_names: Vec<Name>,
    block: &'s [u8],
    /// Read from the block when a value is spelled otherwise than it is, which is rare
    tables: OnceCell<Option<Tables>>,
}

impl<'s> Building<'s> {
    fn new(schema: &'s Schema, block: &'s [u8]) -> Self {
        let mut names = Names::default();
        let key_names = schema.keys.iter().map(|key| names.add(&key.name)).collect();
        Building {
            schema,
            types: Vec::new(),
            type_names: Names::default(),
            known: HashMap::new(),
            key_names,
            block,
            tables: OnceCell::new(),
        }
    }

    fn param(
        &mut self,
        declared: &ParamDeclaration,
        language: Option<u32>,
        rest: bool,
        names: &mut Names,
    ) -> Param {
        let id = declared.name.value.clone();
        let known = (id.clone(), declared.param.value.clone(), rest);
        let ty = if let Some(ty) = self.known.get(&known) {
            ty.clone()
        } else {
            let ty = self.param_type(declared, language);
            self.known.insert(known, ty.clone());
            ty
        };
        Param {
            name: names.add(&id),
            doc: text(declared.doc.as_ref()),
            ty,
            rest,
            pii: declared.pii,
        }
    }

    fn param_type(&mut self, declared: &ParamDeclaration, language: Option<u32>) -> ParamType {
        let param = &declared.param.value;
        let encoded = !param.encode.is_empty() || param.ty == Type::Encoded;
        let own = match &param.ty {
            Type::Uuid => Some("uuid"),
            Type::Int => Some("int"),
            Type::Uint => Some("uint"),
            Type::Date => Some("date"),
            Type::Unix => Some("unix"),
            Type::UnixMs => Some("unix_ms"),
            Type::Ip => Some("ip"),
            _ => None,
        };
        let own = own.filter(|_| !encoded);
        let kind = own.unwrap_or(match &param.ty {
            Type::Enum(_) => "enum",
            Type::Key(_) => "key",
            _ => "text",
        });
        let words: &[String] = if let Type::Enum(words) = &param.ty { words } else { &[] };
        let keys = if let Type::Key(names) = &param.ty { self.numbers(names) } else { Vec::new() };
        let spell = |word: &str| self.spelled(language, encoded, word);
        let mut ty = ParamType {
            kind,
            name: Name::new(kind),
            description: param.ty.to_string(),
            doc: None,
            language,
            encoded,
            lower: param.normalize.is_some(),
            words: enum_words(words, spell),
            keys,
        };
        if own.is_none() {
            ty.name = self.type_names.add(&declared.name);
            ty.doc = text(declared.doc.as_ref());
            self.types.push(ty.clone());
        }
        ty
    }

    /// How a value stands in a key.
    fn spelled(&self, language: Option<u32>, encoded: bool, value: &str) -> String {
        let Some(language) = language.filter(|_| encoded) else { return value.to_owned() };
        let tables = self.tables.get_or_init(|| Tables::read(self.block));
        let Some(tables) = tables else { return value.to_owned() };
        let mut spelling = String::new();
        tables.spell(language, value, &mut spelling);
        spelling
    }

    /// An old name, and the number of the definition that has it.
    fn former<'l>(
        &self,
        phase: Phase,
        rename: &Rename,
        languages: &mut impl Iterator<Item = &'l Option<u32>>,
    ) -> Option<(usize, Former)> {
        let languages: Vec<Option<u32>> =
            languages.by_ref().take(rename.params.len()).copied().collect();
        let number = self.schema.keys.iter().position(|key| *key.name == *rename.definition)?;
        let params = &self.schema.keys[number].params;
        let parts = parts(&rename.from);
        let parts: Option<Vec<FormerPart>> = parts
            .into_iter()
            .map(|part| {
                let Some(at) = part.param else {
                    return Some(FormerPart { literal: part.literal, ..FormerPart::default() });
                };
                let old = rename.params.get(at)?;
                let param = params.iter().position(|param| *param.name == *old.name)?;
                let rest = rename.from.holes().nth(at).is_some_and(|hole| hole.rest);
                let keys = match &old.param.value.ty {
                    Type::Key(names) => self.numbers(names),
                    _ => Vec::new(),
                };
                let language = languages.get(at).copied().flatten().filter(|_| !rest);
                Some(FormerPart { literal: None, param: Some(param), language, keys })
            })
            .collect();
        let phase = if phase == Phase::DualWrite { "dual-write" } else { "read-fallback" };
        Some((number, Former { phase, parts: parts? }))
    }

    fn numbers(&self, names: &[String]) -> Vec<usize> {
        let number = |name: &String| self.schema.keys.iter().position(|key| *key.name == *name);
        names.iter().filter_map(number).collect()
    }

    fn prefix(&self, params: &[Param]) -> Prefix {
        let template = self.schema.keyspace.prefix.as_ref().map(|prefix| &prefix.value);
        let parts = template.map(parts).unwrap_or_default();
        let literals = || parts.iter().filter_map(|part| part.literal.as_deref());
        Prefix {
            pattern: template.map(ToString::to_string).unwrap_or_default(),
            constant: params.is_empty().then(|| literals().collect()),
            params: params.to_vec(),
            parts,
        }
    }

    fn key(&self, number: usize, params: Vec<Param>) -> Key {
        let schema = self.schema;
        let definition = &schema.keys[number];
        let prefix = schema.keyspace.prefix.as_ref().map(|prefix| &prefix.value);
        let prefix_params = prefix_params(schema);
        let compiled = schema.compiled.definitions().nth(number);
        let constant = prefix.filter(|_| prefix_params == 0).map(ToString::to_string);
        let whole = |text: &str| format!("{}{text}", constant.clone().unwrap_or_default());
        let parts = parts(&definition.pattern);
        let literal_len = parts.iter().filter_map(|part| part.literal.as_ref()).map(String::len);
        let prefix_len = prefix.map_or(0, |prefix| {
            let parts = self::parts(prefix);
            parts.iter().filter_map(|part| part.literal.as_ref()).map(String::len).sum()
        });
        let fields = &definition.fields;
        let mut field_names = Names::default();
        Key {
            number,
            name: self.key_names[number].clone(),
            doc: text(definition.doc.as_ref()),
            owner: text(definition.owner.as_ref()),
            group: text(definition.group.as_ref()),
            lifecycle: definition.lifecycle.name(),
            role: definition.role.as_ref().map(|role| role.name()),
            pattern: format!(
                "{}{}",
                prefix.map(ToString::to_string).unwrap_or_default(),
                definition.pattern.value
            ),
            params: params.into_iter().skip(prefix_params).collect(),
            literal_len: literal_len.sum::<usize>() + prefix_len,
            parts,
            glob: compiled.and_then(|it| it.glob_named(&[]).ok()).unwrap_or_default(),
            shadowed: compiled.is_some_and(|it| it.is_shadowed()),
            tagged: compiled.is_some_and(|it| it.has_tag()),
            examples: definition.examples.iter().map(|example| whole(example)).collect(),
            ty: definition.key_type.as_ref().map(|ty| ty.name().to_owned()),
            value: definition.value.as_ref().map(|value| self.value(value)),
            fields: fields
                .iter()
                .map(|field| Field {
                    name: field_names.add(&field.name),
                    doc: text(field.doc.as_ref()),
                    value: self.value(&field.value),
                    optional: field.optional,
                    ttl: field.ttl.as_ref().map(|ttl| ttl_of(ttl)),
                })
                .collect(),
            open: definition.open,
            member: definition.member.as_ref().map(|value| self.value(value)),
            score: definition.score.as_ref().map(|value| self.value(value)),
            ttl: definition.ttl.as_ref().map(|ttl| ttl_of(ttl)),
            max_len: definition.max_len.as_ref().map(|len| len.value),
            max_bytes: definition.max_bytes.as_ref().map(|size| size.bytes()),
            behaviour: behaviour(definition),
            former: Vec::new(),
        }
    }

    fn value(&self, value: &model::Value) -> Value {
        let mut made = Value {
            kind: "text",
            words: Vec::new(),
            json_type: None,
            items: None,
            zstd: false,
            of: None,
            keys: Vec::new(),
        };
        made.kind = match value {
            model::Value::Text => "text",
            model::Value::Int => "int",
            model::Value::Uint => "uint",
            model::Value::Float => "float",
            model::Value::Bool => "bool",
            model::Value::Uuid => "uuid",
            model::Value::Timestamp => "timestamp",
            model::Value::Date => "date",
            model::Value::Unix => "unix",
            model::Value::UnixMs => "unix_ms",
            model::Value::Bytes => "bytes",
            model::Value::Enum(words) => {
                made.words = enum_words(words, str::to_owned);
                "enum"
            }
            model::Value::Json { of, zstd } => {
                made.zstd = *zstd;
                match of {
                    Some(JsonType::Named(name)) => made.json_type = Some(name.clone()),
                    Some(JsonType::Array(items)) => made.items = Some(Box::new(self.value(items))),
                    None => {}
                }
                "json"
            }
            model::Value::Ref { definition, param } => {
                made.of = self.referred(definition, param);
                "ref"
            }
            model::Value::Key(names) => {
                made.keys = self.numbers(names);
                "key"
            }
        };
        made
    }

    fn referred(&self, definition: &str, param: &str) -> Option<ParamType> {
        let definition = self.schema.keys.iter().find(|key| *key.name == definition)?;
        let declared = definition.params.iter().find(|it| *it.name == param)?;
        let rest = definition.pattern.holes().any(|hole| hole.name == param && hole.rest);
        let known = (declared.name.value.clone(), declared.param.value.clone(), rest);
        self.known.get(&known).cloned()
    }

    fn event_names(&self) -> Vec<Name> {
        let mut names = Names::default();
        self.schema.events.iter().map(|event| names.add(&event.name)).collect()
    }

    fn event(&self, event: &model::Event, name: Name, params: Vec<Param>, keys: &[Key]) -> Event {
        let invalidates = event.invalidates.iter().filter_map(|call| {
            let key = self.schema.keys.iter().position(|key| *key.name == call.definition)?;
            let wanted = keys[key].params.iter();
            let bindings: Vec<Binding> =
                wanted.map(|wanted| self.binding(wanted, call, &params)).collect();
            let resolve = self.schema.keys[key].invalidate.as_ref();
            let resolve = resolve.map(|how| resolution(how.value));
            let exact = bindings.iter().all(|binding| !binding.free);
            Some(Invalidation { key, bindings, exact, resolve })
        });
        let invalidates = invalidates.collect();
        Event { name, doc: text(event.doc.as_ref()), params, invalidates }
    }

    fn binding(&self, wanted: &Param, call: &model::Invalidation, params: &[Param]) -> Binding {
        let mut made = Binding { param: None, same_type: false, word: None, free: false };
        let written = call.bindings.iter().find(|binding| binding.param == wanted.name.id);
        let source = match written.map(|binding| &binding.source) {
            Some(BindingSource::Word(word)) => {
                let of_enum = wanted.ty.words.iter().find(|known| known.text == *word).cloned();
                made.word = Some(of_enum.unwrap_or_else(|| Word {
                    name: Name::new(word),
                    text: word.clone(),
                    spelling: self.spelled(wanted.ty.language, wanted.ty.encoded, word),
                }));
                return made;
            }
            Some(BindingSource::Param(source)) => source,
            Some(BindingSource::Free) => "",
            None => &wanted.name.id,
        };
        made.param = params.iter().position(|param| param.name.id == source);
        made.same_type = made.param.is_some_and(|at| params[at].ty == wanted.ty);
        made.free = made.param.is_none();
        made
    }
}

/// The literals and parameters of a pattern, neighbouring literals joined.
fn parts(template: &Template) -> Vec<Part> {
    let mut found = Vec::new();
    let mut next = 0;
    for part in template.parts() {
        match part {
            keyward_pattern::Part::Literal(text) => found.push(Ok(text.clone())),
            keyward_pattern::Part::Hole(hole) => {
                found.extend(hole.tag.then(|| Ok("{".to_owned())));
                found.push(Err(next));
                found.extend(hole.tag.then(|| Ok("}".to_owned())));
                next += 1;
            }
        }
    }
    let mut joined: Vec<Result<String, usize>> = Vec::new();
    for part in found {
        match (joined.last_mut(), part) {
            (Some(Ok(before)), Ok(text)) => before.push_str(&text),
            (_, part) => joined.push(part),
        }
    }
    joined
        .into_iter()
        .map(|part| match part {
            Ok(text) => Part { glob: Some(escaped(&text)), literal: Some(text), param: None },
            Err(param) => Part { literal: None, glob: None, param: Some(param) },
        })
        .collect()
}

fn enum_words(words: &[String], spell: impl Fn(&str) -> String) -> Vec<Word> {
    let mut names = Names::default();
    let word =
        |word: &String| Word { name: names.add(word), text: word.clone(), spelling: spell(word) };
    words.iter().map(word).collect()
}

/// A text as it stands in a glob.
fn escaped(text: &str) -> String {
    let mut glob = String::new();
    keyward_pattern::escape_glob(text, &mut glob);
    glob
}

fn ttl_of(ttl: &model::Ttl) -> Ttl {
    let (kind, by) = match ttl {
        model::Ttl::None => ("none", None),
        model::Ttl::Fixed(_) => ("fixed", None),
        model::Ttl::Range(..) => ("range", None),
        model::Ttl::By { param, .. } => ("by", Some(Name::new(param))),
        model::Ttl::Caller { .. } => ("caller", None),
    };
    let words = if let model::Ttl::By { values, .. } = ttl {
        values.iter().map(|(word, ttl)| (word.clone(), ttl.as_millis())).collect()
    } else {
        Vec::new()
    };
    Ttl {
        kind,
        text: ttl.to_string(),
        min_ms: ttl.shortest().map(Duration::as_millis),
        max_ms: ttl.longest().map(Duration::as_millis),
        by,
        words,
    }
}
