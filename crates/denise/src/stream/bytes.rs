//! Numbers to bytes, and back, in little-endian order.

/// Writes to the front of what is left.
pub(super) struct Writer<'a>(pub(super) &'a mut [u8]);

impl Writer<'_> {
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let (here, rest) = core::mem::take(&mut self.0).split_at_mut(bytes.len());
        here.copy_from_slice(bytes);
        self.0 = rest;
    }

    pub(super) fn word(&mut self, word: u64) {
        self.bytes(&word.to_le_bytes());
    }

    pub(super) fn number(&mut self, x: f64) {
        self.word(x.to_bits());
    }
}

/// Reads from the front of what is left; lengths have been checked.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    pub(super) fn word(&mut self) -> u64 {
        match self.0.split_first_chunk() {
            Some((word, rest)) => {
                self.0 = rest;
                u64::from_le_bytes(*word)
            }
            None => 0,
        }
    }

    pub(super) fn number(&mut self) -> f64 {
        f64::from_bits(self.word())
    }
}
