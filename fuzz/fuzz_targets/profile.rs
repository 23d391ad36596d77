//! Any bytes as an engine's profile.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| fuzz::profile(text));
