//! A snapshot, record by record.

use keyward_fact::KeyType;

use crate::entry::{Excerpt, Extra, Key, Value, Visitor};
use crate::error::{Error, ErrorKind};
use crate::input::{Checked, Input};
use crate::memory::Memory;
use crate::module;
use crate::reader::Options;
use crate::sight::Sight;
use crate::string::{Form, length};
use crate::summary::{Checksum, Summary};
use crate::value::Values;
use crate::version::{Family, Version};
use crate::written::Written;

/// What is known between two records.
pub(crate) struct Snapshot<'o> {
    options: &'o Options,
    memory: Memory,
    summary: Summary,
    db: u64,
    /// What was said of the key that follows.
    before: Before,
    name: Vec<u8>,
    scratch: [Vec<u8>; 3],
    module: Option<(u64, KeyType)>,
}

#[derive(Default)]
struct Before {
    /// Where the record begins.
    offset: Option<u64>,
    expires_at: Option<u64>,
    idle: Option<u64>,
    freq: Option<u8>,
}

/// How many records pass between two signs of progress.
pub(crate) const PROGRESS: u64 = 4096;

impl<'o> Snapshot<'o> {
    pub(crate) fn new(options: &'o Options) -> Self {
        Snapshot {
            options,
            memory: Memory::new(options.allocator, options.links_slots),
            summary: Summary::default(),
            db: 0,
            before: Before::default(),
            name: Vec::new(),
            scratch: Default::default(),
            module: None,
        }
    }

    /// Reads all of it.
    pub(crate) fn read<I: Checked, V: Visitor>(
        mut self,
        mut input: I,
        visitor: &mut V,
    ) -> Result<Summary, Error> {
        self.begin(&mut input)?;
        let mut records: u64 = 0;
        while self.record(&mut input, visitor)? {
            input.settle();
            records += 1;
            if records.is_multiple_of(PROGRESS) && visitor.progress(input.offset()).is_break() {
                return Err(Error::new(input.offset(), ErrorKind::Stopped));
            }
        }
        self.finish(&mut input)
    }

    /// When it was written, as the notes before the first key say.
    pub(crate) fn created_at<I: Input>(mut self, mut input: I) -> Option<u64> {
        const NOTE: u8 = 250;
        /// Servers write about ten.
        const MOST: usize = 64;
        self.begin(&mut input).ok()?;
        for _ in 0..MOST {
            let offset = input.offset();
            if input.byte().ok()? != NOTE {
                break;
            }
            self.extra(NOTE, &mut input, &mut (), offset).ok()?;
        }
        self.summary.created_at
    }

    /// The same as another that has come to a place between two keys, to read on from there.
    pub(crate) fn resume(options: &'o Options, version: Version, db: u64) -> Self {
        let mut snapshot = Snapshot::new(options);
        snapshot.summary.version = version;
        snapshot.db = db;
        snapshot
    }

    /// Forgets what was said of a key that follows.
    pub(crate) fn begin_anew(&mut self, db: u64) {
        self.before = Before::default();
        self.db = db;
    }

    pub(crate) fn version(&self) -> Version {
        self.summary.version
    }

    pub(crate) fn db(&self) -> u64 {
        self.db
    }

    /// Whether the next record stands by itself: nothing was said yet of a key that follows.
    pub(crate) fn is_between_keys(&self) -> bool {
        self.before.offset.is_none()
    }

    /// Whether at least so many records follow each other here, up to a place between two keys.
    pub(crate) fn is_row<I: Input>(&mut self, input: &mut I, records: usize) -> bool {
        let mut seen = 0;
        while seen < records || !self.is_between_keys() {
            if !self.record(input, &mut ()).is_ok_and(|more| more) {
                return false;
            }
            seen += 1;
        }
        true
    }

    /// Reads the header.
    pub(crate) fn begin<I: Input>(&mut self, input: &mut I) -> Result<(), Error> {
        self.summary.version = header(input)?;
        Ok(())
    }

    /// What was read so far.
    pub(crate) fn into_summary(self) -> Summary {
        self.summary
    }

