//! Tables made here, byte for byte.

pub(crate) mod bsd;
pub(crate) mod gpt;
pub(crate) mod mbr;
