//! Any bytes as what was kept of a probe.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| fuzz::measured(text));
