//! A target that must fail: it shows that the fuzzer sees branches, finds inputs and reports
//! panics.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::canary(bytes));
