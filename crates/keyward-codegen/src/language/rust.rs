//! Rust.

use super::Template;

pub(super) const TEMPLATES: &[Template] = &[];
