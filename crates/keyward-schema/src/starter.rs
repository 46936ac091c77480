//! The schema that `keyward init` writes.

/// A commented schema to start from. It loads without errors, and names the JSON Schema that stands
/// beside it for editors.
pub fn starter() -> String {
    include_str!("starter.toml").to_owned()
}
