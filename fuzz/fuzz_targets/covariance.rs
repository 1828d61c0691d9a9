//! Bytes from libFuzzer to `denise_fuzz::covariance`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| denise_fuzz::covariance(data));
