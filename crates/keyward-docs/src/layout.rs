//! The shape of keys and the words in it.

use super::context::{Context, written};
use super::page::{Layout, Slot};
use super::prose::Prose;
use keyward_pattern::Type;
use keyward_rules::Rule;
use keyward_schema::model::{self, Definition, Words};
use keyward_schema::span::Spanned;

impl Context<'_> {
    /// `[layout]`
    pub(super) fn layout(&self) -> Option<Layout> {
        let layout = self.schema.layout.as_ref()?;
        let reserved = layout.reserved.iter().map(|word| Prose::code(&word.value));
        let note = match self.keyspace.prefix() {
            Some(_) => self.words.layout_note_prefix,
            None => self.words.layout_note,
        };
        Some(Layout {
            note,
            shape: layout.text.value.clone(),
            slots: (0..).zip(&layout.slots).map(|(at, slot)| self.slot(at, slot)).collect(),
            reserved: (!layout.reserved.is_empty()).then(|| self.words.listed(reserved)),
        })
    }

    fn slot(&self, at: usize, slot: &model::Slot) -> Slot {
        let words = self.words;
        let mut notes = Vec::new();
        if let Some(literal) = &slot.literal {
            notes.push(Prose::fill(words.slot_literal, &[Prose::code(literal)]));
        }
        if slot.optional {
            notes.push(Prose::fill(words.slot_optional, &[]));
        }
        if slot.rest {
            notes.push(Prose::fill(words.slot_rest, &[]));
        }
        let listed = |words: &[Spanned<String>]| {
            self.words.listed(words.iter().map(|it| Prose::code(&it.value)))
        };
        let allowed = match &slot.words {
            None if slot.rest || slot.literal.is_some() => Vec::new(),
            None => self.words_at(at).into_iter().collect(),
            Some(Words::Fixed(fixed)) => vec![listed(fixed)],
            Some(Words::By { words: by, .. }) => by
                .iter()
                .map(|(word, allowed)| {
                    let mut line = Prose::fill(words.slot_by, &[Prose::code(&word.value)]);
                    line.push_text(words.colon, false);
                    line.push(listed(allowed));
                    line
                })
                .collect(),
        };
        if notes.is_empty() && allowed.is_empty() {
            notes.push(Prose::fill(words.slot_any, &[]));
        }
        let name = slot.name.clone().or_else(|| slot.literal.clone()).unwrap_or_default();
        Slot { name, notes, words: allowed }
    }

    /// The words that stand in a slot for which none are declared.
    fn words_at(&self, at: usize) -> Option<Prose> {
        let separator = *self.schema.keyspace.separator;
        let mut found: Vec<String> = Vec::new();
        let excepted =
            |it: &&Definition| it.allow.iter().any(|it| *it.rule == Rule::LayoutMismatch.name());
        for definition in self.shown().filter(|it| !excepted(it)) {
            let whole: String = definition.pattern.parts().iter().map(written).collect();
            // A parameter that is a whole key has several segments.
            let spans = |it: &model::ParamDeclaration| matches!(it.param.ty, Type::Key(_));
            let word = whole.split(separator).nth(at);
            if let Some(word) = word.filter(|_| !definition.params.iter().any(spans))
                && !word.contains(['{', '}'])
                && !found.iter().any(|known| known == word)
            {
                found.push(word.to_owned());
            }
        }
        let listed = self.words.listed(found.iter().map(Prose::code));
        (!found.is_empty()).then(|| Prose::fill(self.words.slot_used, &[listed]))
    }
}
