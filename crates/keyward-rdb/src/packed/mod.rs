//! Collections that servers keep, and write, as one string.

mod intset;
mod listpack;
mod ziplist;
mod zipmap;

use crate::entry::{Element, Excerpt, Expiry, Visitor};
use crate::error::Error;
use crate::input::Input;
use crate::number;
use crate::sight::{Sight, Ttls};
use crate::string::{self, Within};

pub(crate) use intset::Intset;
pub(crate) use listpack::Listpack;
pub(crate) use ziplist::Ziplist;
pub(crate) use zipmap::Zipmap;

/// A format of such strings: a sequence of numbers and byte strings.
pub(crate) trait Packed: Sized {
    /// Reads what stands before the elements of a string of `length` bytes.
    fn open<I: Input>(input: &mut I, length: u64) -> Result<Self, Error>;

    /// Reads up to the next element's bytes; `None` at the end, which is checked.
    fn next<I: Input>(&mut self, input: &mut I) -> Result<Option<Atom>, Error>;

    /// Reads what stands behind an element's bytes.
    fn behind<I: Input>(&mut self, input: &mut I) -> Result<(), Error>;

    /// The elements of a string that is whole in memory. `None` in formats that are seldom met, and where
    /// the string is not as it must be.
    fn whole(bytes: &[u8]) -> Option<impl Iterator<Item = Option<Whole<'_>>>> {
        let _ = bytes;
        None::<std::iter::Empty<_>>
    }
}

/// An element of a string that is whole in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole<'b> {
    Int(i64),
    Bytes(&'b [u8]),
}

impl<'b> Whole<'b> {
    #[inline]
    fn excerpt<'p>(self, limit: usize, scratch: &'p mut Vec<u8>) -> Excerpt<'p>
    where
        'b: 'p,
    {
        match self {
            Whole::Int(value) => Excerpt::up_to(limit, number::write(value, scratch)),
            Whole::Bytes(bytes) => Excerpt::up_to(limit, bytes),
        }
    }

    #[inline]
    fn score(self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "the server does the same")]
            Whole::Int(score) => Some(score as f64),
            Whole::Bytes(text) => parse_score(text),
        }
    }
}

/// An element: a number, or so many bytes that follow.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Atom {
    Int(i64),
    Bytes(u64),
}

impl Atom {
    #[inline]
    pub(crate) fn skip<I: Input>(self, input: &mut I) -> Result<(), Error> {
        match self {
            Atom::Int(_) => Ok(()),
            Atom::Bytes(length) => input.skip(length),
        }
    }

    #[inline]
    pub(crate) fn excerpt<'p, I: Input>(
        self,
        input: &'p mut I,
        limit: usize,
        scratch: &'p mut Vec<u8>,
    ) -> Result<Excerpt<'p>, Error> {
        match self {
            Atom::Int(value) => Ok(Excerpt::up_to(limit, number::write(value, scratch))),
            Atom::Bytes(length) => string::plain(input, length, limit, scratch),
        }
    }
}

/// No score is written with more bytes.
const LONGEST_SCORE: usize = 64;

/// What the elements are to the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Items,
    Members,
    Fields,
    FieldsWithTtls,
    Scored,
    /// Elements that nobody is shown, counted one by one
    Opaque,
}

/// Walks over the elements of one string, and shows them where they are wanted.
pub(crate) struct Walk<'w, 'v, V, P> {
    pub(crate) sight: &'w mut Sight<'v, V>,
    pub(crate) shape: Shape,
    pub(crate) ttls: Ttls,
    format: std::marker::PhantomData<P>,
}

impl<'w, 'v, V, P> Walk<'w, 'v, V, P> {
    pub(crate) fn new(sight: &'w mut Sight<'v, V>, shape: Shape) -> Self {
        Walk { sight, shape, ttls: Ttls::default(), format: std::marker::PhantomData }
    }
}

impl<V: Visitor, P: Packed> Within for Walk<'_, '_, V, P> {
    /// How many items, members, fields there are.
    type Out = u64;

    /// Measured at less than half of the instructions of `read`.
    fn read_whole(&mut self, bytes: &[u8]) -> Option<u64> {
        let Sight { visitor, limit, name: store, value: scratch } = &mut *self.sight;
        let mut elements = P::whole(bytes)?;
        let mut count = 0;
        match (self.shape, *limit) {
            (Shape::FieldsWithTtls, _) => return None,
            (Shape::Opaque | Shape::Items | Shape::Members, None) | (Shape::Opaque, _) => {
                for element in elements {
                    element?;
                    count += 1;
                }
            }
            (Shape::Items, Some(limit)) => {
                for element in elements {
                    visitor.element(&Element::Item(element?.excerpt(limit, scratch)));
                    count += 1;
                }
            }
            (Shape::Members, Some(limit)) => {
                for element in elements {
                    visitor.element(&Element::Member(element?.excerpt(limit, scratch)));
                    count += 1;
                }
            }
            (Shape::Fields | Shape::Scored, None) => {
                while let Some(element) = elements.next() {
                    element?;
                    elements.next()??;
                    count += 1;
                }
            }
            (Shape::Fields, Some(limit)) => {
                while let Some(name) = elements.next() {
                    let name = name?.excerpt(limit, store);
                    let value = elements.next()??.excerpt(limit, scratch);
                    visitor.element(&Element::Field { name, value, expiry: Expiry::Never });
                    count += 1;
                }
            }
            (Shape::Scored, Some(limit)) => {
                while let Some(member) = elements.next() {
                    let member = member?.excerpt(limit, store);
                    let score = elements.next()??.score()?;
                    visitor.element(&Element::Scored { member, score });
                    count += 1;
                }
            }
        }
        Some(count)
    }

