//! What the schema says about whoever is forgotten: where they may be named.

use super::places::{Spot, spots};
use super::{Forget, Way, beside, links_to};
use crate::document::{ERASE_PARTS, Row};
use crate::error::Error;
use keyward_pattern::{Keyspace, Param, Template, Type};
use keyward_schema::Schema;
use keyward_schema::model::Derived;
use std::borrow::Cow;

impl Forget<'_> {
    /// Whether a parameter of a definition is the one that is asked for.
    fn is_meant(&self, definition: &str, param: &str) -> bool {
        let (of, name) = self.subject.parts();
        name == param && of.is_none_or(|of| of == definition)
    }

    /// One id may be that of several people, each in a keyspace of their own.
    pub(super) fn expect_bound(&self) -> Result<(), Error> {
        let prefix = self.schema.keyspace.prefix.as_ref();
        let (_, name) = self.subject.parts();
        for hole in prefix.iter().flat_map(|it| it.holes()) {
            if hole.name != name && !self.bound.contains_key(&hole.name) {
                return Err(Error::refused(
                    format!("the prefix has a parameter `{}`: whose keys are meant?", hole.name),
                    format!("give its value: `--bind {}=…`", hole.name),
                ));
            }
        }
        Ok(())
    }

    /// Whether the prefix names them: then whatever refers to what is theirs is theirs too.
    fn is_in_prefix(&self) -> bool {
        let (of, name) = self.subject.parts();
        let mut holes = self.schema.keyspace.prefix.iter().flat_map(|it| it.holes());
        of.is_none() && holes.any(|hole| hole.name == name)
    }

    pub(super) fn read_definitions(&mut self) -> Result<(), Error> {
        let schema = self.schema;
        let (mut is_known, mut fits) = (false, false);
        for (definition, compiled) in schema.keys.iter().zip(schema.compiled.definitions()) {
            let mut way = Way::default();
            for (name, param) in compiled.params() {
                let is_meant = self.is_meant(&definition.name, name);
                is_known |= is_meant;
                let value = is_meant.then(|| canonical(schema, param, &self.value)).flatten();
                fits |= value.is_some();
                way.params.push(value);
                way.holds_keys |= matches!(param.ty, Type::Key(_));
            }
            self.ways.push(way);
        }
        if !is_known {
            let (_, name) = self.subject.parts();
            let all = schema.keys.iter().flat_map(|it| &it.params).map(|it| it.name.as_str());
            let near = keyward_pattern::nearest(name, all);
            let help = near.map_or_else(
                || "name a parameter of a pattern: `user_id=…`, or `user.id=…`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let why = format!("no definition has a parameter `{}`", self.subject.param);
            return Err(Error::refused(why, help));
        }
        if !fits {
            return Err(Error::refused(
                format!("the value is not one of `{}`", self.subject.param),
                "look at its type in the schema",
            ));
        }
        let all: Vec<Vec<Spot>> =
            schema.keys.iter().map(|it| spots(schema, it, &|d, p| self.is_meant(d, p))).collect();
        for (way, spots) in self.ways.iter_mut().zip(all) {
            way.spots = spots;
        }
        // What nobody is removed from is not looked for.
        let goes: Vec<bool> = self.ways.iter().map(Way::may_go).collect();
        let is_prefix = self.is_in_prefix();
        for way in &mut self.ways {
            let is_possible =
                |spot: &Spot| spot.is_person() || (!is_prefix && spot.whose.is_possible(&goes));
            way.spots.retain(is_possible);
            self.gathers |= way.spots.iter().any(|spot| !spot.is_person());
        }
        for (at, definition) in schema.keys.iter().enumerate() {
            let links = links_to(schema, definition).any(|of| goes[of]);
            self.gathers |= links && !is_prefix;
            let way = &self.ways[at];
            let pattern = definition.pattern.as_str();
            if way.is_named() || links || way.takes_key() {
                self.ways[at].by_name = self.rows.len();
                self.rows.push(row("erase", &definition.name, pattern));
            }
            let way = &self.ways[at];
            let has_index = schema.derived(definition).contains(&Derived::Index) && goes[at];
            if has_index || way.spots.iter().any(|spot| !spot.place.takes_key()) {
                self.ways[at].by_value = self.rows.len();
                self.rows.push(row(ERASE_PARTS, &definition.name, pattern));
            }
        }
        Ok(())
    }

    pub(super) fn read_old_names(&mut self) {
        for names in self.schema.old_names_by_db() {
            let mut rows = Vec::new();
            for (_, rename) in &names.renames {
                rows.push(self.rows.len());
                self.rows.push(row("erase", &rename.definition, rename.from.as_str()));
            }
            self.old.push((names, rows));
        }
    }

    /// All keys, if each is known: none has another parameter, and no value needs to be looked at.
    pub(super) fn all_known(&self) -> Option<Vec<String>> {
        let schema = self.schema;
        let mut keys = Vec::new();
        for (definition, (compiled, way)) in
            schema.keys.iter().zip(schema.compiled.definitions().zip(&self.ways))
        {
            let has_index = schema.derived(definition).contains(&Derived::Index);
            if way.holds_keys || !way.spots.is_empty() || (has_index && way.may_go()) {
                return None;
            }
            if !way.is_named() {
                continue;
            }
            let named = compiled.params().iter().zip(&way.params);
            let named: Vec<(&str, &str)> = named
                .filter_map(|((name, _), value)| {
                    let value = value.as_deref().or(self.bound.get(name).map(String::as_str));
                    Some((name.as_str(), value?))
                })
                .collect();
            let key = compiled.build_named(&named).ok()?;
            for (names, _) in &self.old {
                for (number, (_, rename)) in names.renames.iter().enumerate() {
                    if *rename.definition != *definition.name {
                        continue;
                    }
                    if names.db.is_some() {
                        return None;
                    }
                    let old = names.old_name(number, key.as_bytes()).ok()?;
                    keys.extend(beside(schema, definition, &key, &old));
                    keys.push(old);
                }
            }
            keys.extend(beside(schema, definition, &key, &key));
            keys.push(key);
        }
        Some(keys)
    }
}

fn row(action: &str, definition: &str, keys: &str) -> Row {
    Row { destructive: true, not_undoable: true, ..Row::new(action, definition, keys) }
}

/// The value as keys spell it, where it is one of the type.
fn canonical(schema: &Schema, param: &Param, value: &str) -> Option<String> {
    let mut builder = Keyspace::builder(*schema.keyspace.separator).ok()?;
    let id = builder.define("it", &Template::parse("{it}").ok()?, |_| Some(param.clone()));
    let alone = builder.finish().ok()?;
    let key = alone.definition(id).build_named(&[("it", value)]).ok()?;
    alone.definition(id).parse(key.as_bytes())?.pop().map(Cow::into_owned)
}
