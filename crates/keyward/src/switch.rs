//! What is on or off.

/// What a flag holds: `bool`, or words that the schema declares, such as `enabled` and `disabled`.
pub trait Switch {
    /// Whether it is on.
    fn is_on(&self) -> bool;
}

impl Switch for bool {
    fn is_on(&self) -> bool {
        *self
    }
}
