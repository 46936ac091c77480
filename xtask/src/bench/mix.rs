//! A believable keyspace as large as wanted: keys of all five conventions, a few per cent of former and
//! unknown names among them.

use super::corpus::Random;
use anyhow::{Context, Result, anyhow, ensure};
use keyward_pattern::{Definition as Compiled, DefinitionId, Param, Type};
use keyward_rdb::Version;
use keyward_rdb::writer::{Attributes, Content, Writer};
use keyward_schema::model::{Definition, Schema, Ttl, Value};
use keyward_testkit::{Flavor, Server};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How many of a hundred keys belong to which definition of which convention; the rest are strangers.
const MIX: [(&str, &str, usize); 13] = [
    ("xeuz-cloud", "file_meta", 20),
    ("xeuz-cloud", "folder_listing", 12),
    ("xeuz-cloud", "permission", 12),
    ("xeuz-cloud", "quota_used", 8),
    ("media-gateway", "user_preferences", 8),
    ("media-gateway", "session_index", 4),
    ("media-gateway", "user_watchlist", 4),
    ("media-gateway", "user_recommendations", 5),
    ("reed-cms", "session", 10),
    ("reed-cms", "word_index", 3),
    ("binary-options", "user_profile", 6),
    ("binary-options", "auth_permission", 2),
    ("document-library", "chunk", 3),
];

/// The conventions' schemas.
pub(super) fn schemas(root: &Path) -> Vec<PathBuf> {
    let mut names: Vec<&str> = MIX.iter().map(|(name, ..)| *name).collect();
    names.dedup();
    names.iter().map(|name| root.join("examples").join(name).join("keyward.toml")).collect()
}

/// A server with so many keys, which it has read from a snapshot, as it does when it starts.
pub(super) fn serve(root: &Path, keys: u64) -> Result<Server> {
    eprintln!("  a server with {keys} keys …");
    let server = Flavor::Redis.start();
    write(root, &server.folder().join("dump.rdb"), keys)?;
    server.restart();
    let there = server.command(&["DBSIZE"]).integer();
    ensure!(there.unsigned_abs() * 100 > keys * 95, "the server has read {there} of {keys} keys");
    Ok(server)
}

/// Writes so many keys.
fn write(root: &Path, path: &Path, keys: u64) -> Result<()> {
    let mut loaded = Vec::new();
    for path in schemas(root) {
        let schema = keyward_schema::load(&path).schema;
        loaded.push(schema.map_err(|errors| anyhow!("{}: {errors:?}", path.display()))?);
    }
    let mut hundred = Vec::new();
    for (schema, definition, count) in MIX {
        let found = loaded.iter().find(|it| *it.keyspace.name == schema);
        let schema = found.with_context(|| format!("no schema `{schema}`"))?;
        let at = schema.keys.iter().position(|it| *it.name == definition);
        let at = at.with_context(|| format!("no definition `{definition}`"))?;
        hundred.extend(std::iter::repeat_n((schema, at), count));
    }
    let taken = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
    let mut random = Random::new();
    let mut writer = Writer::new(BufWriter::new(File::create(path)?), Version::redis(10))?;
    writer.aux(b"redis-ver", b"7.0.15")?;
    writer.aux(b"ctime", taken.to_string().as_bytes())?;
    writer.select(0)?;
    writer.size(keys, keys)?;
    for number in 0..keys {
        match hundred.get(random.below(100)) {
            Some((schema, at)) => {
                entry(&mut writer, schema, *at, number, taken, &mut random).context("a key")?;
            }
            None => stranger(&mut writer, number, &mut random)?,
        }
    }
    writer.finish()?;
    Ok(())
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
        0 => format!("xc:foldr:{}:listing", random.uuid()),
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
    taken: u64,
    random: &mut Random,
) -> Result<()> {
    let definition = &schema.keys[at];
    let key = key(schema, at, number, random)?;
    let longest = definition.ttl.as_ref().and_then(|ttl| match &ttl.value {
        Ttl::None => None,
        ttl => Some(match ttl.longest().or(ttl.shortest()) {
            Some(ttl) => ttl.as_millis(),
            None => 3_600_000,
        }),
    });
    // One in two hundred has lost its TTL.
    let ttl = longest.filter(|_| random.below(200) > 0);
    // What has little time left would be gone before a server is measured.
    let expires_at = ttl.map(|millis| taken * 1000 + millis / 2 + random.next() % (millis / 2 + 1));
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
        Type::Uuid => random.uuid(),
        Type::Uint | Type::Int => number.to_string(),
        // One installation of Reed CMS.
        _ if index < definition.prefix_params() => "reed".to_owned(),
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
        Some(Value::Uuid | Value::Ref { .. }) => random.uuid().into_bytes(),
        Some(Value::Timestamp) => b"2026-11-15T12:00:00Z".to_vec(),
        Some(Value::Date) => b"2026-11-15".to_vec(),
        Some(Value::Unix) => (1_794_000_000 + random.below(700_000)).to_string().into_bytes(),
        Some(Value::UnixMs) => (1_794_000_000_000 + random.below(700_000)).to_string().into_bytes(),
        Some(Value::Enum(words)) => words[random.below(words.len())].clone().into_bytes(),
        Some(Value::Json { zstd: true, .. }) => {
            let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd];
            bytes.extend((0..20 + random.below(280)).map(|_| (random.next() & 0xff) as u8));
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
