//! Any bytes as what blkparse prints, of each stage.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| fuzz::blkparse(text));
