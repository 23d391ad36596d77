//! The request files of FreeBSD's raidtest: one fixed list of reads and writes, so that two
//! layouts are asked exactly the same.
//!
//! A file is nothing but records of 16 bytes, little-endian: offset (u64), length (u32), type (u8:
//! 0 reads, 1 writes) and three bytes without meaning. Source: freebsd-src
//! `tools/tools/raidtest/raidtest.c`, `struct iorec` and `read_ioreq`.

mod plan;
mod request;
mod requests;

pub use plan::{GeneratePlan, Mix};
pub use request::{COUNT_MAX, LENGTH_BYTES_MAX, RECORD_BYTES, RaidRequest, RequestKind};
pub use requests::{Requests, Scaled};

#[cfg(test)]
mod tests;
