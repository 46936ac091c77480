//! Whether the servers are those that a plan was made for.

use crate::document::{Plan, ServerId};
use crate::error::Error;
use crate::order::Order;
use crate::work::Work;
use keyward_audit::live::{self, Primary, Reply};
use keyward_schema::Schema;

/// How long the marker of a plan lives that was started: as long as it can be undone without doubt.
const MARKED: u64 = 90 * 24 * 60 * 60 * 1000;

/// Asks a server who it is.
pub(crate) fn of(primary: &mut Primary) -> Result<ServerId, Error> {
    let mut field = |section: &str, name: &str| -> Result<String, live::Error> {
        Ok(match primary.command(&[b"INFO", section.as_bytes()])? {
            Reply::Bytes(info) => {
                let info = String::from_utf8_lossy(&info).into_owned();
                let found = info.lines().find_map(|line| line.trim_end().strip_prefix(name));
                found.unwrap_or_default().to_owned()
            }
            _ => String::new(),
        })
    };
    let run_id = field("server", "run_id:")?;
    let replication_id = field("replication", "master_replid:")?;
    if run_id.is_empty() && replication_id.is_empty() && primary.node.is_none() {
        return Err(Error::refused(
            format!("{} does not say who it is: INFO is denied", primary.name),
            "allow the user `+info`",
        ));
    }
    Ok(ServerId {
        address: primary.name.clone(),
        run_id,
        replication_id,
        node: primary.node.clone(),
    })
}

/// Whether these are the servers of a plan: the same processes, the same data, or the same nodes of a cluster;
/// once it was started, whoever has its marker.
pub(crate) fn expect(
    plan: &Plan,
    schema: &Schema,
    primaries: &mut [Primary],
) -> Result<bool, Error> {
    if is_marked(plan, schema, primaries)? {
        return Ok(true);
    }
    for primary in &mut *primaries {
        let now = of(primary)?;
        let is_same = plan.servers.iter().any(|then| is_same(then, &now));
        if !is_same {
            return Err(Error::refused(
                format!("{} is not the server that the plan was made for", primary.name),
                "make a plan for this server; after a restart before the first change, make it again; if it was applied \
                 here, and its marker is gone since, `--accept-restarted` knows the server by what the journal says",
            ));
        }
    }
    Ok(false)
}

/// Refuses another database than the plan was made for: its keys are others, whoever the server is.
pub(crate) fn expect_db(plan: &Plan, primaries: &[Primary]) -> Result<(), Error> {
    let (then, now) = (plan.db, primaries.first().map_or(0, Primary::db));
    if then == now {
        return Ok(());
    }
    Err(Error::refused(
        format!("the plan was made for database {then}, and the URL names database {now}"),
        format!("let the URL end with `/{then}`, or make a plan for database {now}"),
    ))
}

fn is_same(then: &ServerId, now: &ServerId) -> bool {
    let same = |then: &str, now: &str| !then.is_empty() && then == now;
    match (&then.node, &now.node) {
        (Some(then), Some(now)) => then == now,
        (None, None) => {
            same(&then.run_id, &now.run_id) || same(&then.replication_id, &now.replication_id)
        }
        _ => false,
    }
}

/// The key that says that a plan was started here.
pub(crate) fn marker(plan: &Plan, schema: &Schema) -> String {
    let prefix = schema.keyspace.prefix.as_ref();
    let fixed = prefix.filter(|prefix| prefix.holes().next().is_none());
    let prefix = fixed.map(|prefix| prefix.as_str()).unwrap_or_default();
    keyward_pattern::plan_marker(prefix, &plan.id)
}

/// Whether a plan was started here.
pub(crate) fn is_marked(
    plan: &Plan,
    schema: &Schema,
    primaries: &mut [Primary],
) -> Result<bool, Error> {
    let marker = marker(plan, schema);
    let Some(primary) = owner(primaries, &marker) else { return Ok(false) };
    let found = primary.command(&[b"GET", marker.as_bytes()])?;
    Ok(matches!(found, Reply::Bytes(seal) if seal == plan.seal.as_bytes()))
}

/// Whether what is removed could be brought back: RESTORE is often denied, and fails here without changing anything.
pub(crate) fn expect_restore(
    plan: &Plan,
    schema: &Schema,
    primaries: &mut [Primary],
) -> Result<(), Error> {
    let marker = marker(plan, schema);
    let Some(primary) = owner(primaries, &marker) else { return Ok(()) };
    let answer = primary.command(&[b"RESTORE", marker.as_bytes(), b"0", b"not a value"])?;
    match answer {
        Reply::Error(reply) if reply.starts_with("NOPERM") || reply.contains("unknown command") => {
            let why =
                "does not let this user RESTORE, so that `plan undo` could bring nothing back";
            let help = match plan.order {
                Order::Drop { .. } => "allow it `+restore`, or make the plan with `--no-backup`",
                _ => "allow it `+restore`",
            };
            Err(Error::refused(format!("{} {why}", primary.name), help))
        }
        _ => Ok(()),
    }
}

/// Notes that a plan was started here.
pub(crate) fn mark(plan: &Plan, schema: &Schema, primaries: &mut [Primary]) -> Result<(), Error> {
    let (marker, ttl) = (marker(plan, schema), MARKED.to_string());
    let Some(primary) = owner(primaries, &marker) else { return Ok(()) };
    let seal = plan.seal.as_bytes();
    let written = primary.command(&[b"SET", marker.as_bytes(), seal, b"PX", ttl.as_bytes()])?;
    match written {
        Reply::Error(reply) => {
            let (address, command) = (primary.name.clone(), "SET");
            Err(live::Error::Reply { address, command, reply }.into())
        }
        _ => Ok(()),
    }
}

fn owner<'p>(primaries: &'p mut [Primary], key: &str) -> Option<&'p mut Primary> {
    let slot = keyward_pattern::slot(key.as_bytes());
    primaries.iter_mut().find(|primary| primary.has(slot))
}

/// A hash of what definitions say, as far as a plan depends on it; the phases of migrations are not part of it.
pub(crate) fn hash(schema: &Schema, work: &dyn Work) -> String {
    let definitions = work.definitions();
    let mut text = work.terms();
    let mut add = |part: &str| {
        text.push_str(part);
        text.push('\0');
    };
    add(schema.keyspace.prefix.as_ref().map(|it| it.as_str()).unwrap_or_default());
    let touched = schema.keys.iter().filter(|it| definitions.contains(&it.name.value));
    for definition in touched {
        add(&definition.name);
        add(definition.pattern.as_str());
        add(definition.key_type.as_ref().map(|it| it.stored()).unwrap_or_default());
        add(definition.role.as_ref().map(|it| it.name()).unwrap_or_default());
        for param in &definition.params {
            add(&param.name);
            add(&param.param.value.to_string());
        }
        for field in &definition.fields {
            add(&format!("{} {:?} {}", *field.name, field.value.value, field.optional));
        }
        for held in [&definition.value, &definition.member].into_iter().flatten() {
            add(&format!("{:?}", held.value));
        }
        let renames = schema.migrations.iter().flat_map(|it| &it.renames);
        for rename in renames.filter(|it| *it.definition == *definition.name) {
            add(rename.from.as_str());
            for param in &rename.params {
                add(&param.param.value.to_string());
            }
        }
    }
    sha1_smol::Sha1::from(text).digest().to_string()
}
