//! What an allocator gives for what is asked.

/// The allocator of the server that wrote the snapshot, which the file does not record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Allocator {
    /// jemalloc in steps of 16 bytes, as Linux distributions build it
    #[default]
    Jemalloc,
    /// jemalloc in steps of 8 bytes, as it is bundled with Redis and Valkey
    BundledJemalloc,
    /// The C library's, as glibc does it
    Libc,
}

impl Allocator {
    /// The bytes that an allocation of `size` bytes occupies.
    #[inline]
    pub(crate) fn usable(self, size: u64) -> u64 {
        /// More than any machine has; so sums of what forged lengths claim cannot overflow.
        const MOST: u64 = 1 << 48;
        let size = size.min(MOST);
        match self {
            // 8, then every 16 up to 128, then four steps in every doubling.
            Allocator::Jemalloc if size <= 8 => 8,
            Allocator::Jemalloc if size <= 128 => round_up(size, 16),
            // Every 8 up to 64, then the same.
            Allocator::BundledJemalloc if size <= 64 => round_up(size.max(1), 8),
            Allocator::Jemalloc | Allocator::BundledJemalloc => {
                let below = (size - 1).ilog2();
                round_up(size, 1 << (below - 2))
            }
            // A header of 8 bytes, steps of 16, 32 at least; the header is not usable.
            Allocator::Libc => round_up(size + 8, 16).max(32) - 8,
        }
    }
}

#[inline]
fn round_up(size: u64, step: u64) -> u64 {
    size.next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_jemalloc() {
        for (asked, given) in [
            (1, 8),
            (8, 8),
            (9, 16),
            (17, 32),
            (33, 48),
            (128, 128),
            (129, 160),
            (257, 320),
            (5_006, 5_120),
            (8_193, 10_240),
            (16_385, 20_480),
            (1 << 20, 1 << 20),
            ((1 << 20) + 1, (1 << 20) + (1 << 18)),
        ] {
            assert_eq!(Allocator::Jemalloc.usable(asked), given, "{asked}");
        }
        assert_eq!(Allocator::BundledJemalloc.usable(17), 24);
        assert_eq!(Allocator::BundledJemalloc.usable(65), 80);
        assert_eq!(Allocator::Libc.usable(16), 24);
        assert_eq!(Allocator::Libc.usable(25), 40);
        assert_eq!(Allocator::Jemalloc.usable(u64::MAX), 1 << 48);
    }
}
