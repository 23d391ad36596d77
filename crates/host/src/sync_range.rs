//! Writing out a part of a file: `sync_file_range`(2), which rustix does not have.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use rustix::io::Errno;

/// Wait, write out, wait.
pub(crate) const ALL: u32 = libc::SYNC_FILE_RANGE_WAIT_BEFORE
    | libc::SYNC_FILE_RANGE_WRITE
    | libc::SYNC_FILE_RANGE_WAIT_AFTER;
/// Write out, without waiting.
pub(crate) const START: u32 = libc::SYNC_FILE_RANGE_WRITE;

/// Writes out `length_bytes` of `file` from `offset_bytes` on. Always inlined: see
/// [`crate::engine::SyncQueue`].
#[expect(unsafe_code, reason = "rustix does not offer this call")]
#[inline(always)]
pub(crate) fn sync_file_range(
    file: BorrowedFd<'_>,
    offset_bytes: u64,
    length_bytes: u64,
    flags: u32,
) -> Result<(), Errno> {
    let range = i64::try_from(offset_bytes).ok().zip(i64::try_from(length_bytes).ok());
    let (offset, length) = range.ok_or(Errno::INVAL)?;
    // SAFETY: sync_file_range(2) takes four numbers and no memory; the descriptor is borrowed open.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, flags) } {
        0 => Ok(()),
        _ => {
            let error = std::io::Error::last_os_error();
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_the_bits_of_the_kernels_header() {
        assert_eq!((ALL, START), (7, 2));
    }
}
