//! Why a request file is refused.

use thiserror::Error;

use super::{COUNT_MAX, LENGTH_BYTES_MAX, RECORD_BYTES};

/// A request file that cannot be read, made or run. Records are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are named by the messages")]
pub enum RaidtestError {
    /// The file ends within a record.
    #[error("cannot read the request file: {bytes} bytes are no multiple of {RECORD_BYTES}")]
    Torn { bytes: usize },
    /// No requests, or more than are held at once.
    #[error("cannot use {count} requests: 1 to {COUNT_MAX} are possible")]
    Count { count: usize },
    /// Neither a read nor a write.
    #[error("cannot read record {number}: its type is {kind}, neither 0 (read) nor 1 (write)")]
    Kind { number: usize, kind: u8 },
    /// An empty request, or one longer than raidtest's buffer.
    #[error(
        "cannot use request {number}: it is {length_bytes} bytes long, not 1 to {LENGTH_BYTES_MAX}"
    )]
    Length { number: usize, length_bytes: u32 },
    /// A request that ends behind the last offset that a system call takes.
    #[error(
        "cannot use request {number}: {length_bytes} bytes at {offset_bytes} end behind any disk"
    )]
    End { number: usize, offset_bytes: u64, length_bytes: u32 },
    /// A medium that has no place for a request.
    #[error("cannot fit request {number} into {media_bytes} bytes at its place in the unit")]
    Media { number: usize, media_bytes: u64 },
    /// A sector that no request length is a multiple of.
    #[error("cannot make requests of sectors of {sector_bytes} bytes")]
    Sector { sector_bytes: u32 },
    /// A medium too short for the longest request, or longer than any disk.
    #[error("cannot make requests for a medium of {media_bytes} bytes")]
    MediaLength { media_bytes: u64 },
}

impl RaidtestError {
    /// Returns what to do about it, in one line.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            RaidtestError::Torn { .. } => "copy the file again, in binary mode",
            RaidtestError::Count { .. } => "split the list, or ask for fewer requests",
            RaidtestError::Kind { .. }
            | RaidtestError::Length { .. }
            | RaidtestError::End { .. } => "is this a file made by raidtest genfile",
            RaidtestError::Media { .. } => "give it more room, or a smaller unit",
            RaidtestError::Sector { .. } => "choose a power of two from 1 to 131072",
            RaidtestError::MediaLength { .. } => "give at least 131072 bytes",
        }
    }
}
