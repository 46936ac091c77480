//! The keyspace as a whole: what holds for every key, lifecycles, owners.

use super::context::{Context, doc};
use super::page::{self, Fact};
use super::prose::Prose;
use keyward_pattern::Template;
use keyward_schema::model::{Case, Lifecycle};

impl Context<'_> {
    /// `[keyspace]` and `[defaults]`.
    pub(super) fn keyspace(&self) -> page::Keyspace {
        let words = self.words;
        let keyspace = &self.schema.keyspace;
        let fact = |label: &str, value: Prose| Fact { label: label.to_owned(), value };
        let prefix = self.keyspace.prefix().map(|prefix| {
            Prose::code(prefix.parts().iter().map(super::context::written).collect::<String>())
        });
        let case = match keyspace.case.value {
            Case::Lower => words.case_lower,
            Case::Any => words.case_any,
        };
        let mut facts = vec![
            fact(words.prefix, prefix.unwrap_or_else(|| Prose::text(words.no_prefix))),
            fact(words.separator, Prose::code(keyspace.separator.to_string())),
            fact(words.case, Prose::text(case)),
        ];
        if let Some(len) = &keyspace.max_key_len {
            let len = Prose::say(words.bytes, &[&words.number(len.value)]);
            facts.push(fact(words.max_key_len, len));
        }
        if let Some(db) = &keyspace.db {
            facts.push(fact(words.database, Prose::text(db.to_string())));
        }
        if keyspace.cluster.value {
            facts.push(fact(words.cluster, Prose::text(words.yes)));
        }
        let defaults = self.defaults();
        if !defaults.is_empty() {
            facts.push(fact(words.defaults, words.listed(defaults)));
        }
        if self.schema.plans.require_owner {
            facts.push(fact(words.plans, Prose::text(words.plans_ask_owners)));
        }
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let mut counts = vec![words.counted(words.count_definitions, count(self.selected.len()))];
        if !self.anchors.events.is_empty() {
            let events = count(self.anchors.events.len());
            counts.push(words.counted(words.count_events, events));
        }
        page::Keyspace {
            name: keyspace.name.value.clone(),
            doc: doc(keyspace.doc.as_ref()),
            facts,
            counts,
        }
    }

    fn defaults(&self) -> Vec<Prose> {
        let words = self.words;
        let defaults = &self.schema.defaults;
        let ttl = defaults.ttl.as_ref().map(|ttl| {
            let mut prose = Prose::text(words.ttl);
            prose.push_text(words.colon, false);
            prose.push(self.ttl_text(Some(&ttl.value)));
            prose
        });
        let len = defaults.max_len.as_ref();
        let len = len.map(|len| Prose::say(words.default_max_len, &[&words.number(len.value)]));
        let bytes = defaults.max_bytes.as_ref();
        let bytes =
            bytes.map(|bytes| Prose::say(words.default_max_bytes, &[&words.size(bytes.value)]));
        let jitter = defaults.jitter.as_ref();
        let jitter = jitter
            .map(|jitter| Prose::say(words.default_jitter, &[&words.percentage(jitter.value)]));
        [ttl, len, bytes, jitter].into_iter().flatten().collect()
    }

    /// A lifecycle's word in the schema and in the page's language.
    pub(super) fn lifecycle_name(&self, lifecycle: Lifecycle) -> page::LifecycleName {
        let words = self.words;
        let title = match lifecycle {
            Lifecycle::Protected => words.protected,
            Lifecycle::Retained => words.retained,
            Lifecycle::Session => words.session,
            Lifecycle::Cache => words.cached,
            Lifecycle::Temporary => words.temporary,
        };
        page::LifecycleName { name: lifecycle.name(), title }
    }

    /// The lifecycles that some definition has.
    pub(super) fn lifecycles(&self) -> Vec<page::Lifecycle> {
        let words = self.words;
        let policy = self.schema.server.maxmemory_policy.as_ref().map(|policy| policy.value);
        Lifecycle::ALL
            .into_iter()
            .filter(|lifecycle| self.shown().any(|it| it.lifecycle == *lifecycle))
            .map(|lifecycle| {
                let any = words.any_policy;
                let (meaning, needs) = match lifecycle {
                    Lifecycle::Protected => (words.protected_means, words.protected_needs),
                    Lifecycle::Retained => (words.retained_means, words.retained_needs),
                    Lifecycle::Session => (words.session_means, any),
                    Lifecycle::Cache => (words.cached_means, any),
                    Lifecycle::Temporary => (words.temporary_means, any),
                };
                let at_risk = policy.is_some_and(|policy| match lifecycle {
                    Lifecycle::Protected => policy.evicts_persistent(),
                    Lifecycle::Retained => policy.evicts_expiring(),
                    _ => false,
                });
                let fits = policy.filter(|_| needs != any).map(|policy| {
                    let phrase = if at_risk { words.fits_not } else { words.fits };
                    Prose::say(phrase, &[policy.name()])
                });
                let own = self.shown().filter(|it| it.lifecycle == lifecycle);
                page::Lifecycle {
                    lifecycle: self.lifecycle_name(lifecycle),
                    meaning: Prose::fill(meaning, &[]),
                    needs: Prose::fill(needs, &[]),
                    fits,
                    at_risk,
                    definitions: own.filter_map(|it| self.target(&it.name).cloned()).collect(),
                }
            })
            .collect()
    }

    /// The owners that some definition has, in the order of their declarations.
    pub(super) fn owners(&self) -> Vec<page::Owner> {
        let mut names: Vec<&str> = Vec::new();
        let declared = self.schema.owners.iter().map(|owner| owner.name.as_str());
        let used = || self.shown().filter_map(|it| it.owner.as_ref()).map(|owner| owner.as_str());
        for name in declared.chain(used()) {
            if !names.contains(&name) && used().any(|used| used == name) {
                names.push(name);
            }
        }
        let owner = |name: &str| {
            let named = self.schema.owners.iter().find(|owner| *owner.name == name);
            let own = self.shown().filter(|it| it.owner.as_ref().is_some_and(|it| **it == name));
            page::Owner {
                name: name.to_owned(),
                doc: named.and_then(|named| doc(named.doc.as_ref())),
                contact: named.and_then(|named| doc(named.contact.as_ref())),
                definitions: own.filter_map(|it| self.target(&it.name).cloned()).collect(),
            }
        };
        names.into_iter().map(owner).collect()
    }

    /// The globs of groups, lifecycles and owners, for batch work.
    pub(super) fn operations(&self) -> Vec<page::Operation> {
        let words = self.words;
        let mut operations = Vec::new();
        if let Some(prefix) = self.keyspace.prefix() {
            let glob = prefix_glob(prefix);
            operations.push(page::Operation {
                title: Prose::text(words.all_keys),
                commands: vec![self.scan(&glob)],
                globs: vec![glob],
                selection: String::new(),
            });
        }
        let groups = self.anchors.groups.iter().filter_map(|(name, _)| name.as_deref());
        for name in groups {
            let is_own = |it: &keyward_schema::model::Definition| {
                it.group.as_ref().is_some_and(|it| **it == name)
            };
            operations.extend(self.operation(words.group, name, name, "group", is_own));
        }
        for lifecycle in Lifecycle::ALL {
            let title = self.lifecycle_name(lifecycle).title;
            let is_own = |it: &keyward_schema::model::Definition| it.lifecycle == lifecycle;
            let operation =
                self.operation(words.lifecycle, title, lifecycle.name(), "lifecycle", is_own);
            operations.extend(operation);
        }
        for owner in self.owners() {
            let is_own = |it: &keyward_schema::model::Definition| {
                it.owner.as_ref().is_some_and(|it| **it == owner.name)
            };
            operations.extend(self.operation(
                words.owner,
                &owner.name,
                &owner.name,
                "owner",
                is_own,
            ));
        }
        operations
    }

    fn operation(
        &self,
        label: &str,
        title: &str,
        name: &str,
        option: &str,
        is_own: impl Fn(&keyward_schema::model::Definition) -> bool,
    ) -> Option<page::Operation> {
        let own = self.shown().filter(|it| is_own(it));
        let mut globs: Vec<String> =
            own.filter_map(|it| self.compiled(it)?.glob_named(&[]).ok()).collect();
        globs.dedup();
        (!globs.is_empty()).then(|| {
            let mut text = Prose::text(label);
            text.push_text(self.words.colon, false);
            text.push_text(title, false);
            page::Operation {
                title: text,
                commands: globs.iter().map(|glob| self.scan(glob)).collect(),
                globs,
                selection: format!("--{option} {}", super::context::quoted(name)),
            }
        })
    }
}

/// The glob that finds every key with the prefix.
fn prefix_glob(prefix: &Template) -> String {
    use keyward_pattern::Part;
    let escaped = |text: &str| {
        let mut glob = String::new();
        for char in text.chars() {
            if matches!(char, '*' | '?' | '[' | ']' | '^' | '\\') {
                glob.push('\\');
            }
            glob.push(char);
        }
        glob
    };
    let parts = prefix.parts().iter().map(|part| match part {
        Part::Literal(text) => escaped(text),
        Part::Hole(hole) if hole.tag => "{*}".to_owned(),
        Part::Hole(_) => "*".to_owned(),
    });
    let glob: String = parts.collect();
    if glob.ends_with('*') { glob } else { glob + "*" }
}
