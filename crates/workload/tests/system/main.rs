//! Readers against fio and blkparse.

#![expect(clippy::disallowed_methods, reason = "these tests run programs, and print their times")]

mod fio_agrees;
mod traces_agree;
