//! A definition's number.

/// A definition's number: they count from zero in the order they were defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionId(pub u32);

impl DefinitionId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
