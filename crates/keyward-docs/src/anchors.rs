//! Where everything is on a page. In Markdown a heading's anchor is made from its words, so that the
//! same words twice give different anchors, in the order of the page: `events`, `events-1`.

use super::Words;
use super::page::Sections;
use super::prose::Target;
use keyward_schema::Schema;
use keyward_schema::model::TextPipeline;
use std::collections::HashMap;

/// The places of sections, groups, definitions and events.
pub(super) struct Anchors {
    pub(super) title: String,
    pub(super) sections: Sections,
    /// The groups that have definitions, in order, by name
    pub(super) groups: Groups,
    /// The definitions, by name
    pub(super) definitions: HashMap<String, Target>,
    /// The text pipelines that are shown, by number
    pub(super) texts: Vec<(usize, Target)>,
    /// The events, by number
    pub(super) events: Vec<(usize, Target)>,
}

/// Groups by name, in order; what has no group has no name.
type Groups = Vec<(Option<String>, Target)>;

impl Anchors {
    /// Goes through the headings in the order of the template.
    pub(super) fn new(
        schema: &Schema,
        selected: &[usize],
        events: &[usize],
        words: &Words,
    ) -> Self {
        let mut slugs = Slugs::default();
        let title = words.title.replace("{0}", &schema.keyspace.name);
        slugs.next(&title);
        slugs.next(words.contents);
        let section = |slugs: &mut Slugs, id: &str, title: &str, there: bool| {
            there.then(|| slugs.target(title, id.to_owned()))
        };
        let shown = || selected.iter().map(|&number| &schema.keys[number]);
        let has_renames = schema.migrations.iter().flat_map(|it| &it.renames).any(|rename| {
            shown().any(|definition| definition.name.value == rename.definition.value)
        });
        let has_accepted = !schema.allow.is_empty()
            || shown().any(|definition| !definition.allow.is_empty())
            || events.iter().any(|&number| !schema.events[number].allow.is_empty())
            || has_renames && schema.migrations.iter().any(|it| !it.allow.is_empty());
        let server = &schema.server;
        let has_server = server.maxmemory.is_some()
            || server.maxmemory_policy.is_some()
            || server.save.is_some()
            || server.appendonly.is_some()
            || !server.other.is_empty()
            || schema.alerts.memory.is_some();
        let has_owners = shown().any(|definition| definition.owner.is_some());

        let overview = section(&mut slugs, "overview", words.overview, true);
        let lifecycles = section(&mut slugs, "lifecycles", words.lifecycles, !selected.is_empty());
        let owners = section(&mut slugs, "owners", words.owners, has_owners);
        let layout = section(&mut slugs, "layout", words.layout, schema.layout.is_some());
        let is_shown = |text: &TextPipeline| {
            let mut params = shown().flat_map(|definition| &definition.params);
            params.any(|param| param.from.as_ref().is_some_and(|from| **from == *text.name))
        };
        let texts = schema.texts.iter().enumerate().filter(|(_, text)| is_shown(text));
        let texts: Vec<(usize, &str)> = texts.map(|(at, text)| (at, text.name.as_str())).collect();
        let has_texts = section(&mut slugs, "texts", words.texts, !texts.is_empty());
        let texts = texts.into_iter();
        let texts = texts.map(|(at, name)| (at, slugs.target(name, format!("text-{name}"))));
        let texts = texts.collect();
        let (groups, definitions) = keys(schema, selected, words, &mut slugs);
        let ttls = section(&mut slugs, "ttls", words.ttls, !selected.is_empty());
        let has_events = section(&mut slugs, "events", words.events, !events.is_empty());
        let operations = section(&mut slugs, "operations", words.operations, !selected.is_empty());
        let server = section(&mut slugs, "server", words.server, has_server);
        let migrations = section(&mut slugs, "migrations", words.migrations, has_renames);
        let foreign = section(&mut slugs, "foreign", words.foreign, !schema.foreign.is_empty());
        let has_checklist = !schema.checklist.is_empty();
        let checklist = section(&mut slugs, "checklist", words.checklist, has_checklist);
        let accepted = section(&mut slugs, "accepted", words.accepted, has_accepted);

        // In Markdown, events are lines of one table.
        let anchor = has_events.as_ref().map(|section| section.anchor.clone()).unwrap_or_default();
        let event = |&number: &usize| {
            let name = schema.events[number].name.value.clone();
            (number, Target { id: format!("event-{name}"), anchor: anchor.clone(), name })
        };
        Anchors {
            title,
            groups,
            definitions,
            texts,
            events: events.iter().map(event).collect(),
            sections: Sections {
                overview,
                lifecycles,
                owners,
                ttls,
                events: has_events,
                operations,
                server,
                layout,
                texts: has_texts,
                migrations,
                foreign,
                checklist,
                accepted,
            },
        }
    }
}

/// The groups with their headings, and the definitions in the order of the groups.
fn keys(
    schema: &Schema,
    selected: &[usize],
    words: &Words,
    slugs: &mut Slugs,
) -> (Groups, HashMap<String, Target>) {
    let shown = || selected.iter().map(|&number| &schema.keys[number]);
    let group_of = |number: usize| schema.keys[number].group.as_ref().map(|group| &group.value);
    // Declared groups come in the order of their declarations, others as they are met.
    let mut names: Vec<Option<&String>> = Vec::new();
    let declared = schema.groups.iter().map(|group| &group.name.value);
    let used = selected.iter().filter_map(|&number| group_of(number));
    for name in declared.chain(used) {
        let is_used = shown().any(|it| it.group.as_ref().is_some_and(|group| group.value == *name));
        if is_used && !names.contains(&Some(name)) {
            names.push(Some(name));
        }
    }
    let grouped = !names.is_empty();
    if shown().any(|definition| definition.group.is_none()) {
        names.push(None);
    }
    let mut groups = Vec::new();
    let mut definitions = HashMap::new();
    for name in names {
        let title = match name {
            Some(name) => words.keys_of.replace("{0}", name),
            None if grouped => words.keys_ungrouped.to_owned(),
            None => words.keys.to_owned(),
        };
        let id = name.map_or_else(|| "keys".to_owned(), |name| format!("group-{name}"));
        groups.push((name.cloned(), slugs.target(&title, id)));
        for definition in shown().filter(|it| it.group.as_ref().map(|group| &group.value) == name) {
            let name = definition.name.value.clone();
            let target = slugs.target(&name, format!("key-{name}"));
            definitions.insert(name, target);
        }
    }
    (groups, definitions)
}

/// Anchors as GitHub makes them.
#[derive(Default)]
struct Slugs {
    used: HashMap<String, usize>,
}

impl Slugs {
    fn target(&mut self, title: &str, id: String) -> Target {
        Target { name: title.to_owned(), anchor: self.next(title), id }
    }

    fn next(&mut self, title: &str) -> String {
        let slug: String = title
            .to_lowercase()
            .chars()
            .filter(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_'))
            .map(|char| if char == ' ' { '-' } else { char })
            .collect();
        let mut anchor = slug.clone();
        while self.used.contains_key(&anchor) {
            let count = self.used.entry(slug.clone()).or_default();
            *count += 1;
            anchor = format!("{slug}-{count}");
        }
        self.used.insert(anchor.clone(), 0);
        anchor
    }
}
