//! `.keyward-files`: what Keyward wrote to a folder.
//!
//! The list is a file like any other, and anybody may have written it. A hash of the text proves that a file
//! is still the one that Keyward wrote.

use crate::Files;
use std::collections::BTreeMap;
use std::fmt;

/// The list's name.
pub(crate) const LIST: &str = ".keyward-files";

/// The files that Keyward wrote, by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    files: BTreeMap<String, Written>,
}

/// What is known of a file.
#[derive(Debug, Clone)]
struct Written {
    generator: String,
    hash: String,
}

impl List {
    pub(crate) fn read(text: &str) -> Self {
        let entry = |line: &str| {
            let mut words = line.splitn(3, '\t');
            let (generator, hash, path) = (words.next()?, words.next()?, words.next()?);
            let (generator, hash) = (generator.to_owned(), hash.to_owned());
            Some((path.to_owned(), Written { generator, hash }))
        };
        List { files: text.lines().filter_map(entry).collect() }
    }

    /// What other generators wrote.
    pub(crate) fn without(&self, generated: &[Files]) -> Self {
        let mut list = self.clone();
        list.files.retain(|_, it| !generated.iter().any(|files| files.generator == it.generator));
        list
    }

    /// These files and those.
    pub(crate) fn and(&self, more: &List) -> Self {
        let mut list = self.clone();
        list.files.extend(more.files.clone());
        list
    }

    pub(crate) fn add(&mut self, generator: &str, path: &str, text: &str) {
        let written = Written { generator: generator.to_owned(), hash: hash(text.as_bytes()) };
        self.files.insert(path.to_owned(), written);
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(crate) fn names(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether these bytes are what Keyward wrote to this path.
    pub(crate) fn proves(&self, path: &str, bytes: &[u8]) -> bool {
        self.files.get(path).is_some_and(|written| written.hash == hash(bytes))
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("# What Keyward wrote here; it removes or overwrites nothing else.\n")?;
        self.files.iter().try_for_each(|(path, Written { generator, hash })| {
            writeln!(f, "{generator}\t{hash}\t{path}")
        })
    }
}

/// FNV-1a of 64 bits. It tells a file that was changed from one that was not; nobody gains by a collision,
/// since whoever can write the list can write the file.
fn hash(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}