    fn read<I: Input>(&mut self, input: &mut I, length: u64) -> Result<u64, Error> {
        let mut packed = P::open(input, length)?;
        let mut count = 0;
        while let Some(atom) = packed.next(input)? {
            count += 1;
            match (self.shape, self.sight.limit) {
                (Shape::Opaque, _) | (Shape::Items | Shape::Members, None) => {
                    atom.skip(input)?;
                    packed.behind(input)?;
                }
                (Shape::Items | Shape::Members, Some(limit)) => {
                    let excerpt = atom.excerpt(input, limit, self.sight.value)?;
                    self.sight.visitor.element(&match self.shape {
                        Shape::Items => Element::Item(excerpt),
                        _ => Element::Member(excerpt),
                    });
                    packed.behind(input)?;
                }
                (_, None) => self.pair_unseen(&mut packed, input, atom)?,
                (_, Some(limit)) => self.pair(&mut packed, input, atom, limit)?,
            }
        }
        Ok(count)
    }
}

impl<V: Visitor, P: Packed> Walk<'_, '_, V, P> {
    #[inline]
    fn pair_unseen<I: Input>(
        &mut self,
        packed: &mut P,
        input: &mut I,
        name: Atom,
    ) -> Result<(), Error> {
        name.skip(input)?;
        packed.behind(input)?;
        partner(packed, input)?.skip(input)?;
        packed.behind(input)?;
        if self.shape == Shape::FieldsWithTtls {
            ttl(packed, input, &mut self.ttls)?;
        }
        Ok(())
    }

    fn pair<I: Input>(
        &mut self,
        packed: &mut P,
        input: &mut I,
        name: Atom,
        limit: usize,
    ) -> Result<(), Error> {
        let Sight { visitor, name: store, value: scratch, .. } = &mut *self.sight;
        let mut fork = input.fork();
        let name = match name {
            Atom::Int(value) => Excerpt::up_to(limit, number::write(value, store)),
            Atom::Bytes(length) => string::lasting(input, &mut fork, length, limit, store)?,
        };
        packed.behind(input)?;
        let partner = partner(packed, input)?;
        match self.shape {
            Shape::Scored => {
                let score = score(partner, input, scratch)?;
                visitor.element(&Element::Scored { member: name, score });
                packed.behind(input)
            }
            Shape::FieldsWithTtls => {
                let mut fork = input.fork();
                let value = match partner {
                    Atom::Int(value) => Excerpt::up_to(limit, number::write(value, scratch)),
                    Atom::Bytes(length) => {
                        string::lasting(input, &mut fork, length, limit, scratch)?
                    }
                };
                packed.behind(input)?;
                let expiry = ttl(packed, input, &mut self.ttls)?.into();
                visitor.element(&Element::Field { name, value, expiry });
                Ok(())
            }
            _ => {
                let value = partner.excerpt(input, limit, scratch)?;
                visitor.element(&Element::Field { name, value, expiry: Expiry::Never });
                packed.behind(input)
            }
        }
    }
}

#[inline]
fn partner<P: Packed, I: Input>(packed: &mut P, input: &mut I) -> Result<Atom, Error> {
    match packed.next(input)? {
        Some(atom) => Ok(atom),
        None => Err(Error::corrupt(input.offset(), "a field or a member stands without its value")),
    }
}

fn ttl<P: Packed, I: Input>(
    packed: &mut P,
    input: &mut I,
    ttls: &mut Ttls,
) -> Result<Option<u64>, Error> {
    let at = input.offset();
    let Atom::Int(expires_at) = partner(packed, input)? else {
        return Err(Error::corrupt(at, "a field's TTL is not a number"));
    };
    packed.behind(input)?;
    ttls.add(u64::try_from(expires_at).unwrap_or(u64::MAX), at)
}

fn score<I: Input>(atom: Atom, input: &mut I, scratch: &mut Vec<u8>) -> Result<f64, Error> {
    let at = input.offset();
    match atom {
        #[expect(clippy::cast_precision_loss, reason = "the server does the same")]
        Atom::Int(score) => Ok(score as f64),
        Atom::Bytes(_) => {
            let text = atom.excerpt(input, LONGEST_SCORE, scratch)?;
            let score = parse_score(text.bytes).filter(|_| text.is_whole());
            score.ok_or_else(|| Error::corrupt(at, "a score is not a number"))
        }
    }
}

fn parse_score(text: &[u8]) -> Option<f64> {
    if text.len() > LONGEST_SCORE {
        return None;
    }
    let score: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (!score.is_nan()).then_some(score)
}

#[cfg(test)]
mod tests;
