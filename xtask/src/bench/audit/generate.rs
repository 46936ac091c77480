//! A snapshot of keys of all five conventions.

use super::EXAMPLES;
use crate::bench::corpus::Random;
use anyhow::{Context, Result, anyhow};
use keyward_pattern::{Definition as Compiled, DefinitionId, Param, Type};
use keyward_rdb::Version;
use keyward_rdb::writer::{Attributes, Content, Writer};
use keyward_schema::model::{Definition, Schema, Ttl, Value};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// When the snapshot was taken.
const TAKEN: u64 = 1_794_700_800;

/// Writes so many keys.
pub(super) fn write(root: &Path, path: &Path, keys: u64) -> Result<()> {
    let mut schemas = Vec::new();
    for name in EXAMPLES {
        let file = root.join("examples").join(name).join("keyward.toml");
        let loaded = keyward_schema::load(&file);
        let schema = loaded.schema.map_err(|errors| anyhow!("{name}: {} errors", errors.len()))?;
        schemas.push(schema);
    }
    // Definitions whose keys are few have no part in it: a snapshot has each key once.
    let definitions: Vec<(&Schema, usize)> = schemas
        .iter()
        .flat_map(|schema| (0..schema.keys.len()).map(move |number| (schema, number)))
        .filter(|(schema, number)| has_many(schema, *number))
        .collect();
    let mut random = Random::new();
    let mut writer = Writer::new(BufWriter::new(File::create(path)?), Version::redis(10))?;
    writer.aux(b"redis-ver", b"7.0.15")?;
    writer.aux(b"ctime", TAKEN.to_string().as_bytes())?;
    writer.select(0)?;
    writer.size(keys, keys)?;
    for number in 0..keys {
        if number % 100 < 2 {
            stranger(&mut writer, number, &mut random)?;
        } else {
            let (schema, at) = definitions[random.below(definitions.len())];
            entry(&mut writer, schema, at, number, &mut random).context("a key")?;
        }
    }
    writer.finish()?;
    Ok(())
}

fn has_many(schema: &Schema, number: usize) -> bool {
    let definition = compiled(schema, number);
    definition.params().iter().any(|(_, param)| {
        matches!(
            param.ty,
            Type::Uuid
                | Type::Uint
                | Type::Int
                | Type::Text
                | Type::Hex(_)
                | Type::Slug
                | Type::Word
        )
    })
}

fn compiled(schema: &Schema, number: usize) -> Compiled<'_> {
    let id = DefinitionId(u32::try_from(number).unwrap_or(0));
    schema.compiled.definition(id)
}

/// A key that nobody declared, or a former name.
fn stranger<W: std::io::Write>(
    writer: &mut Writer<W>,
    number: u64,
    random: &mut Random,
) -> Result<()> {
    let key = match random.below(4) {
        0 => format!("xc:foldr:{}:listing", uuid(random)),
        1 => format!("bull:mail:{number}"),
        2 => format!("BO:User:Mapping:user_{number}"),
        _ => format!("sess:{:016x}", random.next()),
    };
    writer.key(key.as_bytes(), &Attributes::default(), &Content::String(b"x"))?;
    Ok(())
}

/// A key of a definition, with a value of its type.
fn entry<W: std::io::Write>(
    writer: &mut Writer<W>,
    schema: &Schema,
    at: usize,
    number: u64,
    random: &mut Random,
) -> Result<()> {
    let definition = &schema.keys[at];
    let key = key(schema, at, number, random)?;
    let longest = definition.ttl.as_ref().and_then(|ttl| match &ttl.value {
        Ttl::None => None,
        ttl => Some(match ttl.shortest().or(ttl.longest()) {
            Some(ttl) => ttl.as_millis(),
            None => 3_600_000,
        }),
    });
    // One in two hundred has lost its TTL.
    let ttl = longest.filter(|_| random.below(200) > 0);
    let expires_at = ttl.map(|millis| TAKEN * 1000 + 1 + random.next() % millis.max(1));
    let attributes = Attributes { expires_at, ..Attributes::default() };
    let key_type = definition.key_type.as_ref().map_or("string", |it| it.stored());
    // Most collections are small, and some are not.
    let most = if random.below(10) == 0 { 100 } else { 16 };
    let count = 2 + random.below(most);
    match key_type {
        "hash" => {
            let fields = fields(definition, random);
            let fields: Vec<(&[u8], &[u8])> =
                fields.iter().map(|(name, value)| (name.as_bytes(), value.as_slice())).collect();
            writer.key(key.as_bytes(), &attributes, &Content::Hash(&fields))?;
        }
        "list" | "set" => {
            let value = definition.value.as_ref().or(definition.member.as_ref());
            let items = several(count, value.map(|it| &it.value), random);
            let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
            let content =
                if key_type == "list" { Content::List(&items) } else { Content::Set(&items) };
            writer.key(key.as_bytes(), &attributes, &content)?;
        }
        "zset" => {
            let member = definition.member.as_ref().map(|it| &it.value);
            let members: Vec<(Vec<u8>, f64)> = several(count, member, random)
                .into_iter()
                .map(|member| (member, (1_700_000_000 + random.below(90_000_000)) as f64))
                .collect();
            let members: Vec<(&[u8], f64)> =
                members.iter().map(|(member, score)| (member.as_slice(), *score)).collect();
            writer.key(key.as_bytes(), &attributes, &Content::Zset(&members))?;
        }
        _ => {
            let value = of(definition.value.as_ref().map(|it| &it.value), random);
            writer.key(key.as_bytes(), &attributes, &Content::String(&value))?;
        }
    }
    Ok(())
}

