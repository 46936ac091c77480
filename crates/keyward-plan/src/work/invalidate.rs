//! `plan invalidate`: what an event removes.

use super::drop::glob_of;
use super::{Work, beside, covering};
use crate::change::Change;
use crate::document::Row;
use crate::error::Error;
use keyward_schema::Schema;
use keyward_schema::model::{BindingSource, Invalidation};
use std::collections::BTreeMap;

/// An event with the values of its parameters.
pub(super) struct Invalidate<'s> {
    schema: &'s Schema,
    /// The definitions, each with a glob and the values that a key must have
    calls: Vec<Call>,
}

struct Call {
    definition: usize,
    glob: String,
    values: Vec<(usize, String)>,
}

impl<'s> Invalidate<'s> {
    pub(super) fn new(
        schema: &'s Schema,
        event: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<Self, Error> {
        let Some(found) = schema.events.iter().find(|it| *it.name == *event) else {
            let names = schema.events.iter().map(|it| it.name.as_str());
            let near = keyward_pattern::nearest(event, names);
            let help = near.map_or_else(
                || "`[events]` of the schema lists them".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(Error::refused(format!("the schema has no event `{event}`"), help));
        };
        let needed = found.params.iter().map(|it| it.name.as_str());
        if let Some(missing) = needed.clone().find(|name| !values.contains_key(*name)) {
            return Err(Error::refused(
                format!("the event `{event}` needs a value for `{missing}`"),
                format!("write `{missing}=…` behind the event"),
            ));
        }
        if let Some(unknown) = values.keys().find(|name| needed.clone().all(|it| it != **name)) {
            let all: Vec<String> = needed.map(|it| format!("`{it}`")).collect();
            return Err(Error::refused(
                format!("the event `{event}` has no parameter `{unknown}`"),
                format!(
                    "it has {}",
                    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
                ),
            ));
        }
        let mut calls = Vec::new();
        for invalidation in &found.invalidates {
            calls.push(Call::new(schema, invalidation, values)?);
        }
        Ok(Invalidate { schema, calls })
    }
}

impl Call {
    fn new(
        schema: &Schema,
        invalidation: &Invalidation,
        values: &BTreeMap<String, String>,
    ) -> Result<Self, Error> {
        let name = &invalidation.definition;
        let found = schema.compiled.find(name);
        let id = found.ok_or_else(|| {
            Error::refused(format!("the schema has no definition `{name}`"), "run `keyward check`")
        })?;
        let compiled = schema.compiled.definition(id);
        let mut bound = BTreeMap::new();
        for (param, _) in compiled.params() {
            if invalidation.leaves_free(param) {
                continue;
            }
            let written = invalidation.bindings.iter().find(|it| it.param == *param);
            let value = match written.map(|it| &it.source) {
                Some(BindingSource::Word(word)) => Some(word),
                Some(BindingSource::Param(event)) => values.get(event),
                Some(BindingSource::Free) => None,
                None => values.get(param),
            };
            // Those of the prefix are bound by who connects, if at all.
            bound.extend(value.map(|value| (param.clone(), value.clone())));
        }
        let glob = glob_of(schema, id, &bound)?;
        let at = |name: &str| compiled.params().iter().position(|(it, _)| it == name);
        let values = bound.into_iter().filter_map(|(name, value)| Some((at(&name)?, value)));
        Ok(Call { definition: id.index(), glob, values: values.collect() })
    }
}

impl Work for Invalidate<'_> {
    fn rows(&self) -> Vec<Row> {
        let row = |call: &Call| {
            let definition = &self.schema.keys[call.definition];
            Row {
                destructive: true,
                not_undoable: true,
                ..Row::new("invalidate", &definition.name, &call.glob)
            }
        };
        self.calls.iter().map(row).collect()
    }

    fn pick(&self, _: Option<u64>, key: &[u8]) -> Option<(usize, Change)> {
        let mut values = Vec::new();
        let id = self.schema.compiled.parse_into(key, &mut values)?;
        let is_meant = |call: &Call| {
            call.definition == id.index()
                && call
                    .values
                    .iter()
                    .all(|(at, value)| values.get(*at).is_some_and(|it| it == value))
        };
        let row = self.calls.iter().position(is_meant)?;
        let key = std::str::from_utf8(key).ok()?;
        let definition = self.schema.keys.get(id.index())?;
        Some((row, Change::Discard { beside: beside(self.schema, definition, key, key) }))
    }

    fn repeats(&self) -> bool {
        false
    }

    fn glob(&self) -> Option<String> {
        covering(&self.calls.iter().map(|call| call.glob.clone()).collect::<Vec<_>>())
    }
}
