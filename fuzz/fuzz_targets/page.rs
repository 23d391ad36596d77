//! Any bytes, read by the parser of this target's name.
#![no_main]

libfuzzer_sys::fuzz_target!(|packed: &[u8]| fuzz::run(env!("CARGO_BIN_NAME"), packed));
