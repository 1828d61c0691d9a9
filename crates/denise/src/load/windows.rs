//! Opens a file on Windows by the system's own calls: the standard library's allocates for the name, and ends the
//! process when there is no memory for it.

use super::{io_error, not_regular};
use crate::status::{Error, Status};
use core::ffi::c_void;
use core::ptr;
use std::os::windows::{ffi::OsStrExt, io::FromRawHandle};
use std::path::Path;
use std::{fs, io};

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetFullPathNameW(name: *const u16, len: u32, full: *mut u16, part: *mut *mut u16) -> u32;
    fn GetFileAttributesW(name: *const u16) -> u32;
    fn CreateFileW(
        name: *const u16,
        access: u32,
        share: u32,
        security: *const c_void,
        disposition: u32,
        flags: u32,
        template: *mut c_void,
    ) -> *mut c_void;
    fn GetFileType(file: *mut c_void) -> u32;
    fn CloseHandle(handle: *mut c_void) -> i32;
}
const INVALID_FILE_ATTRIBUTES: u32 = u32::MAX;
const FILE_ATTRIBUTE_DIRECTORY: u32 = 0x10;
const FILE_ATTRIBUTE_DEVICE: u32 = 0x40;
const GENERIC_READ: u32 = 0x8000_0000;
/// Others may go on to read, write, rename and delete it, as on other systems.
const SHARE_ALL: u32 = 7;
const OPEN_EXISTING: u32 = 3;
const FILE_ATTRIBUTE_NORMAL: u32 = 0x80;
const FILE_TYPE_DISK: u32 = 1;
const INVALID_HANDLE_VALUE: *mut c_void = usize::MAX as *mut c_void;

/// From here on a path must be absolute and start with [`VERBATIM`]: MAX_PATH, less a short name of a file.
const LONG: usize = 248;
const VERBATIM: &str = r"\\?\";
const VERBATIM_SHARE: &str = r"\\?\UNC\";
const BACKSLASH: u16 = b'\\' as u16;

/// Opens a regular file.
pub(super) fn open(path: &Path) -> Result<fs::File, Error> {
    let name = wide(path)?;
    // SAFETY: a terminated string.
    let attributes = unsafe { GetFileAttributesW(name.as_ptr()) };
    if attributes == INVALID_FILE_ATTRIBUTES {
        return Err(io_error(io::Error::last_os_error()));
    }
    // Asked before it is opened, which wakes whoever is at the other end of a pipe.
    if attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE) != 0 {
        return Err(not_regular());
    }
    // SAFETY: a terminated string; nothing else is given.
    let file = unsafe {
        CreateFileW(
            name.as_ptr(),
            GENERIC_READ,
            SHARE_ALL,
            ptr::null(),
            OPEN_EXISTING,
            FILE_ATTRIBUTE_NORMAL,
            ptr::null_mut(),
        )
    };
    if file == INVALID_HANDLE_VALUE {
        return Err(io_error(io::Error::last_os_error()));
    }
    // SAFETY: just opened. A console or a pipe has no end.
    if unsafe { GetFileType(file) } != FILE_TYPE_DISK {
        // SAFETY: just opened, and nobody else's.
        unsafe { CloseHandle(file) };
        return Err(not_regular());
    }
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { fs::File::from_raw_handle(file) })
}

/// A path as the system takes it, with a zero at its end.
fn wide(path: &Path) -> Result<Vec<u16>, Error> {
    let path = path.as_os_str();
    let mut name = Vec::new();
    // No character has more units in UTF-16 than bytes in UTF-8.
    name.try_reserve_exact(path.len() + 1)?;
    name.extend(path.encode_wide());
    if name.contains(&0) {
        let message = "the file's name has a zero byte";
        return Err(Error::new(Status::Argument, message));
    }
    name.push(0);
    if name.len() <= LONG || name.starts_with(&[BACKSLASH, BACKSLASH, u16::from(b'?')]) {
        return Ok(name);
    }
    verbatim(&name)
}

/// A long path, so that the system takes it: absolute, and after a mark that lifts the limit.
fn verbatim(name: &[u16]) -> Result<Vec<u16>, Error> {
    // SAFETY: a terminated string. Without room, it says how much is needed, the zero included.
    let needed = unsafe { GetFullPathNameW(name.as_ptr(), 0, ptr::null_mut(), ptr::null_mut()) };
    let mut full = Vec::<u16>::new();
    full.try_reserve_exact(needed as usize)?;
    full.resize(needed as usize, 0);
    // SAFETY: a terminated string, and room for as many units as are said.
    let len =
        unsafe { GetFullPathNameW(name.as_ptr(), needed, full.as_mut_ptr(), ptr::null_mut()) };
    // Longer than before, if the current folder was changed meanwhile.
    if len == 0 || len >= needed {
        return Err(io_error(io::Error::last_os_error()));
    }
    full.truncate(len as usize);
    let (mark, rest) = match full.as_slice() {
        [BACKSLASH, BACKSLASH, rest @ ..] => (VERBATIM_SHARE, rest),
        rest => (VERBATIM, rest),
    };
    let mut whole = Vec::new();
    whole.try_reserve_exact(mark.len() + rest.len() + 1)?;
    whole.extend(mark.encode_utf16());
    whole.extend_from_slice(rest);
    whole.push(0);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn files_of_any_name_and_length_open_and_nothing_else_does() {
        let folder = std::env::temp_dir().join(format!("denise open {}", std::process::id()));
        let mut long = folder.clone();
        for _ in 0..5 {
            long.push("Überlänge ".repeat(10).trim_end());
        }
        fs::create_dir_all(&long).unwrap();
        for file in [
            folder.join("модель 模型 é 🦀.onnx"),
            long.join("model.onnx"),
        ] {
            fs::write(&file, "seven").unwrap();
            let mut text = String::new();
            open(&file).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "seven");
        }
        let refused = |path: &Path| open(path).unwrap_err();
        assert_eq!(refused(&folder), not_regular());
        assert_eq!(refused(&long), not_regular());
        for missing in [folder.join("missing"), long.join("missing")] {
            let error = refused(&missing);
            assert_eq!(error.status, Status::Io);
            assert!(error.message.contains("there is no such file"), "{error}");
        }
        assert_eq!(refused(Path::new("a\0b")).status, Status::Argument);
        assert_eq!(refused(Path::new("NUL")).status, Status::Io);
        fs::remove_dir_all(&folder).unwrap();
    }
}
