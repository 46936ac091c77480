//! Memory does not grow with what is read.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};

use keyward_rdb::{Element, Key, Reader, Show, Visitor};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Makes `count` copies of `part` between `head` and `tail`, as they are read.
struct Made {
    head: Vec<u8>,
    part: Vec<u8>,
    count: usize,
    tail: Vec<u8>,
    at: usize,
}

impl Read for Made {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let body = self.head.len() + self.part.len() * self.count;
        let rest = if self.at < self.head.len() {
            &self.head[self.at..]
        } else if self.at < body {
            &self.part[(self.at - self.head.len()) % self.part.len()..]
        } else {
            &self.tail[self.at - body..]
        };
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

struct Prefixes(u64);

impl Visitor for Prefixes {
    fn key(&mut self, _: &Key<'_>) -> Show {
        Show::up_to(100)
    }

    fn element(&mut self, element: &Element<'_>) {
        self.0 += 1;
        if let Element::Text(excerpt) | Element::Item(excerpt) = element {
            assert!(excerpt.bytes.len() <= 100);
        }
    }
}

const END: &[u8] = b"\xff\0\0\0\0\0\0\0\0";

fn long(length: u32) -> Vec<u8> {
    [&[0x80][..], &length.to_be_bytes()].concat()
}

#[test]
fn a_value_of_any_size_is_read_in_less_than_a_megabyte() {
    let mb = 1 << 20;
    let size = 256 << 20;
    let zeros = vec![b'z'; 64 * 1024];

    // A string as it is.
    let head = [&b"REDIS0010\x00\x01k"[..], &long(size)].concat();
    let string = Made { head, part: zeros.clone(), count: 4096, tail: END.into(), at: 0 };

    // The same compressed: a literal, then runs of 264 bytes.
    let runs = 1_000_000;
    let mut head = b"REDIS0010\x00\x01k\xc3".to_vec();
    head.extend(long(2 + 3 * runs));
    head.extend(long(1 + 264 * runs));
    head.extend(b"\x00z");
    let part = b"\xe0\xff\x00".repeat(1000);
    let compressed = Made { head, part, count: 1000, tail: END.into(), at: 0 };

    // A listpack of 16 million elements, in one node of a list.
    let elements: u32 = 16_000_000;
    let mut head = b"REDIS0010\x12\x01k\x01\x02".to_vec();
    head.extend(long(7 + 2 * elements));
    head.extend((7 + 2 * elements).to_le_bytes());
    head.extend([0xff, 0xff]);
    let tail = [&[0xff][..], END].concat();
    let listpack = Made { head, part: b"\x07\x01".repeat(1000), count: 16_000, tail, at: 0 };

    for (what, made, shown) in
        [("string", string, 1), ("compressed", compressed, 1), ("listpack", listpack, 16_000_000)]
    {
        let before = NOW.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let mut prefixes = Prefixes(0);
        Reader::from_read(made).unwrap().read(&mut prefixes).unwrap();
        let most = MOST.load(Ordering::Relaxed) - before;
        assert!(most < mb, "{what}: {most} bytes of heap");
        assert_eq!(prefixes.0, shown, "{what}");
    }
}