    /// Reads what stands behind the last record.
    fn finish<I: Checked>(self, input: &mut I) -> Result<Summary, Error> {
        let computed = input.checksum();
        finish(self.summary, input, computed)
    }

    /// Reads a key, or something else; `false` at the end.
    #[inline]
    pub(crate) fn record<I: Input, V: Visitor>(
        &mut self,
        input: &mut I,
        visitor: &mut V,
    ) -> Result<bool, Error> {
        let offset = input.offset();
        let code = input.byte()?;
        match code {
            0..=127 => {
                let written = Written::of(code, self.summary.version, offset)?;
                self.key(input, visitor, written, offset)?;
            }
            252 => {
                let expires_at = i64::from_le_bytes(input.array()?);
                self.expiry(expires_at, offset);
            }
            253 => {
                let seconds = i32::from_le_bytes(input.array()?);
                self.expiry(i64::from(seconds).saturating_mul(1000), offset);
            }
            248 => {
                self.before.offset.get_or_insert(offset);
                self.before.idle = Some(length(input)?);
            }
            249 => {
                self.before.offset.get_or_insert(offset);
                self.before.freq = Some(input.byte()?);
            }
            255 => {
                if self.before.offset.is_some() {
                    return Err(Error::corrupt(offset, "the file ends where a key must follow"));
                }
                return Ok(false);
            }
            254 => self.db = length(input)?,
            _ => self.extra(code, input, visitor, offset)?,
        }
        Ok(true)
    }

    #[inline]
    fn expiry(&mut self, expires_at: i64, offset: u64) {
        self.before.offset.get_or_insert(offset);
        // Servers take -1 for none.
        self.before.expires_at = (expires_at != -1).then(|| u64::try_from(expires_at).unwrap_or(0));
    }

    #[inline]
    fn key<I: Input, V: Visitor>(
        &mut self,
        input: &mut I,
        visitor: &mut V,
        written: Written,
        offset: u64,
    ) -> Result<(), Error> {
        let before = std::mem::take(&mut self.before);
        let offset = before.offset.unwrap_or(offset);
        let [name_scratch, value_scratch, unpacked] = &mut self.scratch;

        let form = Form::read(input)?;
        let mut fork = input.fork();
        let name = form.lasting(input, &mut fork, self.options.max_key, &mut self.name)?;
        let key_type = if written == Written::Module {
            let id = length(input)?;
            if self.module.as_ref().is_none_or(|(known, _)| *known != id) {
                self.module = Some((id, KeyType::Module(module::name(id))));
            }
            match &self.module {
                Some((_, key_type)) => {
                    self.summary.modules.count(key_type.name(), 1);
                    key_type
                }
                None => written.key_type(),
            }
        } else {
            written.key_type()
        };
        let key = Key {
            db: self.db,
            name: name.bytes,
            name_len: name.len,
            key_type,
            expires_at: before.expires_at,
            idle: before.idle,
            freq: before.freq,
            offset,
        };
        let limit = visitor.key(&key).limit();
        let mut values = Values {
            version: self.summary.version,
            memory: &self.memory,
            sight: Sight { visitor, limit, name: name_scratch, value: value_scratch },
            unpacked,
            name_len: name.len,
        };
        let found = values.read(written, input)?;
        let value = Value {
            encoding: found.encoding,
            length: found.length,
            serialized: input.offset() - offset,
            memory: self.memory.key(name.len).saturating_add(found.memory),
            field_ttls: found.field_ttls,
            stream: found.stream,
        };
        visitor.value(&key, &value);
        self.summary.keys += 1;
        self.summary.expiring += u64::from(before.expires_at.is_some());
        Ok(())
    }

