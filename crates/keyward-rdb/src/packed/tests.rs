//! Both ways through a listpack.

use super::*;
use crate::input::Slice;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Default)]
struct Told(Vec<String>);

impl Visitor for Told {
    fn element(&mut self, element: &Element<'_>) {
        self.0.push(format!("{element:?}"));
    }
}

type Elements = Option<(u64, Vec<String>)>;

/// What is told of a listpack in both ways.
fn both_ways(bytes: &[u8], shape: Shape, limit: Option<usize>) -> (Elements, Elements) {
    let walk = |whole: bool| {
        let (mut told, mut name, mut value) = (Told::default(), Vec::new(), Vec::new());
        let mut sight = Sight { visitor: &mut told, limit, name: &mut name, value: &mut value };
        let mut walk = Walk::<_, Listpack>::new(&mut sight, shape);
        let count = if whole {
            walk.read_whole(bytes)
        } else {
            walk.read(&mut Slice::part(bytes, 0), bytes.len() as u64).ok()
        };
        count.map(|count| (count, told.0))
    };
    (walk(true), walk(false))
}

fn listpack(elements: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0; 6];
    for element in elements {
        let start = bytes.len();
        let length = u32::try_from(element.len()).unwrap();
        match (element.as_slice(), element.len()) {
            // The bytes of a number, behind what says so.
            ([0xff, number @ ..], _) => bytes.extend(number),
            (_, 0..64) => bytes.extend([0x80 | length.to_le_bytes()[0]]),
            (_, 64..4096) => bytes.extend(&(0xe000 | length).to_be_bytes()[2..]),
            _ => {
                bytes.push(0xf0);
                bytes.extend(length.to_le_bytes());
            }
        }
        if element.first() != Some(&0xff) {
            bytes.extend(element);
        }
        let mut left = bytes.len() - start;
        let mut trailer = vec![left.to_le_bytes()[0] & 0x7f];
        while left >= 128 {
            left >>= 7;
            trailer.push(left.to_le_bytes()[0] | 0x80);
        }
        bytes.extend(trailer.iter().rev());
    }
    bytes.push(0xff);
    let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    bytes[..4].copy_from_slice(&length);
    let count = u16::try_from(elements.len()).unwrap().to_le_bytes();
    bytes[4..6].copy_from_slice(&count);
    bytes
}

fn element() -> impl Strategy<Value = Vec<u8>> {
    let number = |first: std::ops::Range<u8>, width: usize| {
        (first, vec(any::<u8>(), width))
            .prop_map(|(first, rest)| [&[0xff, first][..], &rest].concat())
    };
    prop_oneof![
        "[a-z0-9.]{0,80}".prop_map(String::into_bytes),
        "[0-9]{1,70}".prop_map(String::into_bytes),
        (100usize..5000).prop_map(|length| vec![b'x'; length]),
        number(0..0x80, 0),
        number(0xc0..0xe0, 1),
        number(0xf1..0xf2, 2),
        number(0xf2..0xf3, 3),
        number(0xf3..0xf4, 4),
        number(0xf4..0xf5, 8),
    ]
}

fn shape() -> impl Strategy<Value = (Shape, Option<usize>)> {
    let shapes = [Shape::Items, Shape::Members, Shape::Fields, Shape::Scored, Shape::Opaque];
    (prop::sample::select(shapes.to_vec()), prop::sample::select(vec![None, Some(5), Some(99)]))
}

proptest! {
    #[test]
    fn both_ways_through_a_listpack_tell_the_same(
        elements in vec(element(), 0..12),
        (shape, limit) in shape(),
    ) {
        let (whole, piecemeal) = both_ways(&listpack(&elements), shape, limit);
        if matches!(shape, Shape::Items | Shape::Members) {
            prop_assert_eq!(whole.as_ref().map(|(count, _)| *count), Some(elements.len() as u64));
        }
        prop_assert_eq!(whole, piecemeal);
    }

    #[test]
    fn both_ways_refuse_the_same_listpacks(
        elements in vec(element(), 1..6),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..3),
        (shape, limit) in shape(),
    ) {
        let mut bytes = listpack(&elements);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let (whole, piecemeal) = both_ways(&bytes, shape, limit);
        prop_assert_eq!(whole, piecemeal);
    }
}
