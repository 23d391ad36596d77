//! Any bytes, read as a program or library.
#![no_main]

libfuzzer_sys::fuzz_target!(|packed: &[u8]| fuzz::elf(packed));
