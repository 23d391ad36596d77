//! Any bytes as an image file: the stack on it, its verdicts, its findings, and some places.
#![no_main]

libfuzzer_sys::fuzz_target!(|packed: &[u8]| fuzz::stack(packed));
