//! What a plan was asked to do.

use crate::error::Error;
use crate::subject::Subject;
use crate::work::queues;
use keyward_fact::thousands;
use keyward_pattern::{Hole, Template, Type, nearest};
use keyward_schema::model::{Definition, Migration, ParamDeclaration, Phase, Rename};
use keyward_schema::{Schema, Spanned};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// What a plan was asked to do. Everything else is worked out from the schema again when it is applied, so that
/// a plan can ask for nothing that its schema does not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// What the phase of a migration says
    Migrate {
        /// The migrations, each with the phase that it was planned for
        migrations: BTreeMap<String, String>,
        /// Values of the prefix's parameters, for old names that lack them
        values: BTreeMap<String, String>,
        /// In `cleanup`: old keys are removed also where the new name has nothing
        remove_lone: bool,
    },
    /// Keys of one pattern get the names of a definition
    Rename {
        /// The old pattern: whole keys, without the prefix
        from: String,
        /// The definition
        to: String,
        /// Values of parameters that the old pattern lacks
        values: BTreeMap<String, String>,
    },
    /// What breaks the rules of the schema, as far as the schema says how it should be
    Fix {
        /// The rules; all that can be repaired if none is named
        rules: Vec<String>,
        /// The day by which migrations are overdue, as `2026-11-15`
        today: String,
    },
    /// What an event invalidates
    Invalidate {
        /// The event
        event: String,
        /// The values of its parameters
        values: BTreeMap<String, String>,
    },
    /// Keys of a definition, of a group, or that a glob matches
    Drop {
        /// Which
        target: Target,
        /// Whether nothing is kept for an undo
        no_backup: bool,
    },
    /// Dead letters are pushed to their queues again
    Requeue(Buried),
    /// Dead letters are removed
    Purge(Buried),
    /// Everything that names a person or tenant is erased
    Forget {
        /// Who
        subject: Subject,
        /// Values of the prefix's parameters
        values: BTreeMap<String, String>,
    },
}

/// Which dead letters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buried {
    /// The definition of the queues, or the key of one
    pub queue: String,
    /// How many at most, the oldest of each queue first
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Of jobs that failed until then, in milliseconds since 1970; [`make`](crate::make) notes the server's time
    pub until: u64,
}

impl Buried {
    /// Those of a queue.
    pub fn new(queue: String, limit: Option<u64>) -> Self {
        Buried { queue, limit, until: 0 }
    }
}

/// Which keys are dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Target {
    /// All keys of a definition, or those with these values of its parameters
    Definition {
        /// Which
        name: String,
        /// The values that are given
        values: BTreeMap<String, String>,
    },
    /// All keys of all definitions of a group
    Group(String),
    /// All keys that a glob matches
    Glob(String),
}

impl Order {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Order::Migrate { .. } | Order::Rename { .. } => "migrate",
            Order::Fix { .. } => "fix",
            Order::Invalidate { .. } => "invalidate",
            Order::Drop { .. } => "drop",
            Order::Requeue(_) => "requeue",
            Order::Purge(_) => "purge",
            Order::Forget { .. } => "forget",
        }
    }

    /// So much of what it changes: `1 key`, `2,000 dead letters`
    pub fn counted(&self, count: u64) -> String {
        let [one, many] = match self {
            Order::Requeue(_) | Order::Purge(_) => ["dead letter", "dead letters"],
            Order::Forget { .. } => ["key or part of a value", "keys and parts of values"],
            _ => ["key", "keys"],
        };
        if count == 1 { format!("1 {one}") } else { format!("{} {many}", thousands(count)) }
    }

    /// Whether `plan undo` takes it back.
    pub fn can_be_undone(&self) -> bool {
        match self {
            Order::Migrate { .. } | Order::Rename { .. } | Order::Fix { .. } | Order::Purge(_) => {
                true
            }
            Order::Drop { no_backup, .. } => !no_backup,
            Order::Invalidate { .. } | Order::Requeue(_) | Order::Forget { .. } => false,
        }
    }

    /// The most that it changes, if it is bounded.
    pub(crate) fn limit(&self) -> Option<u64> {
        match self {
            Order::Requeue(which) | Order::Purge(which) => which.limit,
            _ => None,
        }
    }
}

/// The name of the migration that a rename is worked out as.
pub(crate) const RENAMED: &str = "from-to";

