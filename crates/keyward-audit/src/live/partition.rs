//! Reads one partition of the keys: chooses a server, reads it, and sees that it was the same all along.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keyward_fact::address::Endpoint;

use super::connection::Connection;
use super::error::{Error, Fault};
use super::options::{Options, ResumeShard, Via};
use super::seen::Shard;
use super::server::{self, Info};
use super::task::{Broken, ShardRead, Task};
use super::topology::{self, Chosen, Node, Partition};
use super::{scan, snapshot};
use crate::observe::Observer;

/// What is read, and how.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    pub(super) partition: &'a Partition,
    pub(super) options: &'a Options,
    /// Where a stopped scan was
    pub(super) resume: Option<&'a ResumeShard>,
    pub(super) clock: u64,
    pub(super) cancel: &'a AtomicBool,
}

pub(super) fn read<O: Observer>(
    mut order: Order<'_>,
    make: &impl Fn(&Shard) -> O,
) -> Result<ShardRead<O>, Broken<O>> {
    let Order { partition, options, clock, .. } = order;
    let read = match order.resume.map(|resume| again(partition, resume, options)) {
        None => topology::choose(partition, options).map_err(Fault::from),
        Some(Ok(Again::Same(chosen))) => Ok(*chosen),
        Some(Ok(Again::Other(why))) => {
            order.resume = None;
            topology::choose(partition, options).map_err(Fault::from).map(|mut chosen| {
                chosen
                    .notes
                    .push(format!("keys were read from the beginning again, because {why}"));
                chosen
            })
        }
        Some(Err(fault)) => Err(fault),
    };
    let read = read.map_err(Broken::from).and_then(|chosen| read_chosen(chosen, order, make));
    read.map_err(|mut broken| {
        let before = order.resume.filter(|_| broken.seen.is_none());
        if let Some(resume) = before {
            broken.seen = Some(Box::new(ShardRead::of(resume, clock, make)));
        }
        broken
    })
}

fn read_chosen<O: Observer>(
    chosen: Chosen,
    order: Order<'_>,
    make: &impl Fn(&Shard) -> O,
) -> Result<ShardRead<O>, Broken<O>> {
    let Order { partition, options, resume, clock, cancel } = order;
    let Chosen { target, mut connection, info, mut notes } = chosen;
    expect_still_slots(partition, options)?;
    let (settings, unseen) =
        settings(partition, &target, &mut connection, &info, options, &mut notes)?;
    if !info.is_known() {
        notes.push(
            "whether the server was restarted meanwhile, and what else belongs to it, is not known, \
             because it denies INFO"
                .to_owned(),
        );
    }
    let (family, version) = info.family();
    let shard = Shard {
        name: partition.name.clone(),
        server: target.to_string(),
        family: family.to_owned(),
        version: version.to_owned(),
        run_id: info.get("run_id").to_owned(),
        role: info.get("role").to_owned(),
        slots: partition.node.as_ref().map(|(_, slots)| slots.clone()),
        alone: partition.alone,
        clock,
        resumed: resume.is_some(),
        settings,
        unseen,
        missing: resume.map(|resume| resume.missing.clone()).unwrap_or_default(),
        refused: resume.map(|resume| resume.refused.clone()).unwrap_or_default(),
        notes,
        ..Shard::default()
    };
    let task = Task { options, partition, target: &target, info: &info, clock, resume, cancel };
    let (reading, connection) = match options.via {
        Via::Scan => scan::read(&task, shard, make)?,
        Via::Snapshot => snapshot::read(&task, shard, make)?,
    };
    if reading.stopped.is_some() {
        return Ok(reading);
    }
    match expect_same(&task, connection) {
        Ok(()) => Ok(reading),
        Err(fault) => Err(Broken::new(fault, reading)),
    }
}

/// Fails where the server is not what it was before it was read.
fn expect_same(task: &Task<'_>, connection: Option<Connection>) -> Result<(), Fault> {
    if task.info.is_known() {
        let again = || server::open(task.target, task.options);
        let mut connection = connection.map_or_else(again, Ok)?;
        task.expect_same(&Info::ask(&mut connection)?)?;
    }
    expect_still_slots(task.partition, task.options)
}

/// What has become of the server that was read before a stop.
enum Again {
    /// It is the same process still
    Same(Box<Chosen>),
    /// It is not, and why: a cursor means nothing to another one, which hashes keys in its own way
    Other(&'static str),
}

const RESUMED: &str = "the scan was stopped and resumed";

fn again(partition: &Partition, resume: &ResumeShard, options: &Options) -> Result<Again, Fault> {
    const FAILED_OVER: Again =
        Again::Other("the server was failed over since the scan was stopped");
    if partition.name != resume.name {
        return Ok(FAILED_OVER);
    }
    let same = |target: &&Endpoint| target.to_string() == resume.server;
    let candidates = partition.candidates.iter().chain([&partition.primary]);
    let Some(target) = { candidates }.find(same) else {
        return Ok(Again::Other("the replica that was read is gone"));
    };
    let mut connection = server::open(target, options)?;
    let info = Info::ask(&mut connection)?;
    if resume.run_id.is_empty() || !info.is_known() {
        let why = "whether it is the same server is not known, because it denies INFO".to_owned();
        return Err(Error::NotResumable { address: resume.server.clone(), why }.into());
    }
    if info.get("run_id") != resume.run_id {
        return Ok(Again::Other("the server was restarted since the scan was stopped"));
    }
    if info.get("role") != resume.role {
        return Ok(FAILED_OVER);
    }
    let mut notes = resume.notes.clone();
    if !notes.iter().any(|note| note == RESUMED) {
        notes.push(RESUMED.to_owned());
    }
    Ok(Again::Same(Box::new(Chosen { target: target.clone(), connection, info, notes })))
}

/// Fails where a cluster's primary moves slots: keys would be seen twice, or not at all.
fn expect_still_slots(partition: &Partition, options: &Options) -> Result<(), Fault> {
    if partition.node.is_none() || options.node_only {
        return Ok(());
    }
    let mut connection = server::open(&partition.primary, options)?;
    if Node::is_moving(&Node::ask(&mut connection)?) {
        return Err(Fault::Changed("slots are being moved".to_owned()));
    }
    Ok(())
}

/// What is known of settings, and why others are not.
type Settings = (BTreeMap<String, String>, BTreeMap<String, &'static str>);

/// What the primary says of its settings; of a replica's own, only where its primary does not answer.
fn settings(
    partition: &Partition,
    target: &Endpoint,
    connection: &mut Connection,
    info: &Info,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Settings, Fault> {
    let mut ask = |connection: &mut Connection, info: &Info| {
        let mut settings = info.settings();
        let declared = &options.settings;
        let unseen = server::complete_settings(connection, declared, &mut settings, notes)?;
        Ok((settings, unseen))
    };
    if target.socket == partition.primary.socket {
        return ask(connection, info);
    }
    let hasty = Options {
        timeout: options.timeout.min(Duration::from_secs(2)),
        patience: Duration::ZERO,
        ..options.clone()
    };
    let primary = server::open(&partition.primary, &hasty).ok().and_then(|mut primary| {
        let info = Info::ask(&mut primary).ok().filter(Info::is_known)?;
        ask(&mut primary, &info).ok()
    });
    if let Some(settings) = primary {
        return Ok(settings);
    }
    let settings = ask(connection, info)?;
    notes.push(format!(
        "settings are those of {target}, because {} does not answer",
        partition.name
    ));
    Ok(settings)
}
