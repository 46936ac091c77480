//! Keyspaces of well-known software, so that what is not yours is not drafted as if it were.
//!
//! Each file in `foreign/` describes one program or library:
//!
//! | field | meaning |
//! |---|---|
//! | `name` | its name, as the id of `[foreign.*]` |
//! | `about` | what writes these keys, for people |
//! | `known_from` | how that is known: keys that it wrote, or its documentation |
//! | `apps` | the applications of `corpus/` that wrote such keys: tests compare the file with them |
//! | `whole` | whether it wrote all keys of these applications |
//! | `globs` | its keys, as `[foreign.*]` has them |
//! | `signs` | keys that nobody else writes, with their Redis type: one of them must be there |
//!
//! ```
//! use keyward_infer::foreign;
//!
//! let keys: [(&[u8], &str); 3] =
//!     [(b"bull:mail:7", "hash"), (b"bull:mail:stalled-check", "string"), (b"cart:42", "hash")];
//! let found = foreign::recognised(keys.iter().copied());
//! assert_eq!(found[0].name, "bullmq");
//! assert_eq!(found[0].glob_of(b"bull:mail:7"), Some("bull:*"));
//! assert_eq!(found[0].glob_of(b"cart:42"), None);
//! ```

use keyward_pattern::Glob;
use serde::Deserialize;
use std::sync::LazyLock;

const FILES: &[&str] = &[
    include_str!("../foreign/arq.toml"),
    include_str!("../foreign/beaker.toml"),
    include_str!("../foreign/bee_queue.toml"),
    include_str!("../foreign/bullmq.toml"),
    include_str!("../foreign/celery.toml"),
    include_str!("../foreign/celery_redbeat.toml"),
    include_str!("../foreign/channels.toml"),
    include_str!("../foreign/connect_redis.toml"),
    include_str!("../foreign/django.toml"),
    include_str!("../foreign/django_q.toml"),
    include_str!("../foreign/dramatiq.toml"),
    include_str!("../foreign/express_rate_limit.toml"),
    include_str!("../foreign/flask_caching.toml"),
    include_str!("../foreign/flask_session.toml"),
    include_str!("../foreign/hangfire.toml"),
    include_str!("../foreign/huey.toml"),
    include_str!("../foreign/kue.toml"),
    include_str!("../foreign/laravel.toml"),
    include_str!("../foreign/limits.toml"),
    include_str!("../foreign/pottery.toml"),
    include_str!("../foreign/rate_limiter_flexible.toml"),
    include_str!("../foreign/resque.toml"),
    include_str!("../foreign/rq.toml"),
    include_str!("../foreign/rsmq.toml"),
    include_str!("../foreign/scrapy_redis.toml"),
    include_str!("../foreign/sidekiq.toml"),
    include_str!("../foreign/socket_io.toml"),
    include_str!("../foreign/spring_session.toml"),
    include_str!("../foreign/symfony_tags.toml"),
    include_str!("../foreign/taskiq.toml"),
];

/// A program or library that writes keys of its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Software {
    /// Its name as a schema's id: `bullmq`
    pub name: String,
    /// What it is, in one sentence
    pub about: String,
    /// How its keys are known
    pub known_from: String,
    /// The applications of the corpus that wrote such keys
    pub apps: Vec<String>,
    /// Whether it wrote all keys of these applications
    pub whole: bool,
    /// Globs over its keys, as `SCAN MATCH` reads them
    pub globs: Vec<String>,
    /// Keys that nobody else writes
    pub signs: Vec<Sign>,
    /// The globs of the signs, then the other globs
    pub patterns: Vec<String>,
    /// The numbers of the patterns without which it is not recognised: one of them must match a key
    pub marks: Vec<usize>,
    compiled: Vec<Glob>,
    compiled_patterns: Vec<Glob>,
}

/// Keys by which software is recognised.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Sign {
    /// A glob over whole keys
    pub glob: String,
    /// The type that TYPE answers for these keys, if it is known
    pub r#type: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    about: String,
    known_from: String,
    apps: Vec<String>,
    #[serde(default)]
    whole: bool,
    globs: Vec<String>,
    signs: Vec<Sign>,
}

/// All software that is known, by name.
pub fn known() -> &'static [Software] {
    static KNOWN: LazyLock<Vec<Software>> = LazyLock::new(|| {
        // A test reads all files: none of them can be wrong here.
        FILES.iter().filter_map(|text| Software::read(text).ok()).collect()
    });
    &KNOWN
}

/// The software that wrote some of these keys, each with the type that TYPE answers.
pub fn recognised<'k>(keys: impl Iterator<Item = (&'k [u8], &'k str)>) -> Vec<&'static Software> {
    let mut missing: Vec<&Software> = known().iter().collect();
    let mut found = Vec::new();
    for (key, key_type) in keys {
        missing.retain(|software| {
            let is_there = software.has_sign(key, key_type);
            if is_there {
                found.push(*software);
            }
            !is_there
        });
        if missing.is_empty() {
            break;
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

impl Software {
    /// The glob that a key belongs to, if the software has such keys.
    pub fn glob_of(&self, key: &[u8]) -> Option<&str> {
        let at = self.compiled.iter().position(|glob| glob.matches(key))?;
        Some(&self.globs[at])
    }

    fn has_sign(&self, key: &[u8], key_type: &str) -> bool {
        self.signs.iter().zip(&self.compiled_patterns).any(|(sign, glob)| {
            sign.r#type.as_deref().is_none_or(|it| it == key_type) && glob.matches(key)
        })
    }

    fn read(text: &str) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(text)?;
        let mut patterns: Vec<String> = file.signs.iter().map(|sign| sign.glob.clone()).collect();
        let marks = (0..patterns.len()).collect();
        patterns.extend(
            file.globs
                .iter()
                .filter(|glob| !file.signs.iter().any(|it| it.glob == **glob))
                .cloned(),
        );
        Ok(Software {
            name: file.name,
            about: file.about,
            known_from: file.known_from,
            apps: file.apps,
            whole: file.whole,
            compiled: file.globs.iter().map(|glob| Glob::new(glob)).collect(),
            compiled_patterns: patterns.iter().map(|glob| Glob::new(glob)).collect(),
            globs: file.globs,
            signs: file.signs,
            patterns,
            marks,
        })
    }
}

/// The software, and the number of its pattern, that a key may be of.
pub fn matching(key: &[u8]) -> Option<(&'static Software, usize)> {
    known().iter().find_map(|software| {
        let at = software.compiled_patterns.iter().position(|glob| glob.matches(key))?;
        Some((software, at))
    })
}

/// Whether so many keys of each pattern mean that the software wrote them.
pub fn recognise(software: &Software, keys: &[u64]) -> bool {
    software.marks.iter().any(|at| keys.get(*at).is_some_and(|count| *count > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_table_can_be_read_and_is_listed() {
        for text in FILES {
            Software::read(text).unwrap();
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/foreign");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        files.sort();
        let names: Vec<_> = known().iter().map(|software| software.name.clone()).collect();
        assert_eq!(names, files);
    }
}
