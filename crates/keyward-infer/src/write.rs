//! Writes a draft as a readable `keyward.toml`.

use crate::draft::{Definition, Draft, Field, Foreign, Held, Param, ParamType, Ttl};
use keyward_fact::{Duration, thousands};
use std::collections::BTreeMap;

/// A prefix that no key has: no example is shown.
const NOT_SHOWN: &str = "\u{0}";

/// The draft as a commented schema of this name.
pub fn write(draft: &Draft, name: &str) -> String {
    let mut out = String::from("#:schema ./keyward.schema.json\n#\n");
    let seen = thousands(draft.keys);
    let definitions = draft.definitions.len();
    comment(
        &mut out,
        &format!(
            "Drafted by `keyward infer` from {seen} keys: {definitions} definitions. Read them, give each a `doc` and an \
         `owner`, and let `keyward check` prove that they are sound. Types, TTLs and bounds are what the keys have today: \
         raise a TTL that the application sets longer. A word that few keys vary stands here as it is: look for names of \
         people before you commit this file."
        ),
    );
    for note in &draft.notes {
        comment(&mut out, note);
    }
    if draft.rest.keys > 0 {
        out.push_str("#\n");
        comment(
            &mut out,
            &match draft.rest.keys {
                1 => "1 key has no definition:".to_owned(),
                many => format!("{} keys have no definition:", thousands(many)),
            },
        );
        for (why, keys) in &draft.rest.why {
            comment(&mut out, &format!("- {}: {why}", thousands(*keys)));
        }
    }
    out.push('\n');
    out.push_str(&body(draft, name, true));
    out
}

/// The same without comments.
pub(crate) fn plain(draft: &Draft) -> String {
    body(draft, "keys", false)
}

/// One definition, with the types of its parameters in place.
pub(crate) fn alone(definition: &Definition) -> String {
    let mut out = String::new();
    let inline: BTreeMap<String, ParamType> = BTreeMap::new();
    write_definition(definition, &inline, (true, NOT_SHOWN), &mut out);
    out
}

/// The same without comments.
pub(crate) fn uncommented(definition: &Definition) -> String {
    let mut out = String::new();
    write_definition(definition, &BTreeMap::new(), (false, NOT_SHOWN), &mut out);
    out
}

fn body(draft: &Draft, name: &str, comments: bool) -> String {
    let mut out = String::from("version = 1\n\n[keyspace]\n");
    out.push_str(&format!("name = {}\n", quote(name)));
    if !draft.prefix.is_empty() {
        out.push_str(&format!("prefix = {}\n", quote(&draft.prefix)));
    }
    if draft.separator != ':' {
        out.push_str(&format!("separator = {}\n", quote(&draft.separator.to_string())));
    }
    let has_capital = |it: &Definition| it.pieces_text().chars().any(char::is_uppercase);
    if draft.definitions.iter().any(has_capital) || draft.prefix.chars().any(char::is_uppercase) {
        out.push_str("case = \"any\"\n");
    }
    if let Some(db) = draft.db {
        out.push_str(&format!("db = {db}\n"));
    }
    let shared = shared_params(draft);
    if !shared.is_empty() {
        out.push_str("\n[params]\n");
        for (name, ty) in &shared {
            out.push_str(&format!("{name} = {}\n", type_text(ty)));
        }
    }
    for definition in &draft.definitions {
        out.push('\n');
        let shown = if draft.show_keys { draft.prefix.as_str() } else { NOT_SHOWN };
        write_definition(definition, &shared, (comments, shown), &mut out);
    }
    for foreign in &draft.foreign {
        out.push('\n');
        self::foreign(foreign, comments, &mut out);
    }
    out
}

/// Software that is not ours.
pub(crate) fn foreign(software: &Foreign, comments: bool, out: &mut String) {
    if comments {
        comment(out, &format!("{}.", keys(software.keys)));
    }
    let Foreign { id, about, glob, .. } = software;
    out.push_str(&format!("[foreign.{id}]\ndoc = {}\nglob = {}\n", quote(about), quote(glob)));
}

