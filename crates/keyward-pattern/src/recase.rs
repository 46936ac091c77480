//! A parameter whose letters change their case from an old name to a new one.

/// The case of a value's ASCII letters under the new name; the old name spells them in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recase {
    /// The new name is in lower case, the old one in upper case
    Lower,
    /// The new name is in upper case, the old one in lower case
    Upper,
}

impl Recase {
    /// As a schema writes it.
    pub fn name(self) -> &'static str {
        match self {
            Recase::Lower => "lower",
            Recase::Upper => "upper",
        }
    }

    /// A value of the old name as the new one has it.
    pub fn new_value(self, old: &str) -> String {
        match self {
            Recase::Lower => old.to_ascii_lowercase(),
            Recase::Upper => old.to_ascii_uppercase(),
        }
    }

    /// A value of the new name as the old one has it.
    pub fn old_value(self, new: &str) -> String {
        match self {
            Recase::Lower => new.to_ascii_uppercase(),
            Recase::Upper => new.to_ascii_lowercase(),
        }
    }

    /// A byte of the old name's value as the new one has it.
    #[cfg(feature = "prove")]
    pub(crate) fn new_byte(self, old: u8) -> u8 {
        match self {
            Recase::Lower => old.to_ascii_lowercase(),
            Recase::Upper => old.to_ascii_uppercase(),
        }
    }
}
