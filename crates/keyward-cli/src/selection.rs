//! Which definitions a command works on: `--group`, `--lifecycle`, `--owner`.

use crate::args::Selection;
use crate::failure::{Failure, Result};
use keyward_schema::model::{Definition, Schema};
use keyward_schema::span::Spanned;

impl Selection {
    /// Whether a definition is meant: of one of the groups, one of the lifecycles and one of the
    /// owners, as far as some were named.
    pub(crate) fn takes(&self, definition: &Definition) -> bool {
        any_or_empty(&self.groups, definition.group.as_ref())
            && any_or_empty(&self.owners, definition.owner.as_ref())
            && (self.lifecycles.is_empty() || self.lifecycles.contains(&definition.lifecycle))
    }

    /// Refuses a name that no definition has: it is misspelt.
    pub(crate) fn check(&self, schemas: &[Schema]) -> Result<()> {
        let definitions = || schemas.iter().flat_map(|schema| &schema.keys);
        let groups = || definitions().filter_map(|definition| definition.group.as_ref());
        let owners = || definitions().filter_map(|definition| definition.owner.as_ref());
        known("group", &self.groups, &groups().collect::<Vec<_>>())?;
        known("owner", &self.owners, &owners().collect::<Vec<_>>())
    }
}

fn any_or_empty(wanted: &[String], has: Option<&Spanned<String>>) -> bool {
    wanted.is_empty() || has.is_some_and(|has| wanted.contains(&has.value))
}

fn known(what: &str, wanted: &[String], there: &[&Spanned<String>]) -> Result<()> {
    let names = || there.iter().map(|name| name.value.as_str());
    match wanted.iter().find(|wanted| !names().any(|name| name == wanted.as_str())) {
        None => Ok(()),
        Some(wrong) => Err(Failure::new(format!("no definition has the {what} `{wrong}`")).one_of(
            wrong,
            names(),
            &format!("declare a `{what}` for definitions in the schema first"),
        )),
    }
}