fn key(schema: &Schema, at: usize, number: u64, random: &mut Random) -> Result<String> {
    let definition = compiled(schema, at);
    let mut values = Vec::new();
    for (index, (_, param)) in definition.params().iter().enumerate() {
        values.push(value(schema, &definition, index, param, number, random)?);
    }
    let values: Vec<keyward_pattern::Value<'_>> =
        values.iter().map(|text| keyward_pattern::Value::from(text.as_str())).collect();
    Ok(definition.build(&values)?)
}

fn value(
    schema: &Schema,
    definition: &Compiled<'_>,
    index: usize,
    param: &Param,
    number: u64,
    random: &mut Random,
) -> Result<String> {
    Ok(match &param.ty {
        Type::Uuid => uuid(random),
        Type::Uint | Type::Int => number.to_string(),
        Type::Text | Type::Slug | Type::Word => format!("v{number}"),
        Type::Key(names) => {
            let target = schema.keys.iter().position(|key| *key.name == names[0]);
            let key = key(schema, target.context("the definition is there")?, number, random)?;
            let prefix = schema.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
            key.strip_prefix(prefix).unwrap_or(&key).to_owned()
        }
        Type::Ip => format!("10.{}.{}.{}", random.below(256), random.below(256), random.below(256)),
        _ => definition
            .sample(index, 12, &mut |ways| random.below(ways))
            .context("a value of the type")?,
    })
}

fn fields(definition: &Definition, random: &mut Random) -> Vec<(String, Vec<u8>)> {
    let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
    for field in &definition.fields {
        if !field.optional || random.below(2) == 0 {
            fields.push((field.name.value.clone(), of(Some(&field.value.value), random)));
        }
    }
    if fields.is_empty() {
        fields.push(("a".to_owned(), of(None, random)));
    }
    fields
}

/// Values of a type, each once: a server refuses a set that has one twice.
fn several(count: usize, value: Option<&Value>, random: &mut Random) -> Vec<Vec<u8>> {
    let all: BTreeSet<Vec<u8>> = (0..count).map(|_| of(value, random)).collect();
    all.into_iter().collect()
}

/// A value of a type.
fn of(value: Option<&Value>, random: &mut Random) -> Vec<u8> {
    match value {
        Some(Value::Int | Value::Uint) => random.below(1_000_000).to_string().into_bytes(),
        Some(Value::Float) => format!("{}.5", random.below(1000)).into_bytes(),
        Some(Value::Bool) => b"true".to_vec(),
        Some(Value::Uuid | Value::Ref { .. }) => uuid(random).into_bytes(),
        Some(Value::Timestamp) => b"2026-11-15T12:00:00Z".to_vec(),
        Some(Value::Date) => b"2026-11-15".to_vec(),
        Some(Value::Unix) => (1_794_000_000 + random.below(700_000)).to_string().into_bytes(),
        Some(Value::UnixMs) => (1_794_000_000_000 + random.below(700_000)).to_string().into_bytes(),
        Some(Value::Enum(words)) => words[random.below(words.len())].clone().into_bytes(),
        Some(Value::Json { zstd: true, .. }) => {
            let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd];
            bytes.extend((0..40 + random.below(60)).map(|_| (random.next() & 0xff) as u8));
            bytes
        }
        Some(Value::Json { .. }) => {
            format!("[{{\"id\":{},\"name\":\"{}\"}}]", random.below(1_000_000), text(random))
                .into_bytes()
        }
        _ => text(random).into_bytes(),
    }
}

fn text(random: &mut Random) -> String {
    let words = ["lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit"];
    let count = 1 + random.below(4);
    (0..count).map(|_| words[random.below(words.len())]).collect::<Vec<_>>().join(" ")
}

fn uuid(random: &mut Random) -> String {
    let (a, b) = (random.next(), random.next());
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xffff,
        b >> 48,
        b & 0xffff_ffff_ffff
    )
}
