//! Streams: entries in listpacks, and the groups that consume them.

use keyward_fact::Encoding;

use crate::entry::{Element, Excerpt, Expiry, StreamId, StreamInfo, Visitor};
use crate::error::Error;
use crate::input::Input;
use crate::memory::{self, Memory};
use crate::packed::{Atom, Listpack, Packed as _, Shape, Walk};
use crate::rax::Rax;
use crate::sight::Sight;
use crate::string::{Form, Within, length};
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
        let at = input.offset();
        let elements = if let Some(limit) = values.sight.limit {
            let mut entries = Entries { sight: &mut values.sight, limit };
            form.within(input, values.unpacked, &mut entries)?
        } else {
            let mut walk = Walk::<V, Listpack>::new(&mut values.sight, Shape::Opaque);
            form.within(input, values.unpacked, &mut walk)?
        };
        if elements == 0 {
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

/// Shows the entries of a node.
///
/// A node begins with how many entries there are and how many were deleted, and with the fields that its first entry
/// had. Each entry has flags and its identifier less the node's; then values of those fields or fields of its own;
/// then how many elements it takes, by which servers walk backwards.
struct Entries<'w, 'v, V> {
    sight: &'w mut Sight<'v, V>,
    limit: usize,
}

const DELETED: i64 = 1;
const SAME_FIELDS: i64 = 2;

/// The name of a field, as much of it as is wanted, and its whole length.
type Name = (Vec<u8>, u64);

impl<V: Visitor> Within for Entries<'_, '_, V> {
    /// How many elements were read, the entries' own left out.
    type Out = u64;

    fn read_whole(&mut self, _: &[u8]) -> Option<u64> {
        None
    }

    fn read<I: Input>(&mut self, input: &mut I, length: u64) -> Result<u64, Error> {
        let mut packed = Listpack::open(input, length)?;
        if number(&mut packed, input)?.is_none() {
            return Ok(0);
        }
        let _deleted = expect(&mut packed, input)?;
        let mut shared: Vec<Name> = Vec::new();
        for _ in 0..expect(&mut packed, input)? {
            shared.push(self.name(&mut packed, input)?);
        }
        let _end = expect(&mut packed, input)?;
        while let Some(flags) = number(&mut packed, input)? {
            let _ms = expect(&mut packed, input)?;
            let _seq = expect(&mut packed, input)?;
            let is_shown = flags & DELETED == 0;
            if is_shown {
                self.sight.visitor.element(&Element::Entry);
            }
            if flags & SAME_FIELDS != 0 {
                for name in &shared {
                    self.value(&mut packed, input, name, is_shown)?;
                }
            } else {
                for _ in 0..expect(&mut packed, input)? {
                    let name = self.name(&mut packed, input)?;
                    self.value(&mut packed, input, &name, is_shown)?;
                }
            }
            let _elements = expect(&mut packed, input)?;
        }
        Ok(1)
    }
}

impl<V: Visitor> Entries<'_, '_, V> {
    fn name<I: Input>(&mut self, packed: &mut Listpack, input: &mut I) -> Result<Name, Error> {
        let atom = packed.next(input)?.ok_or_else(|| torn(input))?;
        let excerpt = atom.excerpt(input, self.limit, self.sight.name)?;
        let name = (excerpt.bytes.to_vec(), excerpt.len);
        packed.behind(input)?;
        Ok(name)
    }

    fn value<I: Input>(
        &mut self,
        packed: &mut Listpack,
        input: &mut I,
        (name, len): &Name,
        is_shown: bool,
    ) -> Result<(), Error> {
        let atom = packed.next(input)?.ok_or_else(|| torn(input))?;
        if is_shown {
            let value = atom.excerpt(input, self.limit, self.sight.value)?;
            let name = Excerpt::new(name, *len);
            // An entry is removed as a whole.
            let field = Element::Field { name, value, expiry: Expiry::Never };
            self.sight.visitor.element(&field);
        } else {
            atom.skip(input)?;
        }
        packed.behind(input)
    }
}

/// The next element, a number; `None` at the end.
fn number<I: Input>(packed: &mut Listpack, input: &mut I) -> Result<Option<i64>, Error> {
    match packed.next(input)? {
        None => Ok(None),
        Some(Atom::Int(number)) => packed.behind(input).map(|()| Some(number)),
        Some(Atom::Bytes(_)) => Err(torn(input)),
    }
}

fn expect<I: Input>(packed: &mut Listpack, input: &mut I) -> Result<i64, Error> {
    number(packed, input)?.ok_or_else(|| torn(input))
}

fn torn<I: Input>(input: &I) -> Error {
    Error::corrupt(input.offset(), "a node of a stream does not consist of entries")
}

fn node_key<V: Visitor, I: Input>(
    values: &mut Values<'_, '_, V>,
    input: &mut I,
) -> Result<[u8; 16], Error> {
    let at = input.offset();
    let key = Form::read(input)?.excerpt(input, 16, values.sight.value)?;
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
