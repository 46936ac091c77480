//! How many distinct values there are, about: a `HyperLogLog` with a fixed seed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Registers: 2,048 bytes, and a standard error of 2.3 %.
const REGISTERS: usize = 1 << BITS;
const BITS: u32 = 11;

/// One standard error, as a share of the estimate.
pub(crate) const ERROR: f64 = 0.023;

/// Takes no memory until something is added.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sketch {
    registers: Option<Box<[u8; REGISTERS]>>,
    /// No register is lower: of many values nearly all change nothing, and are passed over without a look at
    /// memory that others have driven out of the cache
    floor: u8,
    /// How many were not passed over since the floor was looked for
    looked_at: u32,
}

impl PartialEq for Sketch {
    fn eq(&self, other: &Self) -> bool {
        self.registers == other.registers
    }
}

impl Sketch {
    /// Adds a value by its fixed hash.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64) {
        // A one at the end bounds the count of zeros.
        let zeros = (hash << BITS | 1 << (BITS - 1)).leading_zeros();
        let rank = u8::try_from(zeros + 1).unwrap_or(u8::MAX);
        if rank > self.floor {
            self.note(usize::try_from(hash >> (64 - BITS)).unwrap_or(0), rank);
        }
    }

    fn note(&mut self, register: usize, rank: u8) {
        /// As often as there are registers, the floor may have risen.
        const OFTEN: u32 = 1 << BITS;
        let registers = self.registers.get_or_insert_with(|| Box::new([0; REGISTERS]));
        registers[register] = registers[register].max(rank);
        self.looked_at += 1;
        if self.looked_at == OFTEN {
            self.looked_at = 0;
            self.floor = registers.iter().copied().min().unwrap_or(0);
        }
    }

    pub(crate) fn merge(&mut self, other: &Sketch) {
        let Some(theirs) = &other.registers else { return };
        let ours = self.registers.get_or_insert_with(|| Box::new([0; REGISTERS]));
        for (ours, theirs) in ours.iter_mut().zip(theirs.iter()) {
            *ours = (*ours).max(*theirs);
        }
    }

    /// How many distinct values were added, about.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an estimate, not negative"
    )]
    pub(crate) fn estimate(&self) -> u64 {
        let Some(registers) = &self.registers else { return 0 };
        let size = REGISTERS as f64;
        let empty: f64 = registers.iter().map(|rank| f64::from(u8::from(*rank == 0))).sum();
        let sum: f64 = registers.iter().map(|rank| 0.5f64.powi(i32::from(*rank))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / size) * size * size / sum;
        let estimate =
            if raw <= 2.5 * size && empty > 0.0 { size * (size / empty).ln() } else { raw };
        estimate.round() as u64
    }

    /// For a file: nothing, pairs of register and rank while there are few, or all registers.
    fn to_text(&self) -> String {
        let Some(registers) = &self.registers else { return String::new() };
        let used = registers.iter().filter(|rank| **rank > 0).count();
        if used * 3 >= REGISTERS {
            return STANDARD_NO_PAD.encode(&registers[..]);
        }
        let mut bytes = Vec::with_capacity(used * 3);
        for (number, rank) in (0u16..).zip(registers.iter()).filter(|(_, rank)| **rank > 0) {
            bytes.extend(number.to_le_bytes());
            bytes.push(*rank);
        }
        STANDARD_NO_PAD.encode(bytes)
    }

    /// From a file; `None` if it is not a sketch.
    fn from_text(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Sketch::default());
        }
        let bytes = STANDARD_NO_PAD.decode(text).ok()?;
        if let Ok(registers) = <[u8; REGISTERS]>::try_from(bytes.as_slice()) {
            return Some(Sketch { registers: Some(Box::new(registers)), ..Sketch::default() });
        }
        let mut registers = Box::new([0; REGISTERS]);
        for pair in bytes.chunks(3) {
            let [low, high, rank] = pair else { return None };
            *registers.get_mut(usize::from(u16::from_le_bytes([*low, *high])))? = *rank;
        }
        Some(Sketch { registers: Some(registers), ..Sketch::default() })
    }
}

impl Serialize for Sketch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for Sketch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Sketch::from_text(&text).ok_or_else(|| D::Error::custom("a sketch is damaged"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fixed;
    use proptest::prelude::*;

    fn of(numbers: impl Iterator<Item = u64>) -> Sketch {
        let mut sketch = Sketch::default();
        numbers.for_each(|number| sketch.add(fixed(number.to_string().as_bytes())));
        sketch
    }

    #[test]
    fn estimates_are_near() {
        for count in [1, 10, 500, 5_000, 100_000, 1_000_000] {
            let off = of(0..count).estimate().abs_diff(count);
            assert!(off * 100 <= count * 6, "{count} is off by {off}");
        }
        assert_eq!(of(0..3).estimate(), 3);
    }

    proptest! {
        #[test]
        fn two_halves_are_the_whole(middle in 0u64..3000, end in 0u64..3000) {
            let mut merged = of(0..middle);
            merged.merge(&of(middle..middle + end));
            prop_assert_eq!(&merged, &of(0..middle + end));
            prop_assert_eq!(Sketch::from_text(&merged.to_text()), Some(merged));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[A-Za-z0-9+/]{0,64}|\\PC*") {
            if let Some(sketch) = Sketch::from_text(&text) {
                sketch.estimate();
            }
        }
    }
}
