//! Encodings that the servers at hand do not write any more, or not yet, by hand.

mod support;

use keyward_rdb::writer::{Attributes, Content, Writer, listpack, write_length, write_string};
use keyward_rdb::{ErrorKind, Version};
use support::{one, read, snapshot};

fn string(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_string(bytes, &mut out);
    out
}

fn strings(parts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        write_string(part, &mut out);
    }
    out
}

/// A ziplist of entries that are encoded already, without the length before them.
fn ziplist(entries: &[&[u8]]) -> Vec<u8> {
    let mut body = Vec::new();
    let (mut previous, mut tail) = (0usize, 10);
    for entry in entries {
        tail = 10 + body.len();
        let start = body.len();
        if let Ok(short @ ..254) = u8::try_from(previous) {
            body.push(short);
        } else {
            body.push(254);
            body.extend(u32::try_from(previous).unwrap().to_le_bytes());
        }
        body.extend_from_slice(entry);
        previous = body.len() - start;
    }
    let mut out = Vec::new();
    out.extend(u32::try_from(11 + body.len()).unwrap().to_le_bytes());
    out.extend(u32::try_from(tail).unwrap().to_le_bytes());
    out.extend(u16::try_from(entries.len()).unwrap().to_le_bytes());
    out.extend(body);
    out.push(255);
    out
}

