//! Python.

use super::Template;
use crate::model::Module;

pub(super) const TEMPLATES: &[Template] = &[];

pub(super) fn settle(module: &Module) -> Module {
    module.clone()
}
