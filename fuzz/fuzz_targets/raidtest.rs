//! Any bytes as a request file of raidtest, and all that is made of one.
#![no_main]

libfuzzer_sys::fuzz_target!(|records: &[u8]| fuzz::raidtest(records));
