//! Any bytes as the log of what a host sent to a drive.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| fuzz::host_log(text));
