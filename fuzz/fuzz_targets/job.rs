//! Any bytes as a job file of fio, and as an override with one.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| fuzz::job(text));
