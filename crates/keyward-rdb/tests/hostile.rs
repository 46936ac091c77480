//! Input that lies: cut off, flipped, forged, or something else altogether.

mod support;

use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;

use keyward_rdb::writer::{Attributes, Content, Writer, listpack, write_length, write_string};
use keyward_rdb::{Error, ErrorKind, Reader, Version, Visitor};
use proptest::prelude::*;
use support::{FILES, Transcript, data, read, snapshot};

/// All kinds of values in a few hundred bytes, as a real server wrote them.
fn small() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), Version::redis(11)).unwrap();
    writer.aux(b"redis-ver", b"7.2.0").unwrap();
    writer.function(b"#!lua name=l\n").unwrap();
    writer.select(2).unwrap();
    writer.size(6, 1).unwrap();
    let expiring = Attributes { expires_at: Some(9_000_000_000_000), ..Attributes::default() };
    let used = Attributes { freq: Some(3), ..Attributes::default() };
    let plain = Attributes::default();
    let long = [b'x'; 70];
    for (name, attributes, content) in [
        (&b"s"[..], &expiring, Content::String(b"text")),
        (b"n", &used, Content::String(b"-70000")),
        (b"l", &plain, Content::List(&[b"a", b"12345", &long])),
        (b"i", &plain, Content::Set(&[b"1", b"70000"])),
        (b"p", &plain, Content::Set(&[b"one", b"2"])),
        (b"h", &plain, Content::Hash(&[(b"f", b"v"), (b"g", b"-1")])),
        (b"H", &plain, Content::Hash(&[(b"f", &long)])),
        (b"z", &plain, Content::Zset(&[(b"m", 1.5), (b"n", -2.0)])),
        (b"Z", &plain, Content::Zset(&[(&long, 1e300)])),
    ] {
        writer.key(name, attributes, &content).unwrap();
    }
    writer.finish().unwrap()
}

#[track_caller]
fn assert_refused(bytes: &[u8], what: &str) -> Error {
    let (error, streamed) = refused_both_ways(bytes, what);
    assert_eq!(streamed.to_string(), error.to_string(), "{what}");
    error
}

/// At once and through a window.
#[track_caller]
fn refused_both_ways(bytes: &[u8], what: &str) -> (Error, Error) {
    let error = read(bytes).expect_err(what);
    assert!(error.offset() <= bytes.len() as u64, "{what}: {error}");
    let streamed = Reader::from_read(bytes).unwrap().read(&mut Transcript::default());
    (error, streamed.expect_err(what))
}

#[test]
fn a_file_that_was_cut_off_is_refused_wherever_it_was() {
    let small = small();
    read(&small).unwrap();
    for end in 0..small.len() {
        let error = assert_refused(&small[..end], &format!("cut at {end}"));
        match error.kind() {
            ErrorKind::NotRdb { begins } => assert!(begins.is_empty()),
            ErrorKind::Truncated => assert_eq!(error.offset(), end as u64),
            other => panic!("cut at {end}: {other}"),
        }
    }
}

