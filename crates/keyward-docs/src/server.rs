//! What the server must be set to.

use super::context::Context;
use super::page::{Server, Setting};
use super::prose::Prose;
use keyward_schema::model::Policy;

impl Context<'_> {
    /// `[server]` and `[alerts]`.
    pub(super) fn server(&self) -> Server {
        let words = self.words;
        let server = &self.schema.server;
        let mut settings = Vec::new();
        let mut add = |name: &str, value: String, meaning: Option<Prose>| {
            settings.push(Setting { name: name.to_owned(), value, meaning });
        };
        let plain = |phrase: &str| Some(Prose::fill(phrase, &[]));
        if let Some(size) = &server.maxmemory {
            add("maxmemory", size.to_string(), plain(words.maxmemory));
        }
        if let Some(policy) = &server.maxmemory_policy {
            let phrase = match policy.value {
                Policy::Noeviction => words.noeviction,
                policy if policy.evicts_persistent() => words.allkeys,
                _ => words.volatile,
            };
            add("maxmemory-policy", policy.name().to_owned(), plain(phrase));
        }
        if let Some(save) = &server.save {
            let phrase = if save.is_empty() { words.save_off } else { words.save };
            add("save", save.value.clone(), plain(phrase));
        }
        if let Some(appendonly) = &server.appendonly {
            let (value, phrase) = if appendonly.value {
                ("yes", words.appendonly)
            } else {
                ("no", words.appendonly_off)
            };
            add("appendonly", value.to_owned(), plain(phrase));
        }
        for (name, value) in &server.other {
            add(name, value.value.clone(), None);
        }
        let alert = self.schema.alerts.memory.as_ref();
        let alert =
            alert.map(|share| Prose::say(words.alert_memory, &[&words.percentage(share.value)]));
        let lines: Vec<String> = settings.iter().map(conf_line).collect();
        Server { conf: lines.join("\n"), settings, alert }
    }
}

/// A line of `redis.conf`. Arguments are parted by spaces there, so only what cannot stand alone is
/// quoted.
fn conf_line(setting: &Setting) -> String {
    let value = &setting.value;
    let awkward = |char: char| char.is_control() || char == '"' || char == '\'' || char == '\\';
    if value.is_empty() || value.contains(awkward) {
        let mut quoted = String::new();
        for char in value.chars() {
            match char {
                '\n' => quoted.push_str("\\n"),
                '\r' => quoted.push_str("\\r"),
                '\t' => quoted.push_str("\\t"),
                '"' | '\\' => quoted.extend(['\\', char]),
                char if char.is_control() => quoted.push('\u{fffd}'),
                char => quoted.push(char),
            }
        }
        return format!("{} \"{quoted}\"", setting.name);
    }
    format!("{} {value}", setting.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_add_a_line() {
        let line = |value: &str| {
            conf_line(&Setting { name: "a".into(), value: value.into(), meaning: None })
        };
        assert_eq!(line("900 1"), "a 900 1");
        assert_eq!(line(""), "a \"\"");
        assert_eq!(line("x\nrequirepass \"y\""), r#"a "x\nrequirepass \"y\"""#);
    }
}
