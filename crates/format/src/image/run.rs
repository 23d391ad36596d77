//! Result of one look into an image's tables: a length and a place.

use device::{Disk, ReadError};
use units::ByteRange;

use super::GuestPlace;

/// A run of guest bytes from where it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GuestRun {
    /// Number of bytes it has; also how many bytes share the trouble, where there is one.
    pub(super) length_bytes: u64,
    /// Place where they lie, or why that is not known.
    pub(super) place: Result<GuestPlace, ReadError>,
    /// Number of bytes of the file that hold the compressed bytes at most; 0 where the file says so
    /// itself.
    pub(super) compressed_bytes: u64,
}

/// Result of one look: a run or, so that `?` ends the look, one whose place could not be told.
pub(super) type Looked = Result<GuestRun, GuestRun>;

impl GuestRun {
    /// `length_bytes` bytes at `place`.
    pub(super) fn new(length_bytes: u64, place: GuestPlace) -> GuestRun {
        GuestRun { length_bytes, place: Ok(place), compressed_bytes: 0 }
    }

    /// `length_bytes` bytes whose place could not be read.
    pub(super) fn broken(length_bytes: u64, error: ReadError) -> GuestRun {
        GuestRun { length_bytes, place: Err(error), compressed_bytes: 0 }
    }

    /// Bytes whose place could not be read, since entry number `index` of `table`, of
    /// `entry_bytes`, could not: `rest` of them, or all that follow where the entry lies behind the
    /// table or the file, since later ones do too.
    pub(super) fn unread(
        file: &dyn Disk,
        table: ByteRange,
        (index, entry_bytes): (u64, u64),
        rest: u64,
        error: ReadError,
    ) -> GuestRun {
        let end = index
            .checked_add(1)
            .and_then(|entries| entries.checked_mul(entry_bytes)?.checked_add(table.start_bytes()));
        let behind = end.is_none_or(|end| end > table.end_bytes().min(file.length_bytes()));
        GuestRun::broken(if behind { u64::MAX } else { rest }, error)
    }

    /// `length_bytes` bytes from `guest_bytes` whose place the tables tell wrongly.
    pub(super) fn failed(
        length_bytes: u64,
        guest_bytes: u64,
        reason: impl Into<String>,
    ) -> GuestRun {
        let error =
            ReadError::Failed { offset_bytes: guest_bytes, length_bytes, reason: reason.into() };
        GuestRun::broken(length_bytes, error)
    }
}

/// Returns whether a run of bytes at `offset_bytes` starts within a file of `file_bytes`.
///
/// # Errors
/// [`ReadError::PastEnd`] when it does not.
pub(super) fn starts_within(
    file_bytes: u64,
    offset_bytes: u64,
    length_bytes: u64,
) -> Result<(), ReadError> {
    if offset_bytes < file_bytes {
        return Ok(());
    }
    Err(ReadError::PastEnd { offset_bytes, length_bytes, disk_bytes: file_bytes })
}
