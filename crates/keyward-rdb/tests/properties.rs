//! What holds for every snapshot.

mod support;

use std::fs;
use std::io::{self, Read, Write};

use keyward_rdb::writer::{Attributes, Content, Writer};
use keyward_rdb::{Element, Key, Reader, Show, Value, Version, Visitor};
use proptest::collection::vec;
use proptest::prelude::*;
use support::{FILES, Transcript, data, read};

/// Gives as many bytes at a time as it is told, over and over.
struct Drip<'a> {
    bytes: &'a [u8],
    sizes: std::iter::Cycle<std::vec::IntoIter<usize>>,
}

impl<'a> Drip<'a> {
    fn new(bytes: &'a [u8], sizes: Vec<usize>) -> Self {
        Drip { bytes, sizes: sizes.into_iter().cycle() }
    }
}

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.sizes.next().unwrap_or(1).min(buffer.len());
        self.bytes.read(&mut buffer[..count])
    }
}

fn drip(bytes: &[u8], sizes: Vec<usize>) -> String {
    let mut transcript = Transcript::default();
    Reader::from_read(Drip::new(bytes, sizes)).unwrap().read(&mut transcript).unwrap();
    transcript.text
}

#[test]
fn a_byte_at_a_time_is_as_good_as_all_at_once() {
    for name in FILES {
        let bytes = fs::read(data(name)).unwrap();
        let whole = read(&bytes).unwrap().1;
        assert_eq!(drip(&bytes, vec![1]), whole, "{name}");
        assert_eq!(drip(&bytes, vec![1, 65_536, 7, 8192, 3]), whole, "{name}");
    }
}

#[test]
fn files_may_be_compressed_and_mapped_or_not() {
    let bytes = fs::read(data(FILES[0])).unwrap();
    let whole = read(&bytes).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(&bytes[..], 1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("dump.rdb", &bytes), ("dump.rdb.gz", &gzip), ("dump.rdb.zst", &zstd)] {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        for reader in [Reader::open(&path).unwrap(), Reader::from_read(&content[..]).unwrap()] {
            let mut transcript = Transcript::default();
            let summary = reader.read(&mut transcript).unwrap();
            assert_eq!((summary, transcript.text), whole, "{name}");
        }
        // Cut off, it is an error, not a shorter snapshot.
        fs::write(&path, &content[..content.len() - 100]).unwrap();
        Reader::open(&path).unwrap().read(&mut ()).unwrap_err();
    }
}

#[test]
fn a_long_name_is_told_by_its_beginning() {
    struct Names(Vec<(Vec<u8>, u64)>);
    impl Visitor for Names {
        fn key(&mut self, key: &Key<'_>) -> Show {
            self.0.push((key.name.to_vec(), key.name_len));
            Show::NOTHING
        }
    }
    let mut writer = Writer::new(Vec::new(), Version::redis(11)).unwrap();
    let name = vec![b'n'; 3 << 20];
    writer.key(&name, &Attributes::default(), &Content::String(b"v")).unwrap();
    let bytes = writer.finish().unwrap();
    for reader in [Reader::from_slice(&bytes), Reader::from_read(&bytes[..]).unwrap()] {
        let mut names = Names(Vec::new());
        reader.read(&mut names).unwrap();
        assert_eq!(names.0, [(name[..1 << 20].to_vec(), 3 << 20)]);
    }
}

#[test]
fn no_more_is_shown_than_was_asked_for() {
    struct Two(u64);
    impl Visitor for Two {
        fn key(&mut self, _: &Key<'_>) -> Show {
            Show::up_to(2)
        }

        fn element(&mut self, element: &Element<'_>) {
            let excerpts = match *element {
                Element::Field { name, value, .. } => vec![name, value],
                Element::Text(excerpt) | Element::Item(excerpt) | Element::Member(excerpt) => {
                    vec![excerpt]
                }
                Element::Scored { member, .. } => vec![member],
                _ => Vec::new(),
            };
            for excerpt in excerpts {
                assert_eq!(excerpt.bytes.len() as u64, excerpt.len.min(2), "{element:?}");
                self.0 += 1;
            }
        }
    }
    for name in FILES {
        let mut two = Two(0);
        Reader::open(data(name)).unwrap().read(&mut two).unwrap();
        assert!(two.0 > 20_000, "{name}");
    }
    // An element of an array that is a number of many digits.
    let array = [&[1, 0, 0, 2][..], &f64::MIN_POSITIVE.to_le_bytes()].concat();
    let mut two = Two(0);
    let bytes = support::snapshot(Version::redis(14), 28, &array);
    Reader::from_slice(&bytes).read(&mut two).unwrap();
    assert_eq!(two.0, 1);
}

/// What a snapshot should contain.
#[derive(Debug, Clone, PartialEq)]
enum Model {
    Text(Vec<u8>),
    List(Vec<Vec<u8>>),
    Set(std::collections::BTreeSet<Vec<u8>>),
    Hash(std::collections::BTreeMap<Vec<u8>, Vec<u8>>),
    Zset(std::collections::BTreeMap<Vec<u8>, f64>),
}

