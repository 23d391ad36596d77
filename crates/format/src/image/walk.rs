//! Every extent of a run of guest bytes, in order, joined where they touch.
//!
//! The work of one walk is bounded by the table entries that it looks at, since a hostile image may
//! point a million times at the same table: a walk that reaches the bound says where it stopped,
//! and another one may go on from there.

use std::ops::ControlFlow;

use device::{Disk, ReadError};
use units::ByteRange;

use super::run::GuestRun;
use super::table_windows::{WALK_BYTES, Windows};
use super::{GuestExtent, GuestPlace, Image};

/// Number of bytes of table entries one walk looks at: 256 GiB of qcow2 with clusters of 64 KiB,
/// 512 GiB of VMDK with grains of that, 16 TiB of VHD with blocks of 2 MiB; each fully allocated.
/// It takes less than half a second.
pub const TABLE_BYTES_MAX: u64 = 32 << 20;

/// The extent of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walked {
    /// The guest byte behind the last one that was examined.
    pub end_bytes: u64,
    /// True if that is the end of the range, or of the guest's disk where that is nearer.
    pub complete: bool,
    /// Number of bytes of table entries looked at, about: a measure of the work.
    pub table_bytes: u64,
}

impl Image {
    /// Visits the extents of `range`, cut to the guest's size, in order. Runs that are contiguous
    /// in the guest and in the file are one extent; compressed clusters stay apart. Tables are read
    /// in pieces of at most 1 MiB, and unallocated runs are skipped table by table. The walk ends
    /// early when `visit` breaks, or when [`TABLE_BYTES_MAX`] of entries were looked at.
    ///
    /// # Errors
    /// Same as [`Image::locate`], at the first place that cannot be told; what lies before it was
    /// visited.
    pub fn extents(
        &self,
        file: &dyn Disk,
        range: ByteRange,
        visit: &mut dyn FnMut(GuestExtent) -> ControlFlow<()>,
    ) -> Result<Walked, ReadError> {
        let mut walker = Walker::new(self, file, range, TABLE_BYTES_MAX);
        let mut pending: Option<GuestExtent> = None;
        let mut failed = None;
        while let Some((guest, run)) = walker.next() {
            let place = match run.place {
                Ok(place) => place,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            };
            let next = GuestExtent { guest, place };
            let Some(last) = pending else {
                pending = Some(next);
                continue;
            };
            pending = join(last, next).or(Some(next));
            if pending == Some(next) && visit(last).is_break() {
                let end_bytes = last.guest.end_bytes();
                return Ok(Walked { end_bytes, complete: false, ..walker.walked() });
            }
        }
        if let Some(last) = pending
            && visit(last).is_break()
        {
            let end_bytes = last.guest.end_bytes();
            let complete = end_bytes == walker.end_bytes;
            return Ok(Walked { end_bytes, complete, ..walker.walked() });
        }
        failed.map_or(Ok(walker.walked()), Err)
    }
}

/// Both as one, when `next` goes on where `last` ends.
fn join(last: GuestExtent, next: GuestExtent) -> Option<GuestExtent> {
    if follow(last.place, last.guest.length_bytes())? != next.place {
        return None;
    }
    let length = last.guest.length_bytes().checked_add(next.guest.length_bytes())?;
    let guest = ByteRange::new(last.guest.start_bytes(), length)?;
    Some(GuestExtent { guest, place: last.place })
}

/// Returns where the byte `length_bytes` behind `place` is when both lie together; `None` for
/// compressed bytes, which never do.
pub(super) fn follow(place: GuestPlace, length_bytes: u64) -> Option<GuestPlace> {
    match place {
        GuestPlace::Here(offset) => Some(GuestPlace::Here(offset.checked_add(length_bytes)?)),
        GuestPlace::In(reference, offset) => {
            Some(GuestPlace::In(reference, offset.checked_add(length_bytes)?))
        }
        GuestPlace::Compressed(_) => None,
        GuestPlace::Zero | GuestPlace::Backing => Some(place),
    }
}

/// Goes through the runs of a range, troubles included.
pub(super) struct Walker<'a> {
    image: &'a Image,
    file: &'a dyn Disk,
    windows: Windows,
    next_bytes: u64,
    end_bytes: u64,
    table_bytes_max: u64,
}

impl<'a> Walker<'a> {
    /// A walk over `range`, cut to the guest's size, that looks at no more than `table_bytes_max`
    /// of table entries.
    pub(super) fn new(
        image: &'a Image,
        file: &'a dyn Disk,
        range: ByteRange,
        table_bytes_max: u64,
    ) -> Walker<'a> {
        let end_bytes = range.end_bytes().min(image.virtual_bytes);
        let next_bytes = range.start_bytes().min(end_bytes);
        let windows = Windows::new(WALK_BYTES);
        Walker { image, file, windows, next_bytes, end_bytes, table_bytes_max }
    }

    /// The next run, not empty; `None` at the end, or when enough was looked at.
    pub(super) fn next(&mut self) -> Option<(ByteRange, GuestRun)> {
        let enough = self.windows.examined_bytes() >= self.table_bytes_max;
        if self.next_bytes >= self.end_bytes || enough {
            return None;
        }
        let run = self.image.run(self.file, &mut self.windows, self.next_bytes);
        if run.place.is_err() {
            self.windows.charge_trouble();
        }
        let length = run.length_bytes.min(self.end_bytes - self.next_bytes);
        let guest = ByteRange::new(self.next_bytes, length)?;
        self.next_bytes = guest.end_bytes();
        Some((guest, run))
    }

    /// Returns how far it came.
    pub(super) fn walked(&self) -> Walked {
        Walked {
            end_bytes: self.next_bytes,
            complete: self.next_bytes == self.end_bytes,
            table_bytes: self.windows.examined_bytes(),
        }
    }
}
