//! The same in a file, where there may be many thousands of hashes: those that nothing is shown of are packed.

use super::super::agreements::{Saying, Side, Stored as StoredAgreements};
use super::{Relations, Steps};
use crate::mask::Masked;
use crate::rare::RAREST;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};

const DAMAGED: &str = "its relations are damaged";

#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    /// Statements that something is shown of
    open: StoredAgreements,
    /// All others: rarity and side, and two hashes each
    said: String,
    too_many: bool,
    /// Two hashes each
    steps: String,
    /// How rare they are, and their hashes
    roots: String,
    /// What is shown of keys that steps lead from or to
    shown: Vec<(u64, Masked)>,
}

impl From<Relations> for Stored {
    fn from(Relations { said, steps }: Relations) -> Self {
        let mut open = StoredAgreements::from(said);
        let (shown, settled) = open.said.into_iter().partition(|(_, _, shown)| shown.is_some());
        open.said = shown;
        let settled: Vec<_> = settled;
        let side = |side| u8::from(side == Side::Member) << 7;
        let said = settled.iter().map(|(it, ..)| ([it.rarity | side(it.side)], it.member, it.set));
        let roots = steps.nodes.iter().filter_map(|(hash, it)| Some(([it.root?], *hash)));
        let shown = steps.nodes.iter().filter_map(|(hash, it)| Some((*hash, it.shown.clone()?)));
        Stored {
            said: packed(said.map(|(head, member, set)| (head, vec![member, set]))),
            too_many: steps.too_many,
            steps: packed(steps.all.iter().map(|(from, to)| ([], vec![*from, *to]))),
            roots: packed(roots.map(|(head, hash)| (head, vec![hash]))),
            shown: shown.collect(),
            open,
        }
    }
}

impl TryFrom<Stored> for Relations {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { mut open, said, too_many, steps, roots, shown } = stored;
        for ([head], [member, set]) in unpacked::<1, 2>(&said)? {
            let side = if head >> 7 == 1 { Side::Member } else { Side::Set };
            let saying = Saying { rarity: head & 0x7f, member, set, side };
            open.said.push((saying, u64::MAX, None));
        }
        let mut read = Steps { too_many, ..Steps::default() };
        for ([], [from, to]) in unpacked::<0, 2>(&steps)? {
            read.all.insert((from, to));
            read.nodes.entry(from).or_default();
            read.nodes.entry(to).or_default();
        }
        for ([rarity], [hash]) in unpacked::<1, 1>(&roots)? {
            let root = Some(rarity.min(RAREST));
            read.nodes.entry(hash).or_default().root = root;
        }
        for (hash, shown) in shown {
            read.nodes.entry(hash).or_default().shown = Some(shown);
        }
        read.bound();
        Ok(Relations { said: open.into(), steps: read })
    }
}

fn packed<const N: usize>(all: impl Iterator<Item = ([u8; N], Vec<u64>)>) -> String {
    let mut bytes = Vec::new();
    for (head, hashes) in all {
        bytes.extend(head);
        bytes.extend(hashes.into_iter().flat_map(u64::to_le_bytes));
    }
    STANDARD_NO_PAD.encode(bytes)
}

/// So many bytes and so many hashes.
type Packed<const N: usize, const H: usize> = ([u8; N], [u64; H]);

fn unpacked<const N: usize, const H: usize>(text: &str) -> Result<Vec<Packed<N, H>>, &'static str> {
    let bytes = STANDARD_NO_PAD.decode(text).map_err(|_| DAMAGED)?;
    let one = |chunk: &[u8]| {
        let (head, hashes) = chunk.split_first_chunk::<N>()?;
        let mut hashes = hashes.as_chunks::<8>().0.iter().map(|it| u64::from_le_bytes(*it));
        let mut read = [0; H];
        for hash in &mut read {
            *hash = hashes.next()?;
        }
        Some((*head, read))
    };
    bytes.chunks(N + 8 * H).map(|chunk| one(chunk).ok_or(DAMAGED)).collect()
}