#[test]
fn real_files_that_were_cut_off_are_refused() {
    for name in FILES {
        let bytes = fs::read(data(name)).unwrap();
        let ends = (0..bytes.len()).step_by(211).chain(bytes.len() - 300..bytes.len());
        for end in ends {
            let error =
                Reader::from_slice(&bytes[..end]).read(&mut ()).expect_err("it was cut off");
            assert!(error.offset() <= end as u64, "{name} cut at {end}: {error}");
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let small = small();
    for at in 0..small.len() {
        for bit in 0..8 {
            let mut bytes = small.clone();
            bytes[at] ^= 1 << bit;
            // Only the version has bits that may change: REDIS0011 and REDIS0019 hold the same.
            if (5..9).contains(&at) {
                let _ = read(&bytes);
                continue;
            }
            assert_refused(&bytes, &format!("bit {bit} of byte {at}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn flipped_bits_of_real_files_are_noticed(
        file in 0..FILES.len(), at: prop::sample::Index, bit in 0..8u8,
    ) {
        let mut bytes = fs::read(data(FILES[file])).unwrap();
        let at = 9 + at.index(bytes.len() - 9);
        bytes[at] ^= 1 << bit;
        prop_assert!(read(&bytes).is_err(), "bit {bit} of byte {at}");
    }

    #[test]
    fn without_a_checksum_nothing_panics(
        file in 0..FILES.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = fs::read(data(FILES[file])).unwrap();
        let end = bytes.len() - 8;
        bytes[end..].fill(0);
        for (at, byte) in changes {
            bytes[9 + at.index(end - 9)] = byte;
        }
        let whole = read(&bytes).map(|(_, text)| text).map_err(|error| error.to_string());
        let mut transcript = Transcript::default();
        let streamed = Reader::from_read(&bytes[..]).unwrap().read(&mut transcript);
        prop_assert_eq!(streamed.map(|_| transcript.text).map_err(|error| error.to_string()), whole);
    }

    #[test]
    fn noise_behind_a_header_is_refused(noise: Vec<u8>) {
        let bytes = [b"REDIS0011", &noise[..]].concat();
        if let Err(error) = read(&bytes) {
            prop_assert!(error.offset() <= bytes.len() as u64);
        }
    }
}

#[test]
fn what_is_something_else_is_named() {
    for (bytes, message) in [
        (&b""[..], "at byte 0: the input is empty"),
        (b"%PDF-1.7\n%\xe2\xe3", "at byte 0: this is not an RDB file, it is a PDF"),
        (b"PK\x03\x04", "at byte 0: this is not an RDB file, it is a ZIP archive"),
        (
            b"*2\r\n$6\r\nSELECT\r\n",
            "at byte 0: this is not an RDB file, it is an append-only file without a snapshot in front",
        ),
        (
            b"{\"keys\": []}",
            "at byte 0: this is not an RDB file: it begins with `{\\\"keys\\\": `, not with `REDIS` or `VALKEY`",
        ),
        (b"REDIS", "at byte 5: the input ends too early; it was cut off"),
        (b"REDIS00x1\xff", "at byte 0: `REDIS00x1` names no RDB version"),
        (b"REDIS0000\xff", "at byte 0: `REDIS0000` names no RDB version"),
    ] {
        assert_eq!(assert_refused(bytes, message).to_string(), message);
    }
}

/// A string that claims `length` bytes and has none.
fn claim(length: u64) -> Vec<u8> {
    let mut out = Vec::new();
    write_length(length, &mut out);
    out
}

#[test]
fn a_length_that_is_merely_claimed_is_never_allocated() {
    let huge = claim(u64::MAX);
    let compressed = [&[0xc3][..], &claim(1 << 40), &claim(1 << 46)].concat();
    for (code, bytes) in [
        (0, &huge),
        (0, &claim(1 << 62)),
        (0, &compressed),
        (1, &huge),
        (1, &[&[1][..], &huge].concat()),
        (2, &huge),
        (2, &[&[1][..], &huge].concat()),
        (4, &huge),
        (4, &[&[1][..], &huge].concat()),
        (4, &[&[1, 0][..], &huge].concat()),
        (5, &huge),
        (5, &[&[1][..], &huge].concat()),
        (7, &[&huge[..], &[5], &huge].concat()),
        (9, &huge),
        (10, &huge),
        (11, &compressed),
        (14, &huge),
        (15, &huge),
        (16, &huge),
        (16, &compressed),
        (18, &[&huge[..], &[2], &huge].concat()),
        (21, &huge),
        (28, &huge),
        (28, &[&[1, 0, 0, 0][..], &huge].concat()),
    ] {
        // Through a window more is read before the end is seen, so that another error may come first.
        refused_both_ways(&snapshot(Version::redis(14), code, bytes), &format!("type {code}"));
    }
    let mut name = b"REDIS0011\x00".to_vec();
    name.extend(huge);
    assert_refused(&name, "a key's name");
}

#[test]
fn a_compressed_string_cannot_claim_what_no_compression_gives() {
    let bytes = [&[0xc3][..], &claim(3), &claim(1 << 30), b"abc"].concat();
    let error = assert_refused(&snapshot(Version::redis(11), 0, &bytes), "a bomb");
    insta::assert_snapshot!(error, @"at byte 13: a compressed string claims an impossible length");
}

#[test]
fn packed_values_that_contradict_themselves_are_refused() {
    let packed = |change: fn(&mut Vec<u8>)| {
        let mut bytes = listpack([&b"field"[..], b"12345"]);
        change(&mut bytes);
        let mut out = Vec::new();
        write_string(&bytes, &mut out);
        let bytes = snapshot(Version::redis(11), 16, &out);
        assert_refused(&bytes, "a bad listpack").to_string()
    };
    let messages = [
        packed(|bytes| bytes[0] += 1),
        packed(|bytes| bytes[4] += 1),
        packed(|bytes| bytes[6] = 0xfa),
        packed(|bytes| bytes[12] += 1),
        packed(|bytes| bytes[6] += 1),
        packed(|bytes| {
            bytes.pop();
            bytes[0] -= 1;
        }),
        packed(|bytes| bytes[13] = 0xff),
        packed(|bytes| {
            *bytes = listpack([&b"lonely"[..]]);
        }),
        packed(Vec::clear),
    ];
    insta::assert_snapshot!(messages.join("\n"), @"
    at byte 13: a listpack claims another length than its string
    at byte 31: a listpack counts its elements wrong
    at byte 20: this byte begins no listpack element
    at byte 26: a listpack element gives its length wrong
    at byte 27: a listpack element gives its length wrong
    at byte 30: a packed value ends in the middle of an element
    at byte 27: a listpack ends before its last byte
    at byte 28: a field or a member stands without its value
    at byte 13: a listpack is shorter than its header
    ");
}

#[test]
fn a_wrong_checksum_gives_both() {
    let mut bytes = small();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let error = assert_refused(&bytes, "a wrong checksum");
    assert_eq!(error.offset(), last as u64 - 7);
    assert!(matches!(error.kind(), ErrorKind::Checksum { .. }));
    assert!(error.to_string().contains("the checksum is wrong: "), "{error}");
}

#[test]
fn an_expiry_without_its_key_is_refused() {
    let bytes = b"REDIS0003\xfc\0\0\0\0\0\0\0\0\xff";
    let error = assert_refused(bytes, "an expiry without a key");
    insta::assert_snapshot!(error, @"at byte 18: the file ends where a key must follow");
}

#[test]
fn a_reader_that_fails_is_told_with_the_place() {
    struct Breaks(usize);
    impl Read for Breaks {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let bytes = small();
            match bytes.get(self.0..50) {
                Some([]) | None => Err(io::Error::other("the cable was pulled")),
                Some(rest) => {
                    let count = rest.len().min(buffer.len());
                    buffer[..count].copy_from_slice(&rest[..count]);
                    self.0 += count;
                    Ok(count)
                }
            }
        }
    }
    let error = Reader::from_read(Breaks(0)).unwrap().read(&mut ()).unwrap_err();
    insta::assert_snapshot!(error, @"at byte 50: the input cannot be read: the cable was pulled");
}

#[test]
fn a_visitor_can_stop() {
    struct Enough;
    impl Visitor for Enough {
        fn progress(&mut self, _: u64) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let mut writer = Writer::new(Vec::new(), Version::redis(11)).unwrap();
    for number in 0..10_000 {
        let name = format!("key:{number}");
        writer.key(name.as_bytes(), &Attributes::default(), &Content::String(b"v")).unwrap();
    }
    let bytes = writer.finish().unwrap();
    let error = Reader::from_slice(&bytes).read(&mut Enough).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Stopped));
}

#[test]
fn a_missing_file_and_a_folder_are_errors() {
    let error = Reader::open("no/such/file.rdb").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
    let error = Reader::open(env!("CARGO_MANIFEST_DIR")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
}
