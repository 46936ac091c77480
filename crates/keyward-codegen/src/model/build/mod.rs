//! From a schema to the model.

mod event;
mod key;
mod param;
mod pattern;
mod selection;

use super::name::Names;
use super::{Event, Former, Key, Module, Name, Param, ParamType, Text, Value};
use base64::Engine as _;
use event::note_indexes;
use keyward_pattern::{Keyspace, LanguageError, Tables};
use keyward_schema::model::{Numbers, Shorten, TextPipeline};
use keyward_schema::{OldNames, Schema, Spanned};
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
            .map(|param| param.param.value.clone())
            .collect();
        let old_names: Vec<OldNames<'_>> = schema.old_names_by_db();
        let former: Vec<(usize, &Keyspace)> =
            old_names.iter().map(|it| (it.renames.len(), &it.keyspace)).collect();
        let export = schema.compiled.export(&besides, &former)?;
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
                    building.param(&definition.name, param, *language, hole.rest, &mut names)
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
                building.param(&event.name, param, language, false, &mut names)
            });
            event_params.push(params.collect());
        }
        let renames = old_names.iter().flat_map(|it| &it.renames);
        let former: Option<Vec<Former>> = renames
            .zip(&export.former)
            .map(|(&(migration, rename), languages)| building.former(migration, rename, languages))
            .collect();
        let former = former.unwrap_or_default();
        let prefix = building.prefix(keys.first().map_or(&[], |params| &params[..prefix_params]));
        let mut keys: Vec<Key> =
            (0..).zip(keys).map(|(number, params)| building.key(number, params)).collect();
        for (number, it) in former.iter().enumerate().filter(|(_, it)| it.used) {
            keys[it.key].former.push(number);
        }
        let events: Vec<Event> = schema
            .events
            .iter()
            .zip(event_params)
            .zip(building.event_names())
            .map(|((event, params), name)| building.event(event, name, params, &keys))
            .collect();
        note_indexes(&events, &mut keys);
        Ok(Module {
            name: Name::new(&schema.keyspace.name),
            doc: text(schema.keyspace.doc.as_ref()),
            separator: *schema.keyspace.separator,
            prefix,
            block: base64::engine::general_purpose::STANDARD.encode(&export.block),
            types: building.types,
            texts: schema.texts.iter().map(pipeline).collect(),
            groups: selection::by_group(schema, &keys),
            lifecycles: selection::by_lifecycle(schema, &keys),
            owners: selection::by_owner(schema, &keys),
            json_types: json_types(&keys),
            announcement: schema.announcement().to_string(),
            cluster: *schema.keyspace.cluster,
            needs_json: keys.iter().any(Key::holds_json),
            needs_zstd: keys.iter().any(|key| key.stored().any(|value| value.zstd)),
            keys,
            former,
            events,
        })
    }
}

impl Key {
    /// What the key holds, in it or in each of its entries.
    fn stored(&self) -> impl Iterator<Item = &Value> {
        self.value.iter().chain(&self.member)
    }

    fn holds_json(&self) -> bool {
        let fields = self.fields.iter().map(|field| &field.value);
        // A compressed field is bytes to generated code.
        self.stored().any(|value| value.kind == "json")
            || fields.into_iter().any(|value| value.kind == "json" && !value.zstd)
    }
}

/// The application's types that hold JSON, in the order of their first use.
fn json_types(keys: &[Key]) -> Vec<String> {
    let mut found = Vec::new();
    for key in keys {
        let fields = key.fields.iter().map(|field| &field.value);
        let values = [&key.value, &key.member, &key.score].into_iter().flatten().chain(fields);
        for value in values {
            collect_json_types(value, &mut found);
        }
    }
    found
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

/// What is collected on the way.
struct Building<'s> {
    schema: &'s Schema,
    types: Vec<ParamType>,
    type_names: Names,
    /// The type of each declaration: by name, declaration, whether it takes the rest, and its text pipeline
    known: HashMap<(String, keyward_pattern::Param, bool, Option<usize>), ParamType>,
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

    fn numbers(&self, names: &[String]) -> Vec<usize> {
        let number = |name: &String| self.schema.keys.iter().position(|key| *key.name == *name);
        names.iter().filter_map(number).collect()
    }
}

fn pipeline(declared: &TextPipeline) -> Text {
    let pairs = |(short, long): &(Spanned<String>, Spanned<String>)| {
        (short.value.clone(), long.value.clone())
    };
    Text {
        name: Name::new(&declared.name),
        doc: text(declared.doc.as_ref()),
        abbreviations: declared.abbreviations.iter().map(pairs).collect(),
        numbers: declared.numbers.as_ref().map(|language| match language.value {
            Numbers::German => "de",
            Numbers::English => "en",
        }),
        symbols: declared.symbols.iter().map(|(it, word)| (it.value, word.value.clone())).collect(),
        stop_words: declared.stop_words.iter().map(|word| word.value.clone()).collect(),
        words: declared.words.as_ref().map(|it| it.value),
        max_len: declared.max_len.as_ref().map(|it| it.value),
        shorten: match declared.shorten.as_ref().map(|it| it.value) {
            Some(Shorten::Vowels) => "vowels",
            Some(Shorten::Cut) | None => "cut",
        },
        idempotent: declared.idempotent,
    }
}

fn prefix_params(schema: &Schema) -> usize {
    schema.keyspace.prefix.as_ref().map_or(0, |prefix| prefix.holes().count())
}

fn text(text: Option<&Spanned<String>>) -> Option<String> {
    text.map(|text| text.value.clone())
}
