//! Why the last call on a thread failed: the text behind `denise_last_error`.
//!
//! Thread-local memory would be the obvious place. But in a library that is opened late, the first use of it on a
//! thread allocates, and ends the process when there is no memory. So there is a fixed table, in which every thread has
//! a place by its number. If more threads fail than there are places, the latest ones have them; a thread whose place
//! is taken gets no text.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Threads that can have a text at the same time.
const PLACES: usize = 128;
/// Bytes of a text, the zero at its end included.
const LENGTH: usize = 256;
/// Places that a thread may have, one after another from where its number says.
const TRIES: usize = 8;

/// In the place of a thread's number: the place is free, or is being written to.
const NOBODY: usize = 0;
const BUSY: usize = usize::MAX;

/// One thread's text. Bytes are atomic, so that a place may change hands at any time.
struct Place {
    /// The number of the thread that has it, [`NOBODY`] or [`BUSY`].
    thread: AtomicUsize,
    /// The last byte is never written: there is an end in any case.
    text: [AtomicU8; LENGTH],
}

static TABLE: [Place; PLACES] = [const {
    Place {
        thread: AtomicUsize::new(NOBODY),
        text: [const { AtomicU8::new(0) }; LENGTH],
    }
}; PLACES];

/// Keeps `text`, cut to fit, for the calling thread. Neither allocates nor waits.
pub(crate) fn keep(text: &str) {
    let thread = current_thread();
    let taken = [thread, NOBODY]
        .into_iter()
        .find_map(|owner| places(thread).find(|place| place.take(owner)))
        .or_else(|| places(thread).find(|place| place.take(place.thread.load(Ordering::Relaxed))));
    // Others write there at this moment: they have it.
    let Some(place) = taken else { return };
    let mut length = text.len().min(LENGTH - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    let ended = text.as_bytes()[..length].iter().chain([&0]);
    for (byte, &value) in place.text.iter().zip(ended) {
        byte.store(value, Ordering::Relaxed);
    }
    place.thread.store(thread, Ordering::Release);
}

/// What was kept for the calling thread, or the empty string. Valid until the thread keeps another.
pub(crate) fn text() -> *const c_char {
    let thread = current_thread();
    places(thread)
        .find(|place| place.thread.load(Ordering::Acquire) == thread)
        .map_or(CStr::as_ptr(c""), |place| place.text.as_ptr().cast())
}

impl Place {
    /// Makes it the caller's to write to, if `owner` has it.
    fn take(&self, owner: usize) -> bool {
        owner != BUSY
            && self
                .thread
                .compare_exchange(owner, BUSY, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }
}

/// The places that a thread may have. Numbers of threads that fail may lie at even distances: their bits are mixed.
fn places(thread: usize) -> impl Iterator<Item = &'static Place> {
    let mixed = (thread as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.ilog2());
    TABLE.iter().cycle().skip(mixed as usize).take(TRIES)
}

/// A number that no other thread has at this time, and neither [`NOBODY`] nor [`BUSY`].
#[cfg(all(target_os = "linux", not(miri)))]
fn current_thread() -> usize {
    // Not pthread_self: the next thread has that of one that has ended. By its number, since old C libraries do not
    // have a function for it.
    // SAFETY: has no conditions, and cannot fail.
    unsafe { libc::syscall(libc::SYS_gettid) as usize }
}

/// A number that no other thread has at this time, and neither [`NOBODY`] nor [`BUSY`].
#[cfg(all(windows, not(miri)))]
fn current_thread() -> usize {
    #[link(name = "kernel32")]
    unsafe extern "system" {
        safe fn GetCurrentThreadId() -> u32;
    }
    GetCurrentThreadId() as usize
}

/// A number that no other thread has at this time, and neither [`NOBODY`] nor [`BUSY`].
#[cfg(any(not(any(target_os = "linux", windows)), miri))]
fn current_thread() -> usize {
    std::thread_local! { static HERE: u8 = const { 0 } }
    HERE.with(|here| core::ptr::from_ref(here) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, PoisonError};

    /// One test takes every place there is, so they take turns.
    static TURN: Mutex<()> = Mutex::new(());

    fn own() -> String {
        // SAFETY: terminated, and this thread keeps no other while it reads.
        let text = unsafe { CStr::from_ptr(text()) };
        text.to_str().unwrap().to_owned()
    }

    #[test]
    fn every_thread_has_its_own() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        keep("mine");
        std::thread::scope(|scope| {
            for i in 0..20 {
                scope.spawn(move || {
                    for round in 0..50 {
                        let text = format!("thread {i}, round {round}");
                        keep(&text);
                        assert_eq!(own(), text);
                    }
                });
            }
        });
        assert_eq!(own(), "mine");
        keep("short");
        assert_eq!(own(), "short");
        keep("");
        assert_eq!(own(), "");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        keep(&"é".repeat(LENGTH));
        assert_eq!(own(), "é".repeat((LENGTH - 1) / 2));
    }

    #[test]
    fn more_threads_than_places_do_no_harm() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // All are alive at once, so that no number is used twice.
        let barrier = std::sync::Barrier::new(2 * PLACES);
        std::thread::scope(|scope| {
            for i in 0..2 * PLACES {
                let barrier = &barrier;
                scope.spawn(move || {
                    keep(&format!("thread {i}"));
                    barrier.wait();
                    let text = own();
                    assert!(text.is_empty() || text == format!("thread {i}"), "{text}");
                    barrier.wait();
                });
            }
        });
    }
}
