//! Which relations between keys must agree.

use super::context::Context;
use super::prose::Prose;
use keyward_schema::model::{Definition, Law};

impl Context<'_> {
    /// What a relation must agree with, whichever of the two declares it.
    pub(super) fn relations(&self, definition: &Definition) -> Vec<Prose> {
        let words = self.words;
        let name = definition.name.as_str();
        let own = definition.relation.laws().map(|(law, other)| {
            let phrase = match law {
                Law::Inverse if **other == name => words.symmetric,
                Law::Inverse => words.inverse,
                Law::Closure => words.closure,
                Law::Same => words.same_keys,
            };
            Prose::fill(phrase, &[self.definition(other)])
        });
        let others = self.schema.keys.iter().filter(|other| other.name != definition.name);
        let by_others = others.flat_map(|other| {
            let about_it = other.relation.laws().filter(move |(_, named)| ***named == *name);
            about_it.filter_map(move |(law, _)| {
                let phrase = match law {
                    Law::Inverse if definition.relation.inverse.is_some() => return None,
                    Law::Inverse => words.inverse,
                    Law::Closure => words.of_closure,
                    Law::Same => words.same_keys,
                };
                Some(Prose::fill(phrase, &[self.definition(&other.name)]))
            })
        });
        own.chain(by_others).collect()
    }
}