/// The schema that an order is worked out with: for a rename, one with that rename alone.
pub(crate) fn prepared<'s>(order: &Order, schema: &'s Schema) -> Result<Cow<'s, Schema>, Error> {
    let Order::Rename { from, to, .. } = order else { return Ok(Cow::Borrowed(schema)) };
    let Some(definition) = schema.keys.iter().find(|it| *it.name == *to) else {
        let near = nearest(to, schema.keys.iter().map(|it| it.name.as_str()));
        let help = near.map_or_else(
            || "`--to` names a definition of the schema".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(Error::refused(format!("the schema has no definition `{to}`"), help));
    };
    expect_movable(schema, definition)?;
    let template = Template::parse(from).map_err(|error| {
        let help = error.help().unwrap_or_else(|| "write it as a pattern: `User:{id}`".to_owned());
        Error::refused(format!("`{from}` is not a pattern: {error}"), help)
    })?;
    let Order::Rename { values, .. } = order else { return Ok(Cow::Borrowed(schema)) };
    let lacks =
        |name: &str| !values.contains_key(name) && template.holes().all(|hole| hole.name != name);
    if let Some(param) = definition.params.iter().find(|it| lacks(&it.name)) {
        return Err(Error::refused(
            format!("`{from}` does not say the `{}` of `{to}`", *param.name),
            format!(
                "write `{{{0}}}` into the pattern, or give its value with `--bind {0}=…`",
                *param.name
            ),
        ));
    }
    let span = &definition.pattern.span;
    let declared = |name: &str| {
        let all = definition.params.iter().chain(&schema.params);
        all.clone().find(|param| *param.name == name).cloned()
    };
    let param = |hole: &Hole| match (&hole.ty, declared(&hole.name)) {
        (None, Some(declared)) => declared,
        (ty, _) => ParamDeclaration {
            name: Spanned::new(hole.name.clone(), span.clone()),
            param: Spanned::new(ty.clone().unwrap_or(Type::Text).into(), span.clone()),
            encode_span: None,
            doc: None,
            pii: true,
            from: None,
        },
    };
    let rename = Rename {
        definition: Spanned::new(to.clone(), span.clone()),
        params: template.holes().map(param).collect(),
        from: Spanned::new(template, span.clone()),
        convert: None,
        recase: Vec::new(),
        db: None,
    };
    let migration = Migration {
        name: Spanned::new(RENAMED.to_owned(), span.clone()),
        doc: None,
        phase: Spanned::new(Phase::DualWrite, span.clone()),
        started: None,
        remove_after: None,
        old_ttl: None,
        quiet: None,
        renames: vec![rename],
        allow: Vec::new(),
    };
    Ok(Cow::Owned(Schema { migrations: vec![migration], ..schema.clone() }))
}

/// Refuses keys that are more than one key: what stands beside them would stay behind, and with it who is signed in,
/// what an index knows, and which jobs run.
fn expect_movable(schema: &Schema, definition: &Definition) -> Result<(), Error> {
    let name = &definition.name.value;
    if let Some(role) = definition.role.as_ref().filter(|it| it.is_fixed()) {
        return Err(Error::refused(
            format!(
                "`{name}` is a `{}`, and what stands beside its keys would stay behind",
                role.name()
            ),
            "let the old ones expire under a definition of their own, and add another for new ones",
        ));
    }
    if queues::is_queue(schema, definition) {
        return Err(Error::refused(
            format!("`{name}` holds jobs, and what stands beside a queue would stay behind"),
            "declare the old name in `[migrations]`: workers then take from both names",
        ));
    }
    Ok(())
}

impl fmt::Display for Order {
    /// What was asked for, in one line: nothing else of a plan is acted upon.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = |values: &BTreeMap<String, String>| -> String {
            let pairs: Vec<String> =
                values.iter().map(|(name, value)| format!(" {name}={value}")).collect();
            pairs.concat()
        };
        match self {
            Order::Migrate { migrations, values, remove_lone } => {
                let all: Vec<String> =
                    migrations.iter().map(|(name, phase)| format!("{name} in {phase}")).collect();
                let lone = if *remove_lone { ", with what stands alone" } else { "" };
                write!(f, "asked for: migrate {}{}{lone}", all.join(", "), pairs(values))
            }
            Order::Rename { from, to, values } => {
                write!(f, "asked for: rename `{from}` to {to}{}", pairs(values))
            }
            Order::Invalidate { event, values } => {
                write!(f, "asked for: invalidate {event}{}", pairs(values))
            }
            Order::Drop { target, no_backup } => {
                let target = match target {
                    Target::Definition { name, values } => format!("{name}{}", pairs(values)),
                    Target::Group(group) => format!("the group {group}"),
                    Target::Glob(glob) => format!("keys that match `{glob}`"),
                };
                let backup = if *no_backup { ", without a backup" } else { "" };
                write!(f, "asked for: drop {target}{backup}")
            }
            other => write!(f, "asked for: {}", other.name()),
        }
    }
}
