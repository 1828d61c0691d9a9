//! Which library this is.

use core::ffi::c_char;

/// The soname's number, from build.rs.
const ABI_VERSION: u32 = match u32::from_str_radix(env!("DENISE_ABI"), 10) {
    Ok(number) => number,
    Err(_) => panic!("build.rs sets a number"),
};

/// The version of the library, such as "0.2.0". The string is static.
#[unsafe(no_mangle)]
pub extern "C" fn denise_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The number of the binary interface, as in the file name libdenise.so.2. It changes only when programs must be
/// compiled again.
#[unsafe(no_mangle)]
pub extern "C" fn denise_abi_version() -> u32 {
    ABI_VERSION
}