#[test]
fn a_zipmap_of_redis_2_4_is_a_hash() {
    let mut zipmap = b"\x03\x01a\x01\x00b\x03foo\x03\x02barxx\x03big\xfe".to_vec();
    zipmap.extend(300u32.to_le_bytes());
    zipmap.push(0);
    zipmap.extend([b'z'; 300]);
    zipmap.push(255);
    insta::assert_snapshot!(one(Version::redis(2), 9, &string(&zipmap)), @"
    0/k hash
      a = b
      foo = bar
      big = zzzzzzzzzzzzzzzzzzzzzzzz… (300)
      zipmap, length 3, 333 B in the file, 432 B in memory
    ");
}

#[test]
fn every_entry_of_a_ziplist_is_read() {
    let long = [&[0x41, 0x2c][..], &[b'y'; 300]].concat();
    let longer = [&[0x80, 0, 0, 0x40, 0][..], &[b'w'; 16_384]].concat();
    let entries: [&[u8]; 11] = [
        b"\x03abc",
        &long,
        &longer,
        b"\xc0\x39\x30",
        b"\xd0\xff\xff\xff\xff",
        b"\xe0\x00\x00\x00\x00\x00\x00\x00\x80",
        b"\xf0\x00\x00\x80",
        b"\xfe\x80",
        b"\xf1",
        b"\xfd",
        b"\x00",
    ];
    insta::assert_snapshot!(one(Version::redis(6), 10, &string(&ziplist(&entries))), @"
    0/k list
      - abc
      - yyyyyyyyyyyyyyyyyyyyyyyy… (300)
      - wwwwwwwwwwwwwwwwwwwwwwww… (16384)
      - 12345
      - -1
      - -9223372036854775808
      - -8388608
      - -128
      - 0
      - 12
      - 
      ziplist, length 11, 16759 B in the file, 20528 B in memory
    ");
}

#[test]
fn small_hashes_and_sorted_sets_were_ziplists() {
    let hash = ziplist(&[b"\x04name", b"\x03Ada", b"\x03age", b"\xfe\x24"]);
    insta::assert_snapshot!(one(Version::redis(9), 13, &string(&hash)), @"
    0/k hash
      name = Ada
      age = 36
      ziplist, length 2, 34 B in the file, 80 B in memory
    ");
    let zset = ziplist(&[b"\x01a", b"\xf2", b"\x01b", b"\x031.5", b"\x01c", b"\x03inf"]);
    insta::assert_snapshot!(one(Version::redis(9), 12, &string(&zset)), @"
    0/k zset
      * a at 1
      * b at 1.5
      * c at inf
      ziplist, length 3, 36 B in the file, 80 B in memory
    ");
    // Redis 7.0 loads them as listpacks.
    assert!(one(Version::redis(10), 13, &string(&hash)).contains("listpack, length 2"));
}

#[test]
fn a_quicklist_before_7_0_holds_ziplists() {
    let mut bytes = vec![2];
    write_string(&ziplist(&[b"\x01a", b"\xf3"]), &mut bytes);
    write_string(&ziplist(&[b"\x01b"]), &mut bytes);
    insta::assert_snapshot!(one(Version::redis(7), 14, &bytes), @"
    0/k list
      - a
      - 2
      - b
      quicklist, length 3, 36 B in the file, 200 B in memory
    ");
}

#[test]
fn a_plain_node_of_a_quicklist_is_one_item() {
    let mut bytes = vec![2, 1];
    write_string(&[b'p'; 100], &mut bytes);
    bytes.push(2);
    write_string(&listpack([&b"x"[..], b"-5"]), &mut bytes);
    insta::assert_snapshot!(one(Version::redis(11), 18, &bytes), @"
    0/k list
      - pppppppppppppppppppppppp… (100)
      - x
      - -5
      quicklist, length 3, 122 B in the file, 296 B in memory
    ");
    bytes[1] = 3;
    let error = read(&snapshot(Version::redis(11), 18, &bytes)).unwrap_err();
    insta::assert_snapshot!(error, @"at byte 13: a list's node is of no known kind");
}

#[test]
fn the_first_versions_wrote_every_element_by_itself() {
    let list = [&[2][..], &strings(&[b"one", b"two"])].concat();
    insta::assert_snapshot!(one(Version::redis(1), 1, &list), @"
    0/k list
      - one
      - two
      linkedlist, length 2, 12 B in the file, 208 B in memory
    ");
    let zset = b"\x03\x01a\x031.5\x01b\xfe\x01c\xff";
    insta::assert_snapshot!(one(Version::redis(4), 3, zset), @"
    0/k zset
      * a at 1.5
      * b at inf
      * c at -inf
      skiplist, length 3, 16 B in the file, 1080 B in memory
    ");
    let error = read(&snapshot(Version::redis(4), 3, b"\x01\x01a\xfd")).unwrap_err();
    insta::assert_snapshot!(error, @"at byte 15: a score is not a number");
}

#[test]
fn seconds_were_enough_for_an_expiry() {
    let bytes = b"REDIS0002\xfd\x15\xcd\x5b\x07\x00\x01k\x01v\xff";
    let (summary, text) = read(bytes).unwrap();
    insta::assert_snapshot!(text, @"
    0/k string expires 123456789000
      v
      embstr, length 1, 10 B in the file, 64 B in memory
    ");
    assert_eq!(summary.expiring, 1);
    assert_eq!(summary.checksum, keyward_rdb::Checksum::Absent);
}

#[test]
fn intsets_have_three_widths() {
    for (width, number) in [(2u32, -300i64), (4, 70_000), (8, i64::MIN)] {
        let mut intset = width.to_le_bytes().to_vec();
        intset.extend(1u32.to_le_bytes());
        intset.extend(&number.to_le_bytes()[..width as usize]);
        let text = one(Version::redis(5), 11, &string(&intset));
        assert!(text.contains(&format!("  * {number}\n  intset, length 1")), "{text}");
    }
}

/// A stream of one node with two entries, a group, a consumer and a pending entry.
fn stream(generation: u8) -> Vec<u8> {
    let id = [[0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 0, 0]].concat();
    let node = listpack([&b"2"[..], b"0", b"1", b"f", b"0", b"2", b"0", b"0", b"v", b"4"]);
    let mut out = vec![1];
    write_string(&id, &mut out);
    write_string(&node, &mut out);
    for length in [2, 256, 1] {
        write_length(length, &mut out);
    }
    if generation >= 2 {
        out.extend([0, 0, 0, 0, 2]);
    }
    out.push(1);
    write_string(b"group", &mut out);
    out.extend([0, 0]);
    if generation >= 2 {
        out.push(1);
    }
    out.push(1);
    out.extend(&id);
    out.extend([9; 8]);
    out.push(1);
    out.push(1);
    write_string(b"worker", &mut out);
    out.extend([9; 8]);
    if generation >= 3 {
        out.extend([9; 8]);
    }
    out.push(1);
    out.extend(&id);
    if generation >= 5 {
        out.push(1);
        out.extend(&id);
    }
    if generation >= 4 {
        // Duration, most, one producer with one message, two counters.
        out.extend([60, 10, 1]);
        write_string(b"producer", &mut out);
        out.push(1);
        write_string(b"message", &mut out);
        out.extend([5, 0, 1, 0]);
    }
    out
}

#[test]
fn every_generation_of_streams_is_read() {
    for (generation, code, version) in
        [(1, 15, 9), (2, 19, 10), (3, 21, 11), (4, 26, 13), (5, 27, 14)]
    {
        let text = one(Version::redis(version), code, &stream(generation));
        let added = if generation == 1 { "None" } else { "Some(2)" };
        let expected = format!(
            "StreamInfo {{ last_id: StreamId {{ ms: 256, seq: 1 }}, entries_added: {added}, nodes: 1, \
             groups: 1, consumers: 1, pending: 1 }}"
        );
        assert!(text.contains(&expected), "{generation}: {text}");
        assert!(text.contains("stream, length 2"), "{generation}: {text}");
    }
}

#[test]
fn fields_have_ttls_in_four_forms() {
    let at: u64 = 4_000_000_000_000;
    let mut absolute = vec![2, 0];
    absolute.extend(strings(&[b"a", b"1"]));
    write_length(at, &mut absolute);
    absolute.extend(strings(&[b"b", b"2"]));
    insta::assert_snapshot!(one(Version::redis(12), 22, &absolute), @"
    0/k hash
      a = 1
      b = 2 expires 4000000000000
      hashtable, length 2, 22 B in the file, 216 B in memory, FieldTtls { count: 1, earliest: 4000000000000, latest: 4000000000000 }
    ");

    let mut relative = at.to_le_bytes().to_vec();
    relative.extend([3, 0]);
    relative.extend(strings(&[b"a", b"1"]));
    relative.push(1);
    relative.extend(strings(&[b"b", b"2"]));
    relative.push(8);
    relative.extend(strings(&[b"c", b"3"]));
    insta::assert_snapshot!(one(Version::redis(12), 24, &relative), @"
    0/k hash
      a = 1
      b = 2 expires 4000000000000
      c = 3 expires 4000000000007
      hashtable, length 3, 27 B in the file, 256 B in memory, FieldTtls { count: 2, earliest: 4000000000000, latest: 4000000000007 }
    ");

    let mut behind = vec![2];
    behind.extend(strings(&[b"a", b"1"]));
    behind.extend((-1i64).to_le_bytes());
    behind.extend(strings(&[b"b", b"2"]));
    behind.extend(at.to_le_bytes());
    insta::assert_snapshot!(one(Version::valkey(80), 22, &behind), @"
    0/k hash
      a = 1
      b = 2 expires 4000000000000
      hashtable, length 2, 28 B in the file, 216 B in memory, FieldTtls { count: 1, earliest: 4000000000000, latest: 4000000000000 }
    ");

    let packed = listpack([&b"b"[..], b"2", b"4000000000000", b"a", b"1", b"0"]);
    let before_release = one(Version::redis(12), 23, &string(&packed));
    insta::assert_snapshot!(before_release, @"
    0/k hash
      b = 2 expires 4000000000000
      a = 1
      listpackex, length 2, 33 B in the file, 80 B in memory, FieldTtls { count: 1, earliest: 4000000000000, latest: 4000000000000 }
    ");
    let released = one(Version::redis(12), 25, &[&at.to_le_bytes()[..], &string(&packed)].concat());
    assert_eq!(released, before_release.replace("33 B", "41 B"));
}

#[test]
fn modules_are_passed_over_and_counted() {
    let name = 0x45e2_5238_df91_2c03_u64; // ReJSON-RL
    let mut parts = Vec::new();
    for (kind, bytes) in [
        (1, &[5][..]),
        (2, &[0x40, 200]),
        (3, &[0; 4]),
        (4, &[0; 8]),
        (5, b"\x05hello"),
        (5, b"\xc0\x07"),
    ] {
        parts.push(kind);
        parts.extend(bytes);
    }
    parts.push(0);
    let mut value = Vec::new();
    write_length(name, &mut value);
    value.extend(&parts);
    let mut file = b"REDIS0009".to_vec();
    file.push(247);
    write_length(name, &mut file);
    file.extend([2, 1]);
    file.extend(&parts);
    for key in [b"\x07\x01a", b"\x07\x01b"] {
        file.extend(key);
        file.extend(&value);
    }
    file.extend(b"\xff\0\0\0\0\0\0\0\0");
    let (summary, text) = read(&file).unwrap();
    insta::assert_snapshot!(text);
    assert_eq!(summary.modules.iter().map(|(_, count)| count).sum::<u64>(), 2);
    assert_eq!(summary.module_aux, 1);
    assert_eq!(summary.checksum, keyward_rdb::Checksum::Disabled);

    let error = read(&snapshot(Version::redis(8), 6, b"\x00")).unwrap_err();
    insta::assert_snapshot!(error, @"at byte 9: a module's value from before Redis 4.0 was released cannot be skipped");
}

#[test]
fn metadata_of_modules_belongs_to_the_key_behind_it() {
    let file = b"REDIS0013\xf3\x01abcd\x02\x05\x00\x00\x01k\x01v\xff\0\0\0\0\0\0\0\0";
    insta::assert_snapshot!(read(file).unwrap().1, @"
    0/k string
      v
      embstr, length 1, 14 B in the file, 64 B in memory
    ");
}

#[test]
fn extras_are_told() {
    let mut file = b"REDIS0010".to_vec();
    // A function before 7.0 was released, with and without a description.
    file.extend(b"\xf6\x03lib\x03LUA\x00\x06code()");
    file.extend(b"\xf6\x03lib\x03LUA\x01\x04text\x06more()");
    file.extend(b"\xf5\x06#!lua\n");
    file.extend(b"\xfe\x03\xfb\x02\x01\xf4\x40\x64\x02\x01");
    file.extend(b"\xf8\x40\xff\x00\x01i\x01v");
    file.extend(b"\xf9\x07\x00\x01f\x01v");
    file.extend(b"\xff\0\0\0\0\0\0\0\0and more");
    let (summary, text) = read(&file).unwrap();
    insta::assert_snapshot!(text, @r"
    function code()
    function more()
    function #!lua\n
    Size { db: 3, keys: 2, expiring: 1 }
    Slot { slot: 100, keys: 2, expiring: 1 }
    3/i string idle 255
      v
      embstr, length 1, 8 B in the file, 64 B in memory
    3/f string freq 7
      v
      embstr, length 1, 7 B in the file, 64 B in memory
    ");
    assert_eq!((summary.functions, summary.slots), (3, 1));
    assert_eq!(summary.trailing, Some(8));

    let valkey = b"VALKEY080\xf3\x03job\x02\x01\x02\x03\x04\xff\0\0\0\0\0\0\0\0";
    assert!(read(valkey).unwrap().1.starts_with("SlotImport"));
}

#[test]
fn arrays_of_redis_8_8_are_read() {
    let mut bytes = vec![4, 1, 9];
    bytes.extend([0, 1]);
    bytes.extend((-7i64).to_le_bytes());
    bytes.extend([2, 2]);
    bytes.extend(1.5f64.to_le_bytes());
    bytes.extend([3, 3]);
    write_string(b"small", &mut bytes);
    bytes.extend([0x40, 99, 0]);
    write_string(b"longer text", &mut bytes);
    let text = one(Version::redis(14), 28, &bytes);
    assert!(text.starts_with("0/k array\n  - -7\n  - 1.5\n  - small\n  - longer text\n"), "{text}");
}

#[test]
fn newer_versions_are_read_as_far_as_they_are_understood() {
    let mut writer = Writer::new(Vec::new(), Version::redis(99)).unwrap();
    writer.key(b"k", &Attributes::default(), &Content::String(b"v")).unwrap();
    let (summary, _) = read(&writer.finish().unwrap()).unwrap();
    assert!(summary.version.is_newer());
    assert_eq!(summary.keys, 1);

    let error = read(&snapshot(Version::redis(99), 77, b"")).unwrap_err();
    insta::assert_snapshot!(error, @"at byte 9: type 77 is unknown; REDIS0099 is newer than what this reader knows, REDIS0014");
    let error = read(&snapshot(Version::valkey(81), 23, b"")).unwrap_err();
    insta::assert_snapshot!(error, @"at byte 9: type 23 is unknown; VALKEY081 is newer than what this reader knows, VALKEY080");
    let error = read(&snapshot(Version::redis(10), 8, b"")).unwrap_err();
    insta::assert_snapshot!(error, @"at byte 9: 8 is not a type of value");
    assert!(matches!(error.kind(), ErrorKind::UnknownType { code: 8, .. }));
}
