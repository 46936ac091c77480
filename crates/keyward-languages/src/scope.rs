//! Names for languages in which a keyspace's keys, types and events share one scope.
//!
//! In the model, names differ only from their like: a key, a type and an event may all be called
//! `user`. Here the second of them gets a word after it that says what it is.

use keyward_codegen::model::{Module, Name, Param, ParamType, Value, Word};
use std::collections::{HashMap, HashSet};

/// How a language writes names.
pub(super) struct Scope {
    /// Identifiers that are taken already
    pub(super) reserved: &'static [&'static str],
    /// The identifiers in the shared scope that come with a thing of this name
    pub(super) identifiers: fn(&Thing<'_>, &Name) -> Vec<String>,
    /// A name as the language spells it
    pub(super) spell: fn(&Name) -> Name,
    /// The name of a parameter or a field, which stands beside our own members
    pub(super) member: fn(Name) -> Name,
}

/// What has a name in the shared scope.
pub(super) enum Thing<'m> {
    Keyspace,
    Key,
    Type(&'m ParamType),
    Event,
    Group,
    Lifecycle,
    Owner,
}

impl Thing<'_> {
    /// The word after a name that is taken.
    fn word(&self) -> &'static str {
        match self {
            Thing::Keyspace => "keys",
            Thing::Key => "key",
            Thing::Type(_) => "value",
            Thing::Event => "event",
            Thing::Group => "group",
            Thing::Lifecycle => "lifecycle",
            Thing::Owner => "owner",
        }
    }
}

impl Scope {
    /// The same keyspace with names that can stand side by side.
    pub(super) fn settle(&self, module: &Module) -> Module {
        let mut settled = module.clone();
        let mut taken: HashSet<String> =
            self.reserved.iter().map(|&name| name.to_owned()).collect();
        let mut claim = |thing: &Thing<'_>, name: &Name| self.claim(thing, name, &mut taken);
        settled.name = claim(&Thing::Keyspace, &module.name);
        for key in &mut settled.keys {
            key.name = claim(&Thing::Key, &key.name);
        }
        let mut types = HashMap::new();
        for ty in &module.types {
            types.insert(ty.name.flat.clone(), claim(&Thing::Type(ty), &ty.name));
        }
        for event in &mut settled.events {
            event.name = claim(&Thing::Event, &event.name);
        }
        for (thing, selections) in [
            (Thing::Group, &mut settled.groups),
            (Thing::Lifecycle, &mut settled.lifecycles),
            (Thing::Owner, &mut settled.owners),
        ] {
            for selection in selections {
                selection.name = claim(&thing, &selection.name);
            }
        }
        self.inside(&mut settled, &types);
        settled
    }

    /// The first name whose identifiers are all free.
    fn claim(&self, thing: &Thing<'_>, name: &Name, taken: &mut HashSet<String>) -> Name {
        let word = thing.word();
        for number in 0.. {
            let tried = match number {
                0 => name.clone(),
                1 => with(name, &format!("{}_{word}", name.snake)),
                _ => with(name, &format!("{}_{word}_{number}", name.snake)),
            };
            let tried = (self.spell)(&tried);
            let identifiers = (self.identifiers)(thing, &tried);
            if identifiers.iter().all(|identifier| !taken.contains(identifier)) {
                taken.extend(identifiers);
                return tried;
            }
        }
        name.clone()
    }

    /// Names that are no one else's business: parameters, fields, words; and types where they are used.
    fn inside(&self, module: &mut Module, types: &HashMap<String, Name>) {
        let rename = |ty: &mut ParamType| {
            if matches!(ty.kind, "enum" | "text" | "key")
                && let Some(name) = types.get(&ty.name.flat)
            {
                ty.name = name.clone();
            }
            self.words(&mut ty.words);
        };
        let params = |params: &mut Vec<Param>| {
            for param in params {
                param.name = (self.member)((self.spell)(&param.name));
                rename(&mut param.ty);
            }
        };
        params(&mut module.prefix.params);
        module.types.iter_mut().for_each(rename);
        for key in &mut module.keys {
            params(&mut key.params);
            for field in &mut key.fields {
                field.name = (self.member)((self.spell)(&field.name));
            }
            let fields = key.fields.iter_mut().map(|field| &mut field.value);
            let values = [&mut key.value, &mut key.member, &mut key.score];
            for value in values.into_iter().flatten().chain(fields) {
                self.value(value, &rename);
            }
            if let Some(by) = key.ttl.as_mut().and_then(|ttl| ttl.by.as_mut()) {
                *by = (self.member)((self.spell)(by));
            }
        }
        for event in &mut module.events {
            params(&mut event.params);
            for binding in event.invalidates.iter_mut().flat_map(|it| &mut it.bindings) {
                self.words(binding.word.as_mut_slice());
            }
        }
    }

    fn value(&self, value: &mut Value, rename: &dyn Fn(&mut ParamType)) {
        self.words(&mut value.words);
        value.of.as_mut().map(rename);
        if let Some(items) = &mut value.items {
            self.value(items, rename);
        }
    }

    fn words(&self, words: &mut [Word]) {
        for word in words {
            word.name = (self.spell)(&word.name);
        }
    }
}

/// The same thing under another name.
fn with(name: &Name, written: &str) -> Name {
    Name { id: name.id.clone(), ..Name::new(written) }
}
