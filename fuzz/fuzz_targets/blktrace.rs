//! Any bytes as blktrace's records, of each stage.
#![no_main]

libfuzzer_sys::fuzz_target!(|records: &[u8]| fuzz::blktrace(records));