/// Parameters that have the same type in all definitions, and are in more than one or cannot have their type in place.
fn shared_params(draft: &Draft) -> BTreeMap<String, ParamType> {
    let mut found: BTreeMap<String, (usize, Option<ParamType>)> = BTreeMap::new();
    for param in draft.definitions.iter().flat_map(|it| &it.params) {
        let entry = found.entry(param.name.clone()).or_insert((0, Some(param.ty.clone())));
        entry.0 += 1;
        if entry.1.as_ref() != Some(&param.ty) {
            entry.1 = None;
        }
    }
    let is_shared = |(name, (count, ty)): (String, (usize, Option<ParamType>))| {
        let ty = ty?;
        let is_text = ty == ParamType::Named("text".to_owned()) || ty == ParamType::Rest;
        let in_place = matches!(ty, ParamType::Named(_)) && count == 1;
        (!is_text && !in_place).then_some((name, ty))
    };
    found.into_iter().filter_map(is_shared).collect()
}

fn write_definition(
    definition: &Definition,
    shared: &BTreeMap<String, ParamType>,
    (comments, prefix): (bool, &str),
    out: &mut String,
) {
    if comments {
        comment(out, &format!("{}.", keys(definition.keys)));
        definition.notes.iter().for_each(|note| comment(out, note));
        if let Ttl::Mixed { within, percent } = definition.ttl {
            let within = Duration::from_millis(within);
            comment(
                out,
                &format!(
                    "About {percent} % of them expire, within {within}; the others never do. Declare `ttl`."
                ),
            );
        }
        if definition.key_type.is_none() {
            comment(out, "They are of several types.");
        }
        if !definition.holds.json.is_empty() {
            comment(out, &format!("JSON with {}.", definition.holds.json.join(", ")));
        }
    }
    let is_text = |param: &Param| param.ty == ParamType::Named("text".to_owned());
    let in_place = |param: &Param| !is_text(param) && shared.get(&param.name) != Some(&param.ty);
    // A parameter that is text here must not have another type from `[params]`.
    let hidden = |param: &Param| is_text(param) && shared.contains_key(&param.name);
    let pattern = definition.pattern(|param| in_place(param) || hidden(param));
    out.push_str(&format!("[keys.{}]\n", definition.id));
    if let Some(group) = &definition.group {
        out.push_str(&format!("group = {}\n", quote(group)));
    }
    out.push_str(&format!("pattern = {}\n", quote(&pattern)));
    let separators = definition.separators();
    if !separators.is_empty() {
        out.push_str(&format!("separators = {}\n", quote(&separators)));
    }
    let own: Vec<String> = definition
        .params
        .iter()
        .filter(|param| {
            in_place(param) && !matches!(param.ty, ParamType::Named(_) | ParamType::Rest)
        })
        .map(|param| format!("{} = {}", param.name, type_text(&param.ty)))
        .collect();
    if !own.is_empty() {
        out.push_str(&format!("params = {{ {} }}\n", own.join(", ")));
    }
    write_value(definition, out);
    match definition.ttl {
        Ttl::None => out.push_str("ttl = \"none\"\n"),
        Ttl::Within(millis) => {
            out.push_str(&format!("ttl = \"{}\"\n", Duration::from_millis(millis)));
        }
        Ttl::Range(from, to) => {
            let (from, to) = (Duration::from_millis(from), Duration::from_millis(to));
            out.push_str(&format!("ttl = \"{from}..{to}\"\n"));
        }
        Ttl::Caller(max) => {
            let max = Duration::from_millis(max);
            out.push_str(&format!("ttl = {{ caller = true, max = \"{max}\" }}\n"));
        }
        Ttl::By(number) => write_decided(definition, number, out),
        Ttl::Mixed { .. } | Ttl::Unknown => {}
    }
    if definition.sliding {
        out.push_str("sliding = true\n");
    }
    if let Some(lifecycle) = definition.lifecycle {
        out.push_str(&format!("lifecycle = \"{lifecycle}\"\n"));
    }
    if let Some(most) = definition.max_len {
        out.push_str(&format!("max_len = {}\n", thousands(most).replace(',', "_")));
    }
    let examples: Vec<String> = definition
        .examples
        .iter()
        .filter_map(|key| str::from_utf8(key).ok()?.strip_prefix(prefix))
        .take(2)
        .map(quote)
        .collect();
    if !examples.is_empty() {
        out.push_str(&format!("examples = [{}]\n", examples.join(", ")));
    }
    if !definition.holds.fields.is_empty() {
        out.push_str(&format!("\n[keys.{}.fields]\n", definition.id));
        for field in &definition.holds.fields {
            out.push_str(&format!("{} = {}\n", bare(&field.name), field_text(field)));
        }
    }
}

