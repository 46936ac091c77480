//! Keys that would belong to a definition if a parameter had a value of its type.

use crate::plan::{Audit, Planned, slots};
use keyward_pattern::{BuildErrorKind, DefinitionId, Keyspace, Part};
use std::cmp::Ordering;
use std::net::Ipv6Addr;
use std::ops::Range;

/// A key that would belong to a definition.
pub(super) struct Misfit {
    /// The number of the definition
    pub(super) definition: usize,
    /// What is wrong with the key
    pub(super) slot: usize,
    /// Where its parameters lie
    pub(super) places: Vec<Range<usize>>,
}

/// The definition that an unknown key would belong to, and what is wrong with it.
pub(super) fn find(audit: &Audit, key: &[u8]) -> Option<Misfit> {
    let text = str::from_utf8(key).ok()?;
    for space in audit.spaces.iter().filter(|space| space.may_begin(key)) {
        let planned = |id: DefinitionId| &audit.definitions[space.first + id.index()];
        if let Some((id, param, places)) = raw_ipv6(&space.keyspace, text) {
            let planned = planned(id);
            let slot = slots::raw_ipv6(planned.fields.len(), param);
            let definition = space.first + id.index();
            return planned.selected.then_some(Misfit { definition, slot, places });
        }
        let mut places = Vec::new();
        let Some(id) = space.loose.as_ref().and_then(|loose| loose.locate(key, &mut places)) else {
            continue;
        };
        let planned = planned(id);
        if !planned.selected || !says_enough(audit, planned) {
            continue;
        }
        if let Some(param) = wrong_param(&space.keyspace, id, text, &places) {
            let slot = slots::param(planned.fields.len(), param);
            return Some(Misfit { definition: space.first + id.index(), slot, places });
        }
    }
    None
}

/// Whether a pattern has a word of its own: one of parameters alone would take any key.
fn says_enough(audit: &Audit, planned: &Planned) -> bool {
    let (_, definition) = audit.declared(planned);
    definition.pattern.parts().iter().any(|part| match part {
        Part::Literal(text) => text.bytes().filter(u8::is_ascii_alphanumeric).count() > 1,
        Part::Hole(_) => false,
    })
}

/// The first parameter whose value is not of its type.
fn wrong_param(
    keyspace: &Keyspace,
    id: DefinitionId,
    key: &str,
    places: &[Range<usize>],
) -> Option<usize> {
    let definition = keyspace.definition(id);
    let names = definition.params().iter().map(|(name, _)| name.as_str());
    let values: Vec<(&str, &str)> = names
        .zip(places)
        .filter_map(|(name, place)| Some((name, key.get(place.clone())?)))
        .collect();
    let error = definition.build_named(&values).err()?;
    if !matches!(error.kind, BuildErrorKind::Invalid { .. }) {
        return None;
    }
    definition.params().iter().position(|(name, _)| *name == error.param)
}

/// The definition and the parameter that an IPv6 address was put into as it is, colons included; and where the
/// parameters lie.
fn raw_ipv6(keyspace: &Keyspace, key: &str) -> Option<(DefinitionId, usize, Vec<Range<usize>>)> {
    /// The parts of an address.
    const PARTS: usize = 8;
    /// Nobody puts an address into a longer key, and every place where one may be costs a look at all of it.
    const LONGEST: usize = 1024;
    if keyspace.separator() != b':'
        || key.len() > LONGEST
        || key.bytes().filter(|byte| *byte == b':').count() < 3
    {
        return None;
    }
    let starts: Vec<usize> =
        std::iter::once(0).chain(key.match_indices(':').map(|(at, _)| at + 1)).collect();
    let ends: Vec<usize> = key.match_indices(':').map(|(at, _)| at).chain([key.len()]).collect();
    let may_be = |at: usize| {
        let part = &key[starts[at]..ends[at]];
        part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let mut places = Vec::new();
    for first in 0..starts.len() {
        let run = (first..starts.len()).take(PARTS + 1).take_while(|at| may_be(*at)).count();
        for parts in (3..=run).rev() {
            let place = starts[first]..ends[first + parts - 1];
            let Ok(address) = key[place.clone()].parse::<Ipv6Addr>() else { continue };
            let digits = format!("{:032x}", address.to_bits());
            let mended = format!("{}{digits}{}", &key[..place.start], &key[place.end..]);
            if let Some(id) = keyspace.locate(mended.as_bytes(), &mut places)
                && let Some(param) = places.iter().position(|it| it.start == place.start)
            {
                // What stands behind the address is as far from the end as it would be.
                let (mended, own) = (mended.len(), key.len());
                let in_key = |it: Range<usize>| match it.start.cmp(&place.start) {
                    Ordering::Less => it,
                    Ordering::Equal => place.clone(),
                    Ordering::Greater => own - (mended - it.start)..own - (mended - it.end),
                };
                return Some((id, param, places.into_iter().map(in_key).collect()));
            }
        }
    }
    None
}
