//! Any bytes as an iolog of fio, and that written again.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| fuzz::iolog(text));