    /// Reads what is not a key.
    fn extra<I: Input, V: Visitor>(
        &mut self,
        code: u8,
        input: &mut I,
        visitor: &mut V,
        offset: u64,
    ) -> Result<(), Error> {
        /// As much of a note, a job's name or a library's source as is kept.
        const LIMIT: usize = 64 * 1024;
        let [name, value, _] = &mut self.scratch;
        let version = self.summary.version;
        match code {
            250 => {
                let excerpt = Form::read(input)?.excerpt(input, LIMIT, value)?;
                let name_len = excerpt.len;
                name.clear();
                name.extend_from_slice(excerpt.bytes);
                let value = Form::read(input)?.excerpt(input, LIMIT, value)?;
                let name = Excerpt { bytes: name, len: name_len };
                self.summary.note(name, value);
                visitor.extra(&Extra::Aux { name, value });
            }
            251 => {
                let extra =
                    Extra::Size { db: self.db, keys: length(input)?, expiring: length(input)? };
                visitor.extra(&extra);
            }
            247 => {
                let module = module::name(length(input)?);
                let at = input.offset();
                if length(input)? != 2 {
                    return Err(Error::corrupt(at, "a module's data does not say when to load it"));
                }
                length(input)?;
                module::skip(input)?;
                self.summary.module_aux += 1;
                visitor.extra(&Extra::ModuleAux { module: &module });
            }
            246 => {
                // Redis 7.0 before its release: name, engine, and a description, perhaps.
                for _ in 0..2 {
                    Form::read(input)?.skip(input)?;
                }
                if length(input)? != 0 {
                    Form::read(input)?.skip(input)?;
                }
                let code = Form::read(input)?.excerpt(input, LIMIT, value)?;
                self.summary.functions += 1;
                visitor.extra(&Extra::Function { code });
            }
            245 => {
                let code = Form::read(input)?.excerpt(input, LIMIT, value)?;
                self.summary.functions += 1;
                visitor.extra(&Extra::Function { code });
            }
            244 => {
                let (slot, keys) = (length(input)?, length(input)?);
                let expiring = length(input)?;
                self.summary.slots += 1;
                visitor.extra(&Extra::Slot { slot, keys, expiring });
            }
            243 if version.family == Family::Valkey => {
                let excerpt = Form::read(input)?.excerpt(input, LIMIT, value)?;
                let len = excerpt.len;
                name.clear();
                name.extend_from_slice(excerpt.bytes);
                for _ in 0..length(input)? {
                    let _range = (length(input)?, length(input)?);
                }
                visitor.extra(&Extra::SlotImport { job: Excerpt { bytes: name, len } });
            }
            243 => {
                // What modules attach to the key that follows.
                self.before.offset.get_or_insert(offset);
                for _ in 0..length(input)? {
                    input.skip(4)?;
                    module::skip(input)?;
                }
            }
            _ => return Err(Error::new(offset, ErrorKind::UnknownType { code, version })),
        }
        Ok(())
    }
}

fn header<I: Input>(input: &mut I) -> Result<Version, Error> {
    const LENGTH: usize = 9;
    let mut begins = Vec::with_capacity(LENGTH);
    while begins.len() < LENGTH {
        match input.byte() {
            Ok(byte) => begins.push(byte),
            Err(error) => {
                let is_rdb = b"REDIS".starts_with(&begins)
                    || begins.starts_with(b"REDIS")
                    || b"VALKEY".starts_with(&begins)
                    || begins.starts_with(b"VALKEY");
                return Err(match error.kind() {
                    ErrorKind::Truncated if begins.is_empty() || !is_rdb => {
                        Error::new(0, ErrorKind::NotRdb { begins })
                    }
                    _ => error,
                });
            }
        }
    }
    Version::parse(&begins).map_err(|kind| Error::new(0, kind))
}

/// Reads what stands behind the last record, up to which the checksum is `computed`.
pub(crate) fn finish<I: Checked>(
    mut summary: Summary,
    input: &mut I,
    computed: u64,
) -> Result<Summary, Error> {
    summary.checksum = checksum(input, summary.version, computed)?;
    summary.bytes = input.offset();
    summary.trailing = input.rest()?;
    Ok(summary)
}

fn checksum<I: Input>(input: &mut I, version: Version, computed: u64) -> Result<Checksum, Error> {
    if version.number < Version::CHECKSUM {
        return Ok(Checksum::Absent);
    }
    let at = input.offset();
    match u64::from_le_bytes(input.array()?) {
        0 => Ok(Checksum::Disabled),
        stored if stored == computed => Ok(Checksum::Verified),
        stored => Err(Error::new(at, ErrorKind::Checksum { stored, computed })),
    }
}
