//! Bytes from libFuzzer to `denise_fuzz::decompose`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| denise_fuzz::decompose(data));
