//! Making bytes real again that a file system set aside.
//!
//! A loop device hands "write zeroes" requests to its file as `FALLOC_FL_ZERO_RANGE`, which turns
//! written extents into unwritten ones (`lo_req_flush`, `lo_fallocate` in `drivers/block/loop.c`).
//! The first write to those is no overwrite: the file system zeroes around it and converts them,
//! which would be measured as if the drive did it.

use std::os::fd::{AsFd as _, BorrowedFd};

use device::ExtentFlags;
use units::ByteRange;

use super::fill::write_all;
use super::{Scratch, ScratchError, full_part, whole};
use crate::engine::{Access, Buffers};
use crate::extents::extents_of;

/// Length of each write, in bytes.
const CHUNK_BYTES: u32 = 1 << 20;

impl Scratch {
    /// Writes zeros to every unwritten part of the file, which reads as zeros already; how many
    /// bytes that were.
    ///
    /// # Errors
    /// [`ScratchError::Refused`] when the file system does not tell its extents or there is no
    /// memory; as [`Scratch::create`] when a write fails.
    pub fn rewrite_unwritten(&self) -> Result<u64, ScratchError> {
        // All space was taken when it was made: what is missing now is missing below.
        self.rewritten().map_err(|error| full_part::blamed(error, self.fd(), 1))
    }

    fn rewritten(&self) -> Result<u64, ScratchError> {
        let refused = |attempted, reason: String| ScratchError::Refused {
            attempted,
            directory: self.directory.clone(),
            reason,
        };
        let list = extents_of(self.fd(), whole(self.length_bytes), true)
            .map_err(|error| refused("ask for the extents of a file in", error.to_string()))?;
        let unwritten: Vec<ByteRange> = list
            .extents
            .iter()
            .filter(|extent| extent.flags.has(ExtentFlags::UNWRITTEN))
            .map(|extent| extent.logical)
            .collect();
        if unwritten.is_empty() {
            return Ok(0);
        }
        let file = self
            .open(Access::Write, self.filled_direct)
            .map_err(|error| refused("open a file again in", error.to_string()))?;
        let mut zeros = Buffers::new(1, CHUNK_BYTES)
            .map_err(|error| refused("get memory for zeros for", error.to_string()))?;
        let mut written_bytes = 0;
        for range in unwritten {
            written_bytes += self.write_zeros(file.as_fd(), range, zeros.slot(0))?;
        }
        rustix::fs::fsync(&file)
            .map_err(|error| ScratchError::of(error, "fsync", &self.directory, 0))?;
        Ok(written_bytes)
    }

    fn write_zeros(
        &self,
        file: BorrowedFd<'_>,
        range: ByteRange,
        zeros: &[u8],
    ) -> Result<u64, ScratchError> {
        let end_bytes = range.end_bytes().min(self.length_bytes);
        let mut at_bytes = range.start_bytes();
        while at_bytes < end_bytes {
            let length_bytes = u64::from(CHUNK_BYTES).min(end_bytes - at_bytes);
            let length = usize::try_from(length_bytes).expect("at most a chunk");
            write_all(file, &zeros[..length], at_bytes).map_err(|(attempted, error)| {
                ScratchError::of(error, attempted, &self.directory, at_bytes)
            })?;
            at_bytes += length_bytes;
        }
        Ok(end_bytes.saturating_sub(range.start_bytes()))
    }
}
