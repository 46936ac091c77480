//! A snapshot of a cloud drive's keys, in which some things have gone wrong. The same in every run.

use crate::failure::{Failure, Result};
use keyward_rdb::Version;
use keyward_rdb::writer::{Attributes, Content, Writer};
use std::io;

/// What the drive's convention has gained since its document was written: a limit by address, a former
/// name, and the keys of a queue that is somebody else's.
pub(super) const MORE: &str = r#"
[keys.login_limit]
doc = "Attempts to log in from one address"
owner = "storage"
pattern = "rl:login:{ip:ip}"
rate_limit = { limit = 5, window = "60s" }

[keys.recent_files]
doc = "What a user opened last"
owner = "browse"
pattern = "user:{user_id}:recent"
type = "list"
value = "uuid"
ttl = "7d"
max_len = 50

[foreign.bullmq]
glob = "bull:*"

[migrations.v2]
phase = "cleanup"
[migrations.v2.renames]
file_meta = "XC:FileMeta:{file_id}"
"#;

/// When it was taken: 2026-11-15T00:00:00Z.
const TAKEN: u64 = 1_794_700_800;
/// How many users the drive has.
const USERS: u64 = 2_000;
const MINUTE: u64 = 60;
const DAY: u64 = 86_400;

/// The snapshot.
pub(super) fn snapshot() -> Result<Vec<u8>> {
    write().map_err(|error| Failure::new(format!("the sample cannot be written: {error}")))
}

fn write() -> io::Result<Vec<u8>> {
    let mut sample = Sample::new()?;
    for user in 0..USERS {
        let user_id = uuid(1, user);
        sample.text(&format!("xc:quota:{user_id}:used"), None, &(user * 7_340_032).to_string())?;
        for number in 0..4 {
            sample.file(user * 4 + number, &user_id)?;
        }
        for number in 0..3 {
            sample.folder(user * 3 + number, user)?;
        }
        if user % 5 == 0 {
            sample.text(&format!("xc:rl:upload:{user_id}"), Some(40), "3")?;
            sample.text(
                &format!("xc:rl:login:10.0.{}.{}", user / 250, user % 250),
                Some(30),
                "1",
            )?;
        }
        sample.recent(user, &user_id)?;
        sample.mistakes(user, &user_id)?;
    }
    sample.0.finish()
}

struct Sample(Writer<Vec<u8>>);

impl Sample {
    fn new() -> io::Result<Self> {
        let mut writer = Writer::new(Vec::new(), Version::redis(10))?;
        writer.aux(b"redis-ver", b"7.0.15")?;
        writer.aux(b"ctime", TAKEN.to_string().as_bytes())?;
        writer.aux(b"used-mem", b"1825361101")?;
        writer.select(0)?;
        Ok(Sample(writer))
    }

    fn key(&mut self, name: &str, ttl: Option<u64>, content: &Content<'_>) -> io::Result<()> {
        let expires_at = ttl.map(|seconds| (TAKEN + seconds) * 1000);
        self.0.key(name.as_bytes(), &Attributes { expires_at, ..Attributes::default() }, content)
    }

    fn text(&mut self, name: &str, ttl: Option<u64>, text: &str) -> io::Result<()> {
        self.key(name, ttl, &Content::String(text.as_bytes()))
    }

    /// A file's metadata; a few lack a field, have one too many, or a size that is not a number.
    fn file(&mut self, number: u64, owner: &str) -> io::Result<()> {
        let name = format!("report-{number}.pdf");
        let size = (number * 977 % 40_000_000).to_string();
        let mut fields: Vec<(&[u8], &[u8])> = vec![
            (b"name", name.as_bytes()),
            (b"size", size.as_bytes()),
            (b"mime", b"application/pdf"),
            (b"owner", owner.as_bytes()),
        ];
        match number % 400 {
            17 => drop(fields.remove(2)),
            91 => fields.push((b"thumbnail", b"yes")),
            133 => fields[1].1 = b"12 MB",
            _ => {}
        }
        let ttl = Some(MINUTE + number * 7 % (29 * MINUTE));
        self.key(&format!("xc:file:{}:meta", uuid(2, number)), ttl, &Content::Hash(&fields))
    }

    /// A folder's listing, and who may see it.
    fn folder(&mut self, number: u64, user: u64) -> io::Result<()> {
        let folder_id = uuid(3, number);
        let mut listing = vec![0x28, 0xb5, 0x2f, 0xfd];
        let length = 60 + number * 37 % 500;
        listing.extend((0..length).map(|at| (at.wrapping_mul(number + 31) >> 3).to_le_bytes()[0]));
        // A deployment forgot the TTL.
        let ttl = (!number.is_multiple_of(23)).then_some(20 + number % 270);
        self.key(&format!("xc:folder:{folder_id}:listing"), ttl, &Content::String(&listing))?;
        for reader in 0..2 {
            let role = ["viewer", "editor"][usize::from(number.is_multiple_of(4))];
            let user_id = uuid(1, (user + reader * 7) % USERS);
            let ttl = Some(MINUTE + (number + reader) * 11 % (28 * MINUTE));
            self.text(&format!("xc:perm:{folder_id}:{user_id}"), ttl, role)?;
        }
        Ok(())
    }

    /// What a user opened last; some lists were never trimmed.
    fn recent(&mut self, user: u64, user_id: &str) -> io::Result<()> {
        let count = if user % 500 == 3 { 4_000 } else { 1 + user % 12 };
        let items: Vec<String> = (0..count).map(|number| uuid(2, user * 4 + number)).collect();
        let items: Vec<&[u8]> = items.iter().map(String::as_bytes).collect();
        let ttl = Some(DAY + user * 61 % (5 * DAY));
        self.key(&format!("xc:user:{user_id}:recent"), ttl, &Content::List(&items))
    }

    /// What should not be there.
    fn mistakes(&mut self, user: u64, user_id: &str) -> io::Result<()> {
        match user % 100 {
            3 => self.text(&format!("xc:perm:{}:{user_id}", uuid(3, user)), Some(9 * DAY), "owner"),
            11 => self.text(&format!("xc:foldr:{}:listing", uuid(3, user)), Some(90), "[]"),
            19 | 20 => self.text(&format!("xc:rl:login:2001:db8::{user:x}"), Some(45), "2"),
            37 => self.text(&format!("xc:quota:{user}:used"), None, "1048576"),
            41 => self.text(&format!("XC:FileMeta:{}", uuid(2, user)), None, "{}"),
            53 => self.text(&format!("xc:file:{}:meta", uuid(4, user)), Some(600), "{}"),
            61..=66 => self.text(&format!("sess:{:016x}", scrambled(user)), None, "signed in"),
            70..=72 => self.text(&format!("bull:thumbnails:{user}"), None, "{}"),
            88 => self.text(&format!("xc:quota:{}:used", uuid(5, user)), Some(3600), "0"),
            _ => Ok(()),
        }
    }
}

/// A UUID of some kind, always the same for a number.
fn uuid(kind: u64, number: u64) -> String {
    let (high, low) = (scrambled(number << 4 | kind), scrambled(number << 4 | kind | 8));
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff
    )
}

fn scrambled(number: u64) -> u64 {
    let mixed = (number ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 31).wrapping_mul(0x94d0_49bb_1331_11eb)
}
