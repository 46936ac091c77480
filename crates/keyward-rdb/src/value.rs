//! Values, by the types that the format knows.

use keyward_fact::Encoding;

use crate::entry::{Element, Excerpt, FieldTtls, StreamInfo, Visitor};
use crate::error::Error;
use crate::input::Input;
use crate::memory::Memory;
use crate::module;
use crate::number;
use crate::packed::{Intset, Listpack, Packed, Shape, Walk, Ziplist, Zipmap};
use crate::sight::{Sight, Ttls};
use crate::stream;
use crate::string::{Form, length};
use crate::version::{Family, Version};
use crate::written::{TtlForm, Written};

/// What a value turned out to be.
pub(crate) struct Found {
    pub(crate) encoding: Encoding,
    pub(crate) length: u64,
    /// Without the key.
    pub(crate) memory: u64,
    pub(crate) field_ttls: Option<FieldTtls>,
    pub(crate) stream: Option<Box<StreamInfo>>,
}

impl Found {
    pub(crate) fn new(encoding: Encoding, length: u64, memory: u64) -> Self {
        Found { encoding, length, memory, field_ttls: None, stream: None }
    }
}

/// Reads values, all of one snapshot.
pub(crate) struct Values<'r, 'v, V> {
    pub(crate) version: Version,
    pub(crate) memory: &'r Memory,
    pub(crate) sight: Sight<'v, V>,
    /// Where compressed collections are unpacked.
    pub(crate) unpacked: &'r mut Vec<u8>,
    pub(crate) name_len: u64,
}

impl<V: Visitor> Values<'_, '_, V> {
    pub(crate) fn read<I: Input>(
        &mut self,
        written: Written,
        input: &mut I,
    ) -> Result<Found, Error> {
        let old = !self.version.has_listpacks();
        let small = if old { Encoding::Ziplist } else { Encoding::Listpack };
        match written {
            Written::String => self.string(input),
            Written::Hash => self.hash(input, None),
            Written::HashWithTtls(form) => self.hash(input, Some(form)),
            Written::Set => self.set(input),
            Written::List => self.list(input),
            Written::Zset { text_scores } => self.zset(input, text_scores),
            Written::HashListpack => self.packed::<Listpack, _>(input, Shape::Fields, small),
            Written::HashListpackEx { minimum } => {
                if minimum {
                    input.skip(8)?;
                }
                self.packed::<Listpack, _>(input, Shape::FieldsWithTtls, Encoding::ListpackEx)
            }
            Written::HashZiplist => self.packed::<Ziplist, _>(input, Shape::Fields, small),
            Written::HashZipmap => self.packed::<Zipmap, _>(input, Shape::Fields, Encoding::Zipmap),
            Written::ListZiplist => self.packed::<Ziplist, _>(input, Shape::Items, small),
            Written::SetIntset => self.packed::<Intset, _>(input, Shape::Members, Encoding::Intset),
            Written::SetListpack => self.packed::<Listpack, _>(input, Shape::Members, small),
            Written::ZsetListpack => self.packed::<Listpack, _>(input, Shape::Scored, small),
            Written::ZsetZiplist => self.packed::<Ziplist, _>(input, Shape::Scored, small),
            Written::Quicklist => self.quicklist::<Ziplist, _>(input, false),
            Written::Quicklist2 => self.quicklist::<Listpack, _>(input, true),
            Written::Stream { generation } => stream::read(self, input, generation),
            Written::Module => module::read(input),
            Written::Array => self.array(input),
        }
    }

    #[inline]
    fn string<I: Input>(&mut self, input: &mut I) -> Result<Found, Error> {
        /// The longest number.
        const NUMBER: u64 = 20;
        let form = Form::read(input)?;
        let length = form.length();
        let encoding = match form {
            Form::Int(_) => {
                self.show(input, form, text)?;
                Encoding::Int
            }
            Form::Plain(1..=NUMBER) => {
                let text = form.excerpt(input, usize::MAX, self.sight.value)?;
                if let Some(limit) = self.sight.limit {
                    let bytes = &text.bytes[..limit.min(text.bytes.len())];
                    self.sight.visitor.element(&Element::Text(Excerpt { bytes, len: length }));
                }
                if number::is_int(text.bytes) { Encoding::Int } else { Encoding::Embstr }
            }
            _ => {
                self.show(input, form, text)?;
                if self.is_embedded(length) { Encoding::Embstr } else { Encoding::Raw }
            }
        };
        Ok(Found::new(encoding, length, self.memory.string(encoding, length)))
    }

