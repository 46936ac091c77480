//! What to copy into a schema for keys that nobody declared: made of what may be shown of them, and sound by itself.

use crate::outline::Outline;
use crate::report::Facts;
use crate::segment::{Kind, REST, WORD};
use keyward_infer::draft::{ParamType, Ttl};
use keyward_infer::{Piece, definition, snippet, ttl};

/// The definition of a pattern, relative to the prefix of the schema that it belongs to. `None` where no word of it may be
/// shown, or where it is under no schema's prefix.
pub(super) fn toml(outline: &Outline, segments: &[String], facts: &Facts) -> Option<String> {
    let whole = segments.concat();
    let (pattern, separator) = outline.relative(&whole)?;
    relative(pattern, separator, facts)
}

fn relative(pattern: &str, separator: char, facts: &Facts) -> Option<String> {
    let pieces = pieces(pattern)?;
    let has_word = |piece: &Piece| matches!(piece, Piece::Text(text) if text.chars().any(char::is_alphanumeric));
    if !pieces.iter().any(has_word) {
        return None;
    }
    let mut types = facts.types.iter().filter(|(_, keys)| **keys > 0).map(|(name, _)| name);
    let key_type = types.next().cloned().filter(|_| types.next().is_none());
    let text = |pieces: Vec<Piece>| snippet(&definition(pieces, key_type.clone(), lives(facts)));
    // Where one parameter may take what belongs to the next, one takes all of them.
    let loose = pieces.iter().position(|it| matches!(it, Piece::Param(_))).map(|first| {
        let rest = Piece::Param(ParamType::Rest);
        pieces[..first].iter().cloned().chain([rest]).collect()
    });
    let loose = loose.filter(|it: &Vec<Piece>| it.iter().any(has_word)).map(text);
    let mut all = std::iter::once(text(pieces)).chain(loose);
    let text = all.find(|text| is_sound(text, separator))?;
    let needs = pattern.chars().any(char::is_uppercase);
    let needs = if needs { "# [keyspace] needs `case = \"any\"`.\n" } else { "" };
    Some(needs.to_owned() + &text)
}

fn lives(facts: &Facts) -> Ttl {
    let expiring = facts.ttl.expiring;
    ttl(facts.keys, expiring, facts.ttl.remaining.max.saturating_mul(1000))
}

/// Words as they are, and parameters for kinds of values; `None` where something else stands in it.
fn pieces(pattern: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['<', '{']) {
        if at > 0 {
            pieces.push(Piece::Text(rest[..at].to_owned()));
        }
        // A value of another schema's prefix has no type here.
        let end = at + rest[at..].find('>').filter(|_| rest[at..].starts_with('<'))? + 1;
        pieces.push(Piece::Param(param_type(&rest[at..end])?));
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Some(pieces)
}

/// The type of a value of some kind.
fn param_type(mark: &str) -> Option<ParamType> {
    if mark == REST {
        return Some(ParamType::Rest);
    }
    if mark == WORD {
        return Some(ParamType::Named("text".to_owned()));
    }
    let kind = mark.strip_prefix('<')?.strip_suffix('>')?;
    let name = match Kind::VALUES.into_iter().find(|it| it.word() == kind)? {
        Kind::Uuid => "uuid",
        Kind::Number => "uint",
        Kind::Hex => "hex",
        Kind::Date => "date",
        Kind::Ip => "raw_ip",
        Kind::Email => "email",
        Kind::Literal | Kind::Text => "text",
    };
    Some(ParamType::Named(name.to_owned()))
}

/// Whether a definition is sound in a schema of its own.
pub(crate) fn is_sound(definition: &str, separator: char) -> bool {
    let separator = separator.to_string();
    let text = format!(
        "version = 1\n\n[keyspace]\nname = \"keys\"\nseparator = {separator:?}\ncase = \"any\"\n\n{definition}"
    );
    let schema = keyward_schema::read(&text).schema;
    schema.is_ok_and(|schema| keyward_rules::unsound(&[&schema]).is_empty())
}

impl Outline {
    /// A pattern without the prefix of the schema that it belongs to, and the separator of that schema.
    fn relative<'p>(&self, pattern: &'p str) -> Option<(&'p str, char)> {
        let of = |schema: &crate::outline::OutlinedSchema| {
            let rest = pattern.strip_prefix(schema.prefix.as_str())?;
            Some((rest, schema.separator))
        };
        self.schemas.iter().filter_map(of).min_by_key(|(rest, _)| rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Distribution, Ttl as Lives};

    fn facts(types: &[&str], expiring: u64) -> Facts {
        Facts {
            keys: 10,
            types: types.iter().map(|name| ((*name).to_owned(), 5)).collect(),
            ttl: Lives {
                none: 10 - expiring,
                expiring,
                remaining: Distribution { max: 86_000, ..Distribution::default() },
                ..Lives::default()
            },
            ..Facts::default()
        }
    }

    #[test]
    fn patterns_become_definitions() {
        assert_eq!(
            relative("cart:<number>:items", ':', &facts(&["hash"], 10)).unwrap(),
            "[keys.cart_items]\npattern = \"cart:{cart_id:uint}:items\"\ntype = \"hash\"\nttl = \"1d\"\n"
        );
        assert_eq!(
            relative("User/<text>/seen_<date>", '/', &facts(&["set", "hash"], 5)).unwrap(),
            "# [keyspace] needs `case = \"any\"`.\n\
             [keys.user_seen]\npattern = \"User/{user_name}/seen_{day:date}\"\n"
        );
        assert_eq!(
            relative("rate:<ip>", ':', &facts(&["string"], 0)).unwrap(),
            "[keys.rate]\npattern = \"rate:{ip:raw_ip}\"\ntype = \"string\"\nttl = \"none\"\n"
        );
        let loose = relative("rate:<ip>:<rest>", ':', &facts(&["string"], 0)).unwrap();
        assert!(loose.contains("pattern = \"rate:{rest...}\"\n"), "{loose}");
    }

    #[test]
    fn a_pattern_without_a_word_is_not_a_definition() {
        for pattern in ["<text>:<number>", "<text>", "", "{tenant}:cart:<number>"] {
            assert_eq!(relative(pattern, ':', &facts(&["string"], 0)), None, "{pattern}");
        }
    }
}