impl Model {
    fn len(&self) -> usize {
        match self {
            Model::Text(text) => text.len(),
            Model::List(items) => items.len(),
            Model::Set(members) => members.len(),
            Model::Hash(fields) => fields.len(),
            Model::Zset(members) => members.len(),
        }
    }
}

#[derive(Default)]
struct Models {
    now: Option<Model>,
    read: Vec<(Vec<u8>, Attributes, Model)>,
}

impl Visitor for Models {
    fn key(&mut self, key: &Key<'_>) -> Show {
        self.now = Some(match key.key_type.name() {
            "string" => Model::Text(Vec::new()),
            "list" => Model::List(Vec::new()),
            "set" => Model::Set(std::collections::BTreeSet::new()),
            "hash" => Model::Hash(std::collections::BTreeMap::new()),
            _ => Model::Zset(std::collections::BTreeMap::new()),
        });
        Show::up_to(usize::MAX)
    }

    fn element(&mut self, element: &Element<'_>) {
        match (self.now.as_mut().unwrap(), *element) {
            (Model::Text(text), Element::Text(excerpt)) => text.extend(excerpt.bytes),
            (Model::List(items), Element::Item(item)) => items.push(item.bytes.to_vec()),
            (Model::Set(members), Element::Member(member)) => {
                assert!(members.insert(member.bytes.to_vec()));
            }
            (Model::Hash(fields), Element::Field { name, value, .. }) => {
                assert_eq!(fields.insert(name.bytes.to_vec(), value.bytes.to_vec()), None);
            }
            (Model::Zset(members), Element::Scored { member, score }) => {
                assert_eq!(members.insert(member.bytes.to_vec(), score), None);
            }
            (now, element) => panic!("{element:?} in {now:?}"),
        }
    }

    fn value(&mut self, key: &Key<'_>, value: &Value) {
        let model = self.now.take().unwrap();
        assert_eq!(value.length, model.len() as u64);
        assert!(value.memory > value.length.min(8));
        let Key { expires_at, idle, freq, .. } = *key;
        self.read.push((key.name.to_vec(), Attributes { expires_at, idle, freq }, model));
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..40),
        any::<i64>().prop_map(|number| number.to_string().into_bytes()),
        (-5000i64..5000).prop_map(|number| number.to_string().into_bytes()),
        vec(any::<u8>(), 60..300),
        (any::<u8>(), 4000usize..20_000).prop_map(|(byte, times)| vec![byte; times]),
    ]
}

fn model() -> impl Strategy<Value = Model> {
    prop_oneof![
        text().prop_map(Model::Text),
        vec(text(), 1..20).prop_map(Model::List),
        proptest::collection::btree_set(text(), 1..20).prop_map(Model::Set),
        proptest::collection::btree_set(any::<i32>(), 1..20).prop_map(|numbers| Model::Set(
            numbers.iter().map(|number| number.to_string().into_bytes()).collect()
        )),
        proptest::collection::btree_map(text(), text(), 1..20).prop_map(Model::Hash),
        proptest::collection::btree_map(text(), any::<f64>(), 1..20).prop_map(Model::Zset),
    ]
}

fn attributes() -> impl Strategy<Value = Attributes> {
    (
        prop::option::of(0..u64::MAX / 2),
        prop::option::of(any::<u64>()),
        prop::option::of(any::<u8>()),
    )
        .prop_map(|(expires_at, idle, freq)| Attributes { expires_at, idle, freq })
}

fn write(version: Version, keys: &[(Vec<u8>, Attributes, Model)]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), version).unwrap();
    for (name, attributes, model) in keys {
        match model {
            Model::Text(text) => writer.key(name, attributes, &Content::String(text)),
            Model::List(items) => {
                let items: Vec<_> = items.iter().map(Vec::as_slice).collect();
                writer.key(name, attributes, &Content::List(&items))
            }
            Model::Set(members) => {
                let members: Vec<_> = members.iter().map(Vec::as_slice).collect();
                writer.key(name, attributes, &Content::Set(&members))
            }
            Model::Hash(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, value)| (&name[..], &value[..])).collect();
                writer.key(name, attributes, &Content::Hash(&fields))
            }
            Model::Zset(members) => {
                let members: Vec<_> =
                    members.iter().map(|(member, score)| (&member[..], *score)).collect();
                writer.key(name, attributes, &Content::Zset(&members))
            }
        }
        .unwrap();
    }
    writer.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_written_is_read(
        keys in vec((text(), attributes(), model()), 0..12),
        version in prop_oneof![
            (5u16..15).prop_map(Version::redis),
            Just(Version::valkey(80)),
        ],
        sizes in vec(1usize..100_000, 1..5),
    ) {
        let bytes = write(version, &keys);
        let mut models = Models::default();
        let summary = Reader::from_slice(&bytes).read(&mut models).unwrap();
        prop_assert_eq!(&models.read, &keys);
        prop_assert_eq!(summary.keys, keys.len() as u64);
        prop_assert_eq!(summary.bytes, bytes.len() as u64);
        let mut streamed = Models::default();
        Reader::from_read(Drip::new(&bytes, sizes)).unwrap().read(&mut streamed).unwrap();
        prop_assert_eq!(streamed.read, keys);
    }
}
