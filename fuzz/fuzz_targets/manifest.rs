//! Any bytes as the text of a captured tree, and everything asked of the tree.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| fuzz::manifest(text));
