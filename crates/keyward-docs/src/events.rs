//! What invalidates keys.

use super::context::{Context, doc, written};
use super::page::{Event, Invalidated, Invalidates};
use super::prose::{Prose, Target};
use keyward_pattern::Part;
use keyward_schema::model::{self, BindingSource, Definition, Invalidate, Invalidation};

impl<'a> Context<'a> {
    /// The events that the page shows.
    pub(super) fn events(&self) -> Vec<Event> {
        let described = |(number, target): &(usize, Target)| {
            let event = &self.schema.events[*number];
            let invalidates = event.invalidates.iter().filter_map(|call| {
                let definition = self.find(&call.definition)?;
                Some(Invalidates {
                    definition: self.definition(&definition.name),
                    keys: self.invalidated(definition, event, call),
                })
            });
            Event {
                target: target.clone(),
                doc: doc(event.doc.as_ref()),
                params: event.params.iter().map(|it| self.param(it, None, false)).collect(),
                invalidates: invalidates.collect(),
            }
        };
        self.anchors.events.iter().map(described).collect()
    }

    /// The keys that a call means: the event's parameters in braces, `*` where any value is meant.
    pub(super) fn invalidated(
        &self,
        definition: &'a Definition,
        event: &model::Event,
        call: &Invalidation,
    ) -> Invalidated {
        let one = |(part, in_prefix): (&Part, bool)| match part {
            Part::Hole(hole) if !in_prefix => {
                let written = match source(event, call, &hole.name) {
                    BindingSource::Param(name) => format!("{{{name}}}"),
                    BindingSource::Word(word) => word,
                    BindingSource::Free => "*".to_owned(),
                };
                if hole.tag { format!("{{{written}}}") } else { written }
            }
            part => written(part),
        };
        let refreshed = call.refresh.then(|| Prose::fill(self.words.refreshed, &[]));
        let how = self.resolved(definition, event, call).into_iter().chain(refreshed);
        Invalidated {
            pattern: self.parts(&definition.pattern).map(one).collect(),
            how: Some(self.words.listed(how)).filter(|how| !how.is_empty()),
        }
    }

    /// How the keys that a call means are found, if it may be many.
    fn resolved(
        &self,
        definition: &Definition,
        event: &model::Event,
        call: &Invalidation,
    ) -> Option<Prose> {
        let words = self.words;
        let mut holes = definition.pattern.holes();
        let is_free = holes.any(|hole| source(event, call, &hole.name) == BindingSource::Free);
        let how = definition.invalidate.as_ref().map(|how| how.value);
        let phrase = match how {
            Some(Invalidate::Index) => words.by_index,
            Some(Invalidate::Scan) => words.by_scan,
            None => words.unresolved,
        };
        is_free.then(|| Prose::fill(phrase, &[]))
    }
}

/// Where a parameter's value comes from; parameters of the same name bind themselves.
fn source(event: &model::Event, call: &Invalidation, param: &str) -> BindingSource {
    let same_name = || event.params.iter().any(|it| *it.name == param);
    match call.bindings.iter().find(|binding| binding.param == param) {
        Some(binding) => binding.source.clone(),
        None if call.rest_free && !same_name() => BindingSource::Free,
        None => BindingSource::Param(param.to_owned()),
    }
}
