//! Streams: entries in listpacks, and the groups that consume them.

use keyward_fact::Encoding;

use crate::entry::{StreamId, StreamInfo, Visitor};
use crate::error::Error;
use crate::input::Input;
use crate::memory::{self, Memory};
use crate::packed::{Listpack, Shape, Walk};
use crate::rax::Rax;
use crate::string::{Form, length};
use crate::value::{Found, Values};

/// Reads a stream as written by Redis 5.0 (generation 1), 7.0, 7.2, 8.6 or 8.8.
pub(crate) fn read<V: Visitor, I: Input>(
    values: &mut Values<'_, '_, V>,
    input: &mut I,
    generation: u8,
) -> Result<Found, Error> {
    let mut info = StreamInfo { nodes: length(input)?, ..StreamInfo::default() };
    let mut entries = Rax::default();
    let mut memory: u64 = 0;
    for node in 0..info.nodes {
        let key = node_key(values, input)?;
        entries.insert(key);
        let form = Form::read(input)?;
        let mut walk = Walk::<V, Listpack>::new(&mut values.sight, Shape::Opaque);
        let at = input.offset();
        if form.within(input, values.unpacked, &mut walk)? == 0 {
            return Err(Error::corrupt(at, "a node of a stream is empty"));
        }
        let last = node + 1 == info.nodes;
        memory = memory.saturating_add(values.memory.stream_node(form.length(), last));
    }
    let at = input.offset();
    let count = length(input)?;
    if count > 0 && info.nodes == 0 {
        return Err(Error::corrupt(at, "a stream without nodes has entries"));
    }
    info.last_id = id(input)?;
    if generation >= 2 {
        let _first = id(input)?;
        let _max_deleted = id(input)?;
        info.entries_added = Some(length(input)?);
    }
    info.groups = length(input)?;
    for _ in 0..info.groups {
        let parts = group(input, generation, &mut info)?;
        memory = memory.saturating_add(parts);
    }
    if generation >= 4 {
        producers(input)?;
    }
    let memory = Memory::stream(&info, entries, memory);
    Ok(Found { stream: Some(Box::new(info)), ..Found::new(Encoding::Stream, count, memory) })
}

fn node_key<V: Visitor, I: Input>(
    values: &mut Values<'_, '_, V>,
    input: &mut I,
) -> Result<[u8; 16], Error> {
    let at = input.offset();
    let key = Form::read(input)?.piece(input, 16, values.sight.value)?;
    match key.bytes.try_into() {
        Ok(bytes) if key.is_whole() => Ok(bytes),
        _ => Err(Error::corrupt(at, "the key of a stream's node is not an identifier")),
    }
}

fn id<I: Input>(input: &mut I) -> Result<StreamId, Error> {
    Ok(StreamId { ms: length(input)?, seq: length(input)? })
}

/// Reads a group, and gives the memory of its trees and consumers.
fn group<I: Input>(input: &mut I, generation: u8, info: &mut StreamInfo) -> Result<u64, Error> {
    Form::read(input)?.skip(input)?;
    id(input)?;
    if generation >= 2 {
        length(input)?;
    }
    let pending = length(input)?;
    let mut tree = Rax::default();
    for _ in 0..pending {
        tree.insert(input.array()?);
        input.skip(8)?;
        length(input)?;
    }
    info.pending = info.pending.saturating_add(pending);
    let mut memory = memory::rax(tree);
    let consumers = length(input)?;
    for _ in 0..consumers {
        let name = Form::read(input)?;
        name.skip(input)?;
        // When it was seen; from 7.2 on, when it was active too.
        input.skip(if generation >= 3 { 16 } else { 8 })?;
        let mut tree = Rax::default();
        for _ in 0..length(input)? {
            tree.insert(input.array()?);
        }
        memory = memory.saturating_add(Memory::consumer(name.length(), tree));
    }
    info.consumers = info.consumers.saturating_add(consumers);
    if generation >= 5 {
        for _ in 0..length(input)? {
            input.skip(16)?;
        }
    }
    Ok(memory)
}

/// Passes over what Redis 8.6 remembers of producers, so that it takes no entry twice.
fn producers<I: Input>(input: &mut I) -> Result<(), Error> {
    let _duration = length(input)?;
    let _most = length(input)?;
    for _ in 0..length(input)? {
        Form::read(input)?.skip(input)?;
        for _ in 0..length(input)? {
            Form::read(input)?.skip(input)?;
            id(input)?;
        }
    }
    let _added = length(input)?;
    let _duplicates = length(input)?;
    Ok(())
}
