//! The content of a value, read command by command, for values that are converted on their way.

use keyward_audit::live::Reply;
use keyward_schema::model::{Convert, Score};
use std::collections::{BTreeMap, BTreeSet};

/// What a value holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Text(Vec<u8>),
    Items(Vec<Vec<u8>>),
    Fields(BTreeMap<Vec<u8>, Vec<u8>>),
    Members(BTreeSet<Vec<u8>>),
    /// The members of a sorted set, with the scores that they are given; scores are not compared
    Ranked(BTreeMap<Vec<u8>, Vec<u8>>),
}

impl Content {
    /// The command that reads a value of this type; `None` if such values are not converted.
    pub(crate) fn reading(kind: &str) -> Option<&'static [&'static [u8]]> {
        Some(match kind {
            "string" => &[b"GET"],
            "list" => &[b"LRANGE", b"0", b"-1"],
            "hash" => &[b"HGETALL"],
            "set" => &[b"SMEMBERS"],
            "zset" => &[b"ZRANGE", b"0", b"-1", b"WITHSCORES"],
            _ => return None,
        })
    }

    /// What such a command has answered.
    pub(crate) fn read(kind: &str, reply: Reply) -> Option<Self> {
        let texts = |reply: Reply| -> Option<Vec<Vec<u8>>> {
            let Reply::Array(items) = reply else { return None };
            let text = |item: Reply| match item {
                Reply::Bytes(text) => Some(text),
                _ => None,
            };
            items.into_iter().map(text).collect()
        };
        let pairs = |texts: Vec<Vec<u8>>| -> BTreeMap<Vec<u8>, Vec<u8>> {
            let mut texts = texts.into_iter();
            std::iter::from_fn(|| Some((texts.next()?, texts.next()?))).collect()
        };
        Some(match (kind, reply) {
            ("string", Reply::Bytes(text)) => Content::Text(text),
            ("list", reply) => Content::Items(texts(reply)?),
            ("hash", reply) => Content::Fields(pairs(texts(reply)?)),
            ("set", reply) => Content::Members(texts(reply)?.into_iter().collect()),
            ("zset", reply) => Content::Ranked(pairs(texts(reply)?)),
            _ => return None,
        })
    }

    /// The value under the new name; `None` if it is not of the kind that is converted.
    pub(crate) fn convert(self, convert: Convert, now: u64) -> Option<Self> {
        use serde_json::Value as Json;
        Some(match (convert, self) {
            (Convert::JsonToHash, Content::Text(text)) => {
                // Numbers keep their digits: a double has fewer than many ids need.
                let raw: BTreeMap<String, Box<serde_json::value::RawValue>> =
                    serde_json::from_slice(&text).ok()?;
                let field = |(name, raw): (String, Box<serde_json::value::RawValue>)| {
                    let text = match serde_json::from_str(raw.get()) {
                        Ok(Json::String(text)) => text.into_bytes(),
                        Ok(Json::Null) => return None,
                        _ => raw.get().as_bytes().to_vec(),
                    };
                    Some((name.into_bytes(), text))
                };
                Content::Fields(raw.into_iter().filter_map(field).collect())
            }
            (Convert::HashToJson, Content::Fields(fields)) => {
                let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
                let member = |(name, value)| Some((text(name)?, Json::String(text(value)?)));
                let members: Option<serde_json::Map<String, Json>> =
                    fields.into_iter().map(member).collect();
                Content::Text(Json::Object(members?).to_string().into_bytes())
            }
            (Convert::SetToSortedSet { score }, Content::Members(members)) => {
                let score = match score {
                    Score::Fixed(score) => score.to_string(),
                    Score::Now => now.to_string(),
                };
                let ranked = members.into_iter().map(|it| (it, score.clone().into_bytes()));
                Content::Ranked(ranked.collect())
            }
            (Convert::LowerCase, Content::Text(text)) => {
                Content::Text(std::str::from_utf8(&text).ok()?.to_lowercase().into_bytes())
            }
            _ => return None,
        })
    }

    /// Whether both hold the same; the scores of members do not count.
    pub(crate) fn is_same(&self, other: &Content) -> bool {
        match (self, other) {
            (Content::Ranked(one), Content::Ranked(other)) => one.keys().eq(other.keys()),
            _ => self == other,
        }
    }

    /// By which it is known again, however it is stored.
    pub(crate) fn digest(&self) -> String {
        let mut sha = sha1_smol::Sha1::new();
        let mut add = |part: &[u8]| {
            sha.update(&(part.len() as u64).to_le_bytes());
            sha.update(part);
        };
        match self {
            Content::Text(text) => [&b"text"[..], text].into_iter().for_each(add),
            Content::Items(items) => {
                add(b"items");
                for it in items {
                    add(it);
                }
            }
            Content::Fields(fields) => {
                add(b"fields");
                fields.iter().flat_map(|(name, value)| [name, value]).for_each(|it| add(it));
            }
            Content::Members(members) => {
                add(b"members");
                for it in members {
                    add(it);
                }
            }
            Content::Ranked(ranked) => {
                add(b"ranked");
                for (member, score) in ranked {
                    add(member);
                    // A server writes a number in another way than it was given.
                    let number = std::str::from_utf8(score).ok();
                    match number.and_then(|it| it.parse::<f64>().ok()) {
                        Some(number) => add(&number.to_bits().to_le_bytes()),
                        None => add(score),
                    }
                }
            }
        }
        sha.digest().to_string()
    }

    /// The commands that write it, as `place.lua` takes them.
    pub(crate) fn writing(&self) -> Vec<Vec<u8>> {
        /// As many arguments as Lua can pass on.
        const MOST: usize = 1000;
        let mut args = Vec::new();
        let mut add = |command: &str, parts: Vec<&Vec<u8>>| {
            for parts in parts.chunks(MOST) {
                args.push((parts.len() + 1).to_string().into_bytes());
                args.push(command.as_bytes().to_vec());
                args.extend(parts.iter().map(|part| (*part).clone()));
            }
        };
        match self {
            Content::Text(text) => add("SET", vec![text]),
            Content::Items(items) => add("RPUSH", items.iter().collect()),
            Content::Fields(fields) => {
                add("HSET", fields.iter().flat_map(|(name, value)| [name, value]).collect());
            }
            Content::Members(members) => add("SADD", members.iter().collect()),
            Content::Ranked(ranked) => {
                add("ZADD", ranked.iter().flat_map(|(member, score)| [score, member]).collect());
            }
        }
        args
    }

    /// Whether a key cannot hold it: an empty collection is none.
    pub(crate) fn is_nothing(&self) -> bool {
        match self {
            Content::Text(_) => false,
            Content::Items(it) => it.is_empty(),
            Content::Fields(it) | Content::Ranked(it) => it.is_empty(),
            Content::Members(it) => it.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_all_their_digits() {
        let json =
            br#"{"id": 9007199254740993, "name": "A \u00e9", "tags": ["x", 1], "none": null}"#;
        let Some(Content::Fields(fields)) =
            Content::Text(json.to_vec()).convert(Convert::JsonToHash, 0)
        else {
            panic!("a JSON object is a hash");
        };
        let get = |name: &str| fields.get(name.as_bytes()).map(|it| String::from_utf8_lossy(it));
        assert_eq!(get("id").unwrap(), "9007199254740993");
        assert_eq!(get("name").unwrap(), "A é");
        assert_eq!(get("tags").unwrap(), r#"["x", 1]"#);
        assert_eq!(get("none"), None);
    }

    #[test]
    fn what_is_of_another_kind_is_not_converted() {
        let text = |text: &str| Content::Text(text.as_bytes().to_vec());
        assert_eq!(text("[1]").convert(Convert::JsonToHash, 0), None);
        assert_eq!(text("{").convert(Convert::JsonToHash, 0), None);
        assert_eq!(text("x").convert(Convert::HashToJson, 0), None);
        assert_eq!(Content::Text(vec![0xff]).convert(Convert::LowerCase, 0), None);
        assert_eq!(text("ABC").convert(Convert::LowerCase, 0), Some(text("abc")));
    }

    #[test]
    fn contents_are_known_again_by_their_digests() {
        let ranked = |score: &str| {
            Content::Ranked(BTreeMap::from([(b"a".to_vec(), score.as_bytes().to_vec())]))
        };
        assert_eq!(ranked("7").digest(), ranked("7.0").digest());
        assert_ne!(ranked("7").digest(), ranked("8").digest());
        let fields = |name: &str, value: &str| {
            Content::Fields(BTreeMap::from([(name.into(), value.into())])).digest()
        };
        assert_ne!(fields("a", "bc"), fields("ab", "c"));
        let items = |all: &[&str]| {
            Content::Items(all.iter().map(|it| it.as_bytes().to_vec()).collect()).digest()
        };
        assert_ne!(items(&["a", "b"]), items(&["b", "a"]));
        assert_ne!(items(&["text", "a"]), Content::Text(b"a".to_vec()).digest());
    }

    #[test]
    fn scores_are_not_compared() {
        let set = Content::Members(BTreeSet::from([b"a".to_vec()]));
        let convert = Convert::SetToSortedSet { score: Score::Now };
        let (one, other) = (set.clone().convert(convert, 1), set.convert(convert, 2));
        assert!(one.unwrap().is_same(&other.unwrap()));
    }
}
