//! Choices made from the fuzzer's bytes.

/// Bytes not used yet. When there are none left, zeros follow.
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Bytes<'a> {
        Bytes { rest: data }
    }

    pub(crate) fn array<const SIZE: usize>(&mut self) -> [u8; SIZE] {
        let mut array = [0; SIZE];
        let (head, tail) = self.rest.split_at(SIZE.min(self.rest.len()));
        array[..head.len()].copy_from_slice(head);
        self.rest = tail;
        array
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    /// A number below `end`, which is at most 256.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// Whatever is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}
