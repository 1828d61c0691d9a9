//! Keeps the library in the process, on Windows. On Linux the linker does that (`build.rs`: nodelete).
//!
//! A host may let go of a DLL whose models it has not freed, and their threads would go on in code that is gone.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, Ordering};

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetModuleHandleExW(flags: u32, name: *const u16, module: *mut *mut c_void) -> i32;
}
const PIN: u32 = 1;
const FROM_ADDRESS: u32 = 4;

/// From the first call on, the system does not unload what this function is in.
pub(crate) fn pin() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.load(Ordering::Relaxed) {
        return;
    }
    let mut module = core::ptr::null_mut();
    // SAFETY: an address inside of this module, in the place of a name; the flags say so.
    let found =
        unsafe { GetModuleHandleExW(PIN | FROM_ADDRESS, (pin as *const fn()).cast(), &mut module) };
    DONE.store(found != 0, Ordering::Relaxed);
}
