//! Numbers and bytes, written and read.

/// Writes a block.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(super) fn number(&mut self, number: impl TryInto<u64>) {
        let mut rest = number.try_into().unwrap_or(u64::MAX);
        while rest >= 0x80 {
            self.bytes.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push((rest & 0x7f) as u8);
    }

    pub(super) fn text(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// Values as value and run length.
    pub(super) fn runs(&mut self, values: impl IntoIterator<Item = u32>) {
        let mut run: Option<(u32, u32)> = None;
        for value in values {
            run = match run {
                Some((same, len)) if same == value => Some((same, len + 1)),
                other => {
                    self.run(other);
                    Some((value, 1))
                }
            };
        }
        self.run(run);
    }

    fn run(&mut self, run: Option<(u32, u32)>) {
        if let Some((value, len)) = run {
            self.number(value);
            self.number(len);
        }
    }
}

/// Reads a block. A block that is not one ends in `None`, never in a panic or a large allocation.
pub(super) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(number).ok();
            }
            shift += 7;
            if shift > 28 {
                return None;
            }
        }
    }

    /// A number below a bound.
    pub(super) fn index(&mut self, bound: usize) -> Option<u32> {
        self.number().filter(|&number| (number as usize) < bound)
    }

    pub(super) fn text(&mut self) -> Option<&'b [u8]> {
        let len = self.number()? as usize;
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(text)
    }

    /// So many as a count says, each of at least one byte.
    pub(super) fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()? as usize;
        if count > self.rest.len() {
            return None;
        }
        (0..count).map(|_| item(self)).collect()
    }

    /// `count` values below a bound, given as runs.
    pub(super) fn runs(&mut self, count: usize, bound: usize) -> Option<Vec<u32>> {
        let mut values = Vec::new();
        while values.len() < count {
            let value = self.index(bound)?;
            let len = self.number()? as usize;
            if len == 0 || len > count - values.len() {
                return None;
            }
            values.resize(values.len() + len, value);
        }
        Some(values)
    }
}
