//! Which header a caller was compiled with.
//!
//! Structs grow at their end. A caller gives the size of its denise_options, which tells the header, and so also how
//! long its denise_report is. The library keeps to that: an older caller's memory is never written past its end.

use crate::options::denise_options;
use crate::report::denise_report;
use denise_rust::{Error, Status};

/// The sizes of the structs in a header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Layout {
    pub(crate) options: usize,
    pub(crate) report: usize,
}

/// Of every released header in which a struct has grown, oldest first. When one grows again, the lines that are here
/// stay, with the sizes of their time, and the new sizes get a line of their own.
const RELEASED: &[Layout] = &[
    // 0.2.0
    Layout {
        options: size_of::<denise_options>(),
        report: size_of::<denise_report>(),
    },
];

// A struct that grows without a new line does not compile.
const _: () = {
    if size_of::<usize>() == 8 {
        assert!(RELEASED[0].options == 48 && RELEASED[0].report == 32);
    }
    let latest = &RELEASED[RELEASED.len() - 1];
    assert!(latest.options == size_of::<denise_options>());
    assert!(latest.report == size_of::<denise_report>());
};

impl Layout {
    /// Of the first header of this ABI: what a caller has, at the least, who gives no options.
    pub(crate) const OLDEST: Layout = RELEASED[0];

    /// The header whose denise_options has this size.
    pub(crate) fn of(struct_size: usize) -> Result<Layout, Error> {
        let known = RELEASED
            .iter()
            .find(|layout| layout.options == struct_size)
            .copied();
        known.ok_or_else(|| {
            if struct_size > size_of::<denise_options>() {
                let message = format_args!(
                    "options.struct_size is {struct_size}: the program was compiled with the header of a newer \
                     libdenise than this one, {}, or denise_options_init was not called",
                    env!("CARGO_PKG_VERSION")
                );
                return Error::format(Status::Argument, message);
            }
            let message = format_args!(
                "options.struct_size is {struct_size}, which no header has: call denise_options_init(&options, \
                 sizeof options) first"
            );
            Error::format(Status::Argument, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sizes_of_released_headers_are_known() {
        for layout in RELEASED {
            assert_eq!(Layout::of(layout.options), Ok(*layout));
        }
        for size in [0, 3, 8, 47, 49, 56, 64, usize::MAX] {
            let error = Layout::of(size).unwrap_err();
            assert_eq!(error.status, Status::Argument);
            let text = format!("struct_size is {size}");
            assert!(error.message.contains(&text), "{error}");
            assert_eq!(error.message.contains("newer"), size > 48, "{error}");
        }
    }
}