/// A TTL that the words of a parameter decide.
fn write_decided(definition: &Definition, number: usize, out: &mut String) {
    let Some(param) = definition.params.get(number) else { return };
    let ttl = |(word, ttl): &(String, u64)| {
        format!("{} = \"{}\"", bare(word), Duration::from_millis(*ttl))
    };
    let ttls: Vec<String> = definition.ttls.iter().map(ttl).collect();
    let values = match &ttls[..] {
        [] => String::new(),
        ttls => format!(", values = {{ {} }}", ttls.join(", ")),
    };
    out.push_str(&format!("ttl = {{ by = \"{}\"{values} }}\n", param.name));
}

fn write_value(definition: &Definition, out: &mut String) {
    let Some(key_type) = &definition.key_type else { return };
    let holds = &definition.holds;
    let value = holds.value.as_ref().map(held_text);
    let written = match (key_type.as_str(), &value) {
        ("string", Some(value)) => format!("value = {value}\n"),
        ("list", Some(value)) => format!("type = \"list\"\nvalue = {value}\n"),
        ("set", Some(value)) => format!("member = {value}\n"),
        ("zset", Some(value)) => match holds.score {
            Some(score) => format!("member = {value}\nscore = \"{score}\"\n"),
            None => format!("type = \"zset\"\nmember = {value}\n"),
        },
        ("hash", _) if !holds.fields.is_empty() => String::new(),
        ("string" | "list" | "set" | "zset" | "hash" | "stream", _) => {
            format!("type = \"{key_type}\"\n")
        }
        _ => format!("type = {{ module = {} }}\n", quote(key_type)),
    };
    out.push_str(&written);
    match holds.open {
        Some(None) => out.push_str("open = true\n"),
        Some(Some(of)) => out.push_str(&format!("open = \"{of}\"\n")),
        None => {}
    }
}

fn field_text(field: &Field) -> String {
    match &field.held {
        Held::Type(name) if field.optional => format!("\"{name}?\""),
        Held::Ref(..) | Held::Key(_) if field.optional => {
            let inside = held_text(&field.held);
            format!("{}, optional = true }}", inside.trim_end_matches(" }"))
        }
        held => held_text(held),
    }
}

fn held_text(held: &Held) -> String {
    match held {
        Held::Type(name) => format!("\"{name}\""),
        Held::Ref(definition, param) => format!("{{ ref = \"{definition}.{param}\" }}"),
        Held::Key(ids) => match &ids[..] {
            [only] => format!("{{ key = \"{only}\" }}"),
            ids => format!("{{ key = [\"{}\"] }}", ids.join("\", \"")),
        },
    }
}

fn type_text(ty: &ParamType) -> String {
    match ty {
        ParamType::Named(name) => quote(name),
        ParamType::Enum(words) => {
            let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            format!("[{}]", words.join(", "))
        }
        ParamType::Without(name, marks) => {
            format!("{{ type = {}, without = {} }}", quote(name), quote(marks))
        }
        ParamType::Regex(regex) => format!("{{ regex = {} }}", literal(regex)),
        ParamType::Rest => quote("text"),
    }
}

fn keys(count: u64) -> String {
    if count == 1 { "1 key".to_owned() } else { format!("{} keys", thousands(count)) }
}

/// Writes a comment, in lines of at most 100 characters. What a key could have put into it stays on its line.
fn comment(out: &mut String, text: &str) {
    const WIDTH: usize = 100;
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        let word: String = word.chars().filter(|char| !char.is_control()).collect();
        if line.chars().count() + word.chars().count() + 1 > WIDTH {
            out.push_str(&line);
            out.push('\n');
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(&word);
    }
    out.push_str(&line);
    out.push('\n');
}

/// A text as a TOML string.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            char if char.is_control() || keyward_fact::is_unseen(char) => {
                out.push_str(&format!("\\U{:08X}", u32::from(char)));
            }
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

/// A regular expression, without escapes where that is possible.
fn literal(text: &str) -> String {
    if text.contains('\'') || text.chars().any(char::is_control) {
        quote(text)
    } else if text.contains('\\') {
        format!("'{text}'")
    } else {
        quote(text)
    }
}

/// A name as a TOML key.
fn bare(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(is_bare) { name.to_owned() } else { quote(name) }
}
