//! Sizes in bytes, written as in `redis.conf`: `512`, `100b`, `64kb`, `4mb`, `2gb`.

use std::fmt;
use std::str::FromStr;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// A number of bytes.
///
/// As in `redis.conf`, case does not matter, `kb` is 1,024 bytes and `k` is 1,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size {
    bytes: u64,
}

impl Size {
    /// This many bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Size { bytes }
    }

    /// The bytes in it.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// For people: one decimal of the largest fitting binary unit.
    ///
    /// ```
    /// # use keyward_fact::Size;
    /// assert_eq!(Size::from_bytes(1_572_864).human(), "1.5 MiB");
    /// assert_eq!(Size::from_bytes(512).human(), "512 B");
    /// ```
    pub fn human(self) -> String {
        const SHOWN: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.bytes < KIB {
            return format!("{} B", self.bytes);
        }
        let mut unit: u128 = u128::from(KIB);
        let mut index = 0;
        loop {
            let tenths = (u128::from(self.bytes) * 10 + unit / 2) / unit;
            if tenths < 10_240 || index + 1 == SHOWN.len() {
                return format!("{}.{} {}", tenths / 10, tenths % 10, SHOWN[index]);
            }
            unit *= u128::from(KIB);
            index += 1;
        }
    }
}

/// The largest unit that divides it: `2gb`, `1536kb`, `1000b`.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, unit) = match self.bytes {
            0 => (0, "b"),
            bytes if bytes % GIB == 0 => (bytes / GIB, "gb"),
            bytes if bytes % MIB == 0 => (bytes / MIB, "mb"),
            bytes if bytes % KIB == 0 => (bytes / KIB, "kb"),
            bytes => (bytes, "b"),
        };
        f.pad(&format!("{count}{unit}"))
    }
}

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        if digits.is_empty() {
            return Err(SizeError::MissingNumber { text: text.to_owned() });
        }
        let factor = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" => 1_000,
            "kb" => KIB,
            "m" => 1_000_000,
            "mb" => MIB,
            "g" => 1_000_000_000,
            "gb" => GIB,
            _ => return Err(SizeError::UnknownUnit { unit: unit.to_owned() }),
        };
        let count: u64 = digits.parse().map_err(|_| SizeError::TooLarge)?;
        let bytes = count.checked_mul(factor).ok_or(SizeError::TooLarge)?;
        Ok(Size { bytes })
    }
}

/// Why a text is not a size.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SizeError {
    /// It does not start with a number
    MissingNumber {
        /// The text as written
        text: String,
    },
    /// A unit that does not exist
    UnknownUnit {
        /// The unit as written
        unit: String,
    },
    /// More than 2⁶⁴ - 1 bytes
    TooLarge,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingNumber { text } if text.is_empty() => {
                f.write_str("a size cannot be empty")
            }
            Self::MissingNumber { text } => {
                write!(f, "`{text}` is not a size; a size is a whole number and a unit: `512mb`")
            }
            Self::UnknownUnit { unit } => {
                write!(f, "`{unit}` is not a unit of size; the units are `b`, `kb`, `mb` and `gb`")
            }
            Self::TooLarge => f.write_str("the size is too large"),
        }
    }
}

impl std::error::Error for SizeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_read_as_in_redis_conf() {
        for (text, bytes) in [
            ("512", 512),
            ("100b", 100),
            ("1k", 1_000),
            ("64kb", 65_536),
            ("4MB", 4_194_304),
            ("1m", 1_000_000),
            ("2Gb", 2_147_483_648),
            ("1g", 1_000_000_000),
            ("0", 0),
        ] {
            assert_eq!(text.parse::<Size>().map(Size::bytes), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn a_bad_size_says_what_is_wrong() {
        for (text, message) in [
            ("", "a size cannot be empty"),
            ("-1", "`-1` is not a size; a size is a whole number and a unit: `512mb`"),
            ("mb", "`mb` is not a size; a size is a whole number and a unit: `512mb`"),
            ("1.5gb", "`.5gb` is not a unit of size; the units are `b`, `kb`, `mb` and `gb`"),
            ("1tb", "`tb` is not a unit of size; the units are `b`, `kb`, `mb` and `gb`"),
            ("99999999999999999999", "the size is too large"),
            ("18446744073709551615gb", "the size is too large"),
        ] {
            assert_eq!(text.parse::<Size>().unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn the_printed_form_uses_the_largest_unit_that_divides() {
        for (text, canonical) in
            [("2048mb", "2gb"), ("1536kb", "1536kb"), ("1k", "1000b"), ("0mb", "0b")]
        {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), canonical);
        }
    }

    #[test]
    fn people_read_one_decimal() {
        for (bytes, human) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1024 * 1024 - 1, "1.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(Size::from_bytes(bytes).human(), human);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(bytes: u64) {
            let size = Size::from_bytes(bytes);
            prop_assert_eq!(size.to_string().parse(), Ok(size));
        }

        #[test]
        fn reading_never_panics(text in "[0-9kmgbKMGB.]{0,24}|\\PC*") {
            let _ = text.parse::<Size>();
        }
    }
}
