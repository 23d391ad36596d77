//! The random bytes of a scratch file, written in full and synced before anything is measured.

use std::os::fd::BorrowedFd;

use rustix::fs::{Advice, FallocateFlags, OFlags};
use rustix::io::Errno;
use units::DiskText;
use units::random::Random;

use crate::engine::Buffers;

use super::error::ScratchError;
use super::wanted_length::ScratchPlan;

/// Length of each write, in bytes.
const CHUNK_BYTES: u32 = 1 << 20;

/// Writes all of `file` and syncs it; true if it was written past the page cache.
pub(super) fn fill(
    file: BorrowedFd<'_>,
    plan: ScratchPlan,
    directory: &DiskText,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Result<bool, ScratchError> {
    let failed =
        |attempted, at_bytes| move |error| ScratchError::of(error, attempted, directory, at_bytes);
    // Asked for at once it lies in fewer pieces, and too little space is met before the first byte.
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, plan.length_bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
        Err(error) => return Err(failed("fallocate", 0)(error)),
    }
    let mut direct = rustix::fs::fcntl_setfl(file, OFlags::DIRECT).is_ok();
    let mut buffers = Buffers::new(1, CHUNK_BYTES).map_err(|error| ScratchError::Refused {
        attempted: "get memory to fill a file in",
        directory: directory.clone(),
        reason: error.to_string(),
    })?;
    let mut random = Random::new(plan.seed);
    let mut at_bytes = 0;
    while at_bytes < plan.length_bytes {
        if !goes_on(at_bytes) {
            let directory = directory.clone();
            return Err(ScratchError::Stopped { directory, written_bytes: at_bytes });
        }
        let length_bytes = u64::from(CHUNK_BYTES).min(plan.length_bytes - at_bytes);
        let length = usize::try_from(length_bytes).expect("at most a chunk");
        let chunk = &mut buffers.slot(0)[..length];
        crate::engine::fill(chunk, &mut random);
        if let Err((attempted, error)) = write_all(file, chunk, at_bytes) {
            // Some file systems take the flag, and refuse only the first write.
            if !(direct && error == Errno::INVAL && at_bytes == 0) {
                return Err(failed(attempted, at_bytes)(error));
            }
            direct = false;
            rustix::fs::fcntl_setfl(file, OFlags::empty()).map_err(failed("fcntl", 0))?;
            write_all(file, chunk, at_bytes).map_err(|(what, error)| failed(what, 0)(error))?;
        }
        at_bytes += length_bytes;
    }
    rustix::fs::fcntl_setfl(file, OFlags::empty()).map_err(failed("fcntl", at_bytes))?;
    rustix::fs::fsync(file).map_err(failed("fsync", 0))?;
    if !direct {
        // It is a courtesy to the page cache; what fails here harms nothing.
        let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    }
    Ok(direct)
}

/// Writes all of `bytes`, by several calls where one writes less.
pub(super) fn write_all(
    file: BorrowedFd<'_>,
    mut bytes: &[u8],
    mut at_bytes: u64,
) -> Result<(), (&'static str, Errno)> {
    while !bytes.is_empty() {
        match rustix::io::pwrite(file, bytes, at_bytes) {
            Ok(0) => return Err(("pwrite, which wrote nothing,", Errno::IO)),
            Ok(count) => {
                bytes = &bytes[count..];
                at_bytes += u64::try_from(count).expect("at most a chunk");
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(("pwrite", error)),
        }
    }
    Ok(())
}
