//! What was typed, for hints that can be typed again.

use crate::args::Binding;
use crate::output::printable;
use keyward_pattern::Definition;
use std::path::PathBuf;

/// The options of a command as they were typed.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::commands) struct Typed<'a> {
    /// `--schema`
    pub(super) schemas: &'a [PathBuf],
    /// `--bind`
    pub(super) bindings: &'a [Binding],
}

impl Typed<'_> {
    /// Whether the parameter was given by `--bind`.
    pub(super) fn binds(&self, param: &str) -> bool {
        self.bindings.iter().any(|binding| binding.param == param)
    }

    /// The whole command with what was given, and a word in capitals for each value that is missing.
    pub(super) fn usage(
        &self,
        command: &str,
        definition: &Definition<'_>,
        values: &[Binding],
    ) -> String {
        let mut words = vec![format!("keyward key {command} {}", definition.name())];
        let mut missing = Vec::new();
        for (name, param) in definition.params() {
            if let Some(given) = values.iter().find(|given| given.param == *name) {
                words.push(quoted(&format!("{name}={}", given.value)));
            } else {
                let capitals = name.to_uppercase();
                words.push(format!("{name}={capitals}"));
                missing.push(format!("{capitals} is a value of the type `{param}`"));
            }
        }
        for Binding { param, value } in self.bindings {
            words.push(format!("--bind {}", quoted(&format!("{param}={value}"))));
        }
        for schema in self.schemas {
            words.push(format!("--schema {}", quoted(&schema.display().to_string())));
        }
        let usage = format!("`{}`", printable(&words.join(" ")));
        if missing.is_empty() { usage } else { format!("{usage}, where {}", missing.join(", ")) }
    }
}

/// A word as a shell reads it.
pub(in crate::commands) fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./:@%+,=".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_word_as_it_was() {
        assert_eq!(quoted("user_id=42"), "user_id=42");
        assert_eq!(quoted("q=a b"), "'q=a b'");
        assert_eq!(quoted("q=$it's"), r"'q=$it'\''s'");
    }
}
