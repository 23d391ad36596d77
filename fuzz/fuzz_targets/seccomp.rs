//! Any bytes, read as a seccomp filter.
#![no_main]

libfuzzer_sys::fuzz_target!(|packed: &[u8]| fuzz::seccomp(packed));
