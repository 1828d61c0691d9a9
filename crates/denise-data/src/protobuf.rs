//! Protocol buffers for tests, sound or not: bytes are put together by hand, so that any claim can be made.

/// A number of variable length.
pub fn number(mut x: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while x >= 0x80 {
        bytes.push(x as u8 | 0x80);
        x >>= 7;
    }
    bytes.push(x as u8);
    bytes
}

/// A field that holds text or a message.
pub fn field(tag: u64, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    [&number(tag << 3 | 2), &number(value.len() as u64), value].concat()
}

/// A field that holds a number.
pub fn int_field(tag: u64, value: i64) -> Vec<u8> {
    [number(tag << 3), number(value as u64)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of the format's documentation.
    #[test]
    fn fields_are_those_of_the_format() {
        assert_eq!(int_field(1, 150), [0x08, 0x96, 0x01]);
        assert_eq!(field(2, "testing"), b"\x12\x07testing");
        assert_eq!(field(3, int_field(1, 150)), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(int_field(1, -2).len(), 1 + 10);
    }
}
