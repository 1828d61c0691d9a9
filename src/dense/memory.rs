//! Memory for the weights, in large pages where the system has them.
//!
//! A call of one matrix reads megabytes of weights, each once. In pages of 4 KB, finding out where a page is takes
//! a fifth of that time.

use crate::status::Error;

/// As [`filled`](super::packed::filled).
pub(super) fn memory<T: Clone>(len: usize, value: T) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    all.try_reserve_exact(len)?;
    #[cfg(target_os = "linux")]
    ask_for_large_pages(all.spare_capacity_mut());
    all.resize(len, value);
    Ok(all)
}

/// Before the memory is first written. Whether the system complies does not matter.
#[cfg(target_os = "linux")]
fn ask_for_large_pages<T>(memory: &mut [T]) {
    const LARGE: usize = 2 << 20;
    let length = size_of_val(memory);
    let start = memory.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(LARGE);
    if let Some(rest) = length.checked_sub(skipped).filter(|&rest| rest >= LARGE) {
        // SAFETY: whole pages inside memory that is ours; the advice leaves contents and addresses as they are.
        let _ = unsafe {
            let start = start.wrapping_add(skipped).cast();
            libc::madvise(start, rest - rest % LARGE, libc::MADV_HUGEPAGE)
        };
    }
}
