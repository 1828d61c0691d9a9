//! Handles of the C ABI, freed when dropped.

use denise::{
    DENISE_OK, denise_free, denise_k, denise_load, denise_load_memory, denise_model, denise_n,
    denise_options, denise_options_init, denise_status,
};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;

/// A loaded model.
pub(crate) struct Handle(*mut denise_model);

// SAFETY: any number of threads may use one handle at once, and any may free it.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub(crate) fn get(&self) -> *const denise_model {
        self.0
    }

    pub(crate) fn n(&self) -> usize {
        // SAFETY: a live handle.
        unsafe { denise_n(self.0) as usize }
    }

    pub(crate) fn k(&self) -> usize {
        // SAFETY: a live handle.
        unsafe { denise_k(self.0) as usize }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: a handle that was loaded, freed once.
        unsafe { denise_free(self.0) }
    }
}

pub(crate) fn default_options() -> denise_options {
    let mut options = MaybeUninit::uninit();
    // SAFETY: the function fills in every field.
    unsafe {
        denise_options_init(options.as_mut_ptr(), size_of::<denise_options>());
        options.assume_init()
    }
}

/// The built-in network (`None`) or a file's, or the status and the message. Panics if the outputs contradict the
/// status.
pub(crate) fn open(
    file: Option<&[u8]>,
    mut options: denise_options,
) -> Result<Handle, (denise_status, String)> {
    // Shorter than most messages, which are then cut.
    let mut message = [0x55_u8; 80];
    options.message = message.as_mut_ptr().cast();
    options.message_size = message.len();
    let mut model = ptr::dangling_mut();
    // SAFETY: all pointers are to live memory of the size that is given with them.
    let status = unsafe {
        match file {
            None => denise_load(ptr::null(), &options, &mut model),
            Some(data) => {
                denise_load_memory(data.as_ptr().cast(), data.len(), &options, &mut model)
            }
        }
    };
    let text = CStr::from_bytes_until_nul(&message).expect("the message is terminated");
    let text = text
        .to_str()
        .expect("the message is cut between characters");
    if status == DENISE_OK {
        assert!(!model.is_null() && text.is_empty(), "OK, but: {text}");
        Ok(Handle(model))
    } else {
        assert!(model.is_null(), "status {status}, but there is a model");
        assert!(!text.is_empty(), "status {status}, but there is no message");
        Err((status, text.to_owned()))
    }
}
