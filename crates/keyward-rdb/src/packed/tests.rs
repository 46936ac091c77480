//! Both ways through a listpack.

use super::*;
use crate::input::Slice;
use crate::writer::listpack;
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

fn packed(elements: &[Vec<u8>]) -> Vec<u8> {
    listpack(elements.iter().map(Vec::as_slice))
}

fn element() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[a-z0-9.]{0,80}".prop_map(String::into_bytes),
        "[0-9]{1,70}".prop_map(String::into_bytes),
        (100usize..5000).prop_map(|length| vec![b'x'; length]),
        // Of every width.
        (any::<i64>(), 0u32..64)
            .prop_map(|(number, less)| (number >> less).to_string().into_bytes()),
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
        let (whole, piecemeal) = both_ways(&packed(&elements), shape, limit);
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
        let mut bytes = packed(&elements);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let (whole, piecemeal) = both_ways(&bytes, shape, limit);
        prop_assert_eq!(whole, piecemeal);
    }
}
