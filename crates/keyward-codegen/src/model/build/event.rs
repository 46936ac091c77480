//! Events, and what they invalidate.

use super::{Building, text};
use crate::model::name::Names;
use crate::model::{Binding, Event, Invalidation, Key, Name, Param, Word};
use keyward_schema::model::{self, BindingSource, Invalidate};

impl Building<'_> {
    pub(super) fn event_names(&self) -> Vec<Name> {
        let mut names = Names::default();
        self.schema.events.iter().map(|event| names.add(&event.name)).collect()
    }

    pub(super) fn event(
        &self,
        event: &model::Event,
        name: Name,
        params: Vec<Param>,
        keys: &[Key],
    ) -> Event {
        let invalidates = event.invalidates.iter().filter_map(|call| {
            let key = self.schema.keys.iter().position(|key| *key.name == call.definition)?;
            let wanted = keys[key].params.iter();
            let bindings: Vec<Binding> =
                wanted.map(|wanted| self.binding(wanted, call, &params)).collect();
            let resolve = self.schema.keys[key].invalidate.as_ref();
            let resolve = resolve.map(|how| resolution(how.value));
            let exact = bindings.iter().all(|binding| !binding.free);
            Some(Invalidation { key, bindings, exact, resolve, refresh: call.refresh })
        });
        let invalidates = invalidates.collect();
        Event { name, doc: text(event.doc.as_ref()), params, invalidates }
    }

    fn binding(&self, wanted: &Param, call: &model::Invalidation, params: &[Param]) -> Binding {
        let mut made = Binding { param: None, same_type: false, word: None, free: false };
        let written = call.bindings.iter().find(|binding| binding.param == wanted.name.id);
        let source = match written.map(|binding| &binding.source) {
            Some(BindingSource::Word(word)) => {
                let of_enum = wanted.ty.words.iter().find(|known| known.text == *word).cloned();
                made.word = Some(of_enum.unwrap_or_else(|| Word {
                    name: Name::new(word),
                    text: word.clone(),
                    spelling: self.spelled(wanted.ty.language, wanted.ty.encoded, word),
                }));
                return made;
            }
            Some(BindingSource::Param(source)) => source,
            Some(BindingSource::Free) => "",
            None => &wanted.name.id,
        };
        made.param = params.iter().position(|param| param.name.id == source);
        made.same_type = made.param.is_some_and(|at| params[at].ty == wanted.ty);
        made.free = made.param.is_none();
        made
    }
}

/// Lets definitions know which of their parameters an event finds them by in an index.
pub(super) fn note_indexes(events: &[Event], keys: &mut [Key]) {
    for it in events.iter().flat_map(|event| &event.invalidates) {
        if it.exact || it.resolve != Some("index") {
            continue;
        }
        let bound = it.bindings.iter().enumerate().filter(|(_, binding)| !binding.free);
        let bound: Vec<usize> = bound.map(|(at, _)| at).collect();
        let indexes = &mut keys[it.key].behaviour.indexes;
        if !indexes.contains(&bound) {
            indexes.push(bound);
        }
    }
}

pub(super) fn resolution(how: Invalidate) -> &'static str {
    match how {
        Invalidate::Index => "index",
        Invalidate::Scan => "scan",
    }
}
