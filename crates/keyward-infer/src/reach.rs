//! Values that are several segments long, such as paths: families that differ only in how many segments there are.

use crate::form::whole;
use crate::thresholds::Threshold;
use crate::tree::{Family, Piece, Tree, Values};
use std::collections::{BTreeMap, BTreeSet};

/// What families have in common that differ only in how many segments their value has.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ends<'f> {
    before: &'f [u8],
    separator: u8,
    behind: &'f [u8],
    key_type: &'f str,
    expires: bool,
}

/// Makes one family, with a parameter that spans segments, of such families.
pub(crate) fn join(tree: &mut Tree<'_>) {
    let mut alike: BTreeMap<Ends<'_>, Vec<usize>> = BTreeMap::new();
    for (number, family) in tree.families.iter().enumerate() {
        if let Some(ends) = ends(tree, family) {
            alike.entry(ends).or_default().push(number);
        }
    }
    let mut joined: Vec<(Vec<usize>, usize, usize)> = Vec::new();
    for (ends, families) in alike {
        let lengths: BTreeSet<usize> =
            families.iter().map(|number| tree.families[*number].pieces.len()).collect();
        if lengths.len() >= tree.thresholds.count(Threshold::Lengths) {
            joined.push((families, ends.before.len(), ends.behind.len()));
        }
    }
    let mut gone = BTreeSet::new();
    for (families, before, behind) in joined {
        let mut values = Values::new();
        let mut keys = Vec::new();
        for key in families.iter().flat_map(|number| &tree.families[*number].keys) {
            let sample = tree.keys[*key as usize].sample;
            let text = &sample.observed.key;
            *values.entry(&text[before..text.len() - behind]).or_default() += sample.weight;
            keys.push(*key);
        }
        tree.params.push(values);
        let param = tree.params.len() - 1;
        let first = &mut tree.families[families[0]];
        let (head, tail) = (first.pieces.first().cloned(), first.pieces.last().cloned());
        let text = |piece: Option<Piece>| piece.filter(|it| matches!(it, Piece::Text(_)));
        let pieces = [text(head), Some(Piece::Rest(param)), text(tail)];
        *first = Family { pieces: pieces.into_iter().flatten().collect(), keys };
        gone.extend(families.into_iter().skip(1));
    }
    let mut number = 0;
    tree.families.retain(|_| {
        number += 1;
        !gone.contains(&(number - 1))
    });
}

/// What stands before and behind the parameters of a family, if they are texts with nothing but separators in between.
fn ends<'f>(tree: &'f Tree<'_>, family: &'f Family) -> Option<Ends<'f>> {
    let mut pieces = &family.pieces[..];
    let mut before: &[u8] = &[];
    let mut behind: &[u8] = &[];
    if let [Piece::Text(text), rest @ ..] = pieces {
        (before, pieces) = (text, rest);
    }
    if let [rest @ .., Piece::Text(text)] = pieces {
        (behind, pieces) = (text, rest);
    }
    let key = tree.keys.get(*family.keys.first()? as usize)?;
    let separator = key.segments.first()?.separator?;
    let is_text = |piece: &Piece| match piece {
        Piece::Param(number) => {
            let values = &tree.params[*number];
            2 * values.keys().filter(|text| whole(text).is_none()).count() >= values.len()
        }
        _ => false,
    };
    let alternate = pieces.iter().enumerate().all(|(at, piece)| match piece {
        Piece::Text(text) => at % 2 == 1 && text[..] == [separator],
        piece => at % 2 == 0 && is_text(piece),
    });
    let whole_segments = before.last() == Some(&separator)
        && (behind.is_empty() || behind.first() == Some(&separator));
    let observed = key.sample.observed;
    let same = |number: &u32| {
        let other = tree.keys[*number as usize].sample.observed;
        other.key_type == observed.key_type && other.ttl.is_some() == observed.ttl.is_some()
    };
    (!pieces.is_empty() && alternate && whole_segments && family.keys.iter().all(same)).then_some(
        Ends {
            before,
            separator,
            behind,
            key_type: &observed.key_type,
            expires: observed.ttl.is_some(),
        },
    )
}