    /// Whether a string is kept in one piece with its object.
    fn is_embedded(&self, length: u64) -> bool {
        /// The rest of 64 bytes.
        const REDIS: u64 = 44;
        /// Valkey from 9.0 puts the key there too, in up to 128 bytes.
        const VALKEY: u64 = 128 - 15;
        match self.version.family {
            Family::Redis => length <= REDIS,
            Family::Valkey => {
                let header = if self.name_len < 32 { 0 } else { 2 };
                length.saturating_add(self.name_len + header) <= VALKEY
            }
        }
    }

    /// Reads a string, and shows it where elements are wanted.
    #[inline]
    fn show<I: Input>(
        &mut self,
        input: &mut I,
        form: Form,
        element: fn(Excerpt<'_>) -> Element<'_>,
    ) -> Result<(), Error> {
        match self.sight.limit {
            None => form.skip(input),
            Some(limit) => {
                let excerpt = form.excerpt(input, limit, self.sight.value)?;
                self.sight.visitor.element(&element(excerpt));
                Ok(())
            }
        }
    }

    fn list<I: Input>(&mut self, input: &mut I) -> Result<Found, Error> {
        let count = length(input)?;
        let mut memory: u64 = 0;
        for _ in 0..count {
            let form = Form::read(input)?;
            // A node of the linked list and the string's own object.
            let text = self.memory.string(Encoding::Embstr, form.length());
            memory = memory.saturating_add(24).saturating_add(text);
            self.show(input, form, item)?;
        }
        Ok(Found::new(Encoding::Linkedlist, count, memory.saturating_add(16 + 48)))
    }

    fn set<I: Input>(&mut self, input: &mut I) -> Result<Found, Error> {
        let count = length(input)?;
        let mut strings: u64 = 0;
        for _ in 0..count {
            let form = Form::read(input)?;
            strings = strings.saturating_add(self.memory.sds(form.length()));
            self.show(input, form, member)?;
        }
        Ok(Found::new(Encoding::Hashtable, count, Memory::hashtable(count, strings)))
    }

    fn hash<I: Input>(&mut self, input: &mut I, ttl: Option<TtlForm>) -> Result<Found, Error> {
        let minimum = match ttl {
            Some(TtlForm::Relative) => u64::from_le_bytes(input.array()?),
            _ => 0,
        };
        let count = length(input)?;
        let mut strings: u64 = 0;
        let mut ttls = Ttls::default();
        for _ in 0..count {
            let at = input.offset();
            let mut expires_at = match ttl {
                None | Some(TtlForm::Behind) => None,
                Some(TtlForm::Absolute) => ttls.add(length(input)?, at)?,
                Some(TtlForm::Relative) => match length(input)? {
                    0 => None,
                    after => ttls.add(minimum.saturating_add(after - 1), at)?,
                },
            };
            let Some(limit) = self.sight.limit else {
                strings = strings.saturating_add(self.pair_unseen(input)?);
                if ttl == Some(TtlForm::Behind) {
                    ttl_behind(input, &mut ttls)?;
                }
                continue;
            };
            let Sight { visitor, name, value: scratch, .. } = &mut self.sight;
            let form = Form::read(input)?;
            let mut fork = input.fork();
            let name = form.lasting(input, &mut fork, limit, name)?;
            let form = Form::read(input)?;
            let sizes = self.memory.sds(name.len).saturating_add(self.memory.sds(form.length()));
            strings = strings.saturating_add(sizes);
            let mut fork = input.fork();
            let value = form.lasting(input, &mut fork, limit, scratch)?;
            if ttl == Some(TtlForm::Behind) {
                expires_at = ttl_behind(input, &mut ttls)?;
            }
            visitor.element(&Element::Field { name, value, expiry: expires_at.into() });
        }
        let memory = Memory::hashtable(count, strings);
        Ok(Found { field_ttls: ttls.get(), ..Found::new(Encoding::Hashtable, count, memory) })
    }

    /// Passes over two strings, and gives the memory that they take.
    #[inline]
    fn pair_unseen<I: Input>(&mut self, input: &mut I) -> Result<u64, Error> {
        let mut memory: u64 = 0;
        for _ in 0..2 {
            let form = Form::read(input)?;
            memory = memory.saturating_add(self.memory.sds(form.length()));
            form.skip(input)?;
        }
        Ok(memory)
    }

    fn zset<I: Input>(&mut self, input: &mut I, text_scores: bool) -> Result<Found, Error> {
        let count = length(input)?;
        let mut strings: u64 = 0;
        for _ in 0..count {
            let form = Form::read(input)?;
            strings = strings.saturating_add(self.memory.sds(form.length()));
            let Some(limit) = self.sight.limit else {
                form.skip(input)?;
                score(input, text_scores)?;
                continue;
            };
            let Sight { visitor, name, .. } = &mut self.sight;
            let mut fork = input.fork();
            let member = form.lasting(input, &mut fork, limit, name)?;
            let score = score(input, text_scores)?;
            visitor.element(&Element::Scored { member, score });
        }
        Ok(Found::new(Encoding::Skiplist, count, self.memory.skiplist(count, strings)))
    }

    fn packed<P: Packed, I: Input>(
        &mut self,
        input: &mut I,
        shape: Shape,
        encoding: Encoding,
    ) -> Result<Found, Error> {
        let form = Form::read(input)?;
        let mut walk = Walk::<V, P>::new(&mut self.sight, shape);
        let count = form.within(input, self.unpacked, &mut walk)?;
        let field_ttls = walk.ttls.get();
        let memory = self.memory.packed(form.length());
        Ok(Found { field_ttls, ..Found::new(encoding, count, memory) })
    }

    fn quicklist<P: Packed, I: Input>(
        &mut self,
        input: &mut I,
        containers: bool,
    ) -> Result<Found, Error> {
        const PLAIN: u64 = 1;
        const PACKED: u64 = 2;
        let nodes = length(input)?;
        let (mut count, mut memory, mut packed_length) = (0u64, 0u64, None);
        for _ in 0..nodes {
            let at = input.offset();
            let container = if containers { length(input)? } else { PACKED };
            let form = Form::read(input)?;
            memory = memory.saturating_add(self.memory.quicklist_node(form.length()));
            match container {
                PLAIN => {
                    count += 1;
                    packed_length = None;
                    self.show(input, form, item)?;
                }
                PACKED => {
                    let mut walk = Walk::<V, P>::new(&mut self.sight, Shape::Items);
                    count += form.within(input, self.unpacked, &mut walk)?;
                    packed_length = Some(form.length());
                }
                _ => return Err(Error::corrupt(at, "a list's node is of no known kind")),
            }
        }
        match packed_length {
            Some(length) if nodes == 1 && self.version.has_listpack_lists() => {
                Ok(Found::new(Encoding::Listpack, count, self.memory.packed(length)))
            }
            _ => Ok(Found::new(Encoding::Quicklist, count, Memory::quicklist(memory))),
        }
    }

    fn array<I: Input>(&mut self, input: &mut I) -> Result<Found, Error> {
        let count = length(input)?;
        let at = input.offset();
        match length(input)? {
            0 => {}
            1 => drop(length(input)?),
            _ => return Err(Error::corrupt(at, "an array's cursor is neither there nor missing")),
        }
        let mut memory: u64 = 0;
        for _ in 0..count {
            length(input)?;
            let at = input.offset();
            memory = memory.saturating_add(8);
            match length(input)? {
                0 | 3 => {
                    let form = Form::read(input)?;
                    memory = memory.saturating_add(self.memory.sds(form.length()));
                    self.show(input, form, item)?;
                }
                kind @ (1 | 2) => {
                    let bytes: [u8; 8] = input.array()?;
                    if let Some(limit) = self.sight.limit {
                        let text = match kind {
                            1 => i64::from_le_bytes(bytes).to_string(),
                            _ => f64::from_le_bytes(bytes).to_string(),
                        };
                        let item = Excerpt::up_to(limit, text.as_bytes());
                        self.sight.visitor.element(&Element::Item(item));
                    }
                }
                _ => return Err(Error::corrupt(at, "an array's element is of no known kind")),
            }
        }
        Ok(Found::new(Encoding::SlicedArray, count, memory.saturating_add(64)))
    }
}

// As functions, the variants hold for excerpts of any lifetime.

fn text(excerpt: Excerpt<'_>) -> Element<'_> {
    Element::Text(excerpt)
}

fn item(excerpt: Excerpt<'_>) -> Element<'_> {
    Element::Item(excerpt)
}

fn member(excerpt: Excerpt<'_>) -> Element<'_> {
    Element::Member(excerpt)
}

/// A TTL of Valkey; negative is none.
fn ttl_behind<I: Input>(input: &mut I, ttls: &mut Ttls) -> Result<Option<u64>, Error> {
    let expires_at = u64::try_from(i64::from_le_bytes(input.array()?)).ok();
    if let Some(expires_at) = expires_at {
        ttls.count(expires_at);
    }
    Ok(expires_at)
}

/// A sorted set's score: eight bytes, or before Redis 4.0 a text with its length.
fn score<I: Input>(input: &mut I, as_text: bool) -> Result<f64, Error> {
    let at = input.offset();
    let score = if as_text {
        match input.byte()? {
            253 => f64::NAN,
            254 => f64::INFINITY,
            255 => f64::NEG_INFINITY,
            length => {
                let text = std::str::from_utf8(input.take(usize::from(length))?).ok();
                text.and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
            }
        }
    } else {
        f64::from_le_bytes(input.array()?)
    };
    if score.is_nan() {
        return Err(Error::corrupt(at, "a score is not a number"));
    }
    Ok(score)
}
