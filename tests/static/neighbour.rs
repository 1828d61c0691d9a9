//! Another Rust library in the same program as libdenise, with a standard library of its own.

use std::panic::catch_unwind;

/// Panics if `number` is odd, and catches it: half of an even number, -1 for an odd one.
#[unsafe(no_mangle)]
pub extern "C" fn neighbour_half(number: i32) -> i32 {
    std::panic::set_hook(Box::new(|_| {})); // quietly
    catch_unwind(|| {
        assert!(number % 2 == 0, "{number} is odd");
        number / 2
    })
    .unwrap_or(-1)
}
