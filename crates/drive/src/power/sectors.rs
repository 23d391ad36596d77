//! Logical sectors, and the runs of them that are written as one.

use std::ops::Range;

use units::ByteRange;

/// The sectors of a drive, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sectors {
    /// The addressable unit.
    pub logical_bytes: u64,
    /// Bytes of a physical sector, which is read and written as one.
    pub physical_bytes: u64,
    /// The address at which the first whole physical sector starts.
    pub origin_bytes: u64,
}

impl Sectors {
    /// The logical sectors that `range` touches.
    #[must_use]
    pub fn lbas(self, range: ByteRange) -> Range<u64> {
        let end = range.end_bytes().div_ceil(self.logical_bytes);
        range.start_bytes() / self.logical_bytes..end
    }

    /// Its physical sectors.
    pub(crate) fn physical(self) -> Units {
        // Where the origin is not 0, unit 0 is the piece before it.
        let shift_bytes = (self.physical_bytes - self.origin_bytes) % self.physical_bytes;
        Units {
            lbas: self.physical_bytes / self.logical_bytes,
            shift_lbas: shift_bytes / self.logical_bytes,
        }
    }
}

/// A drive's logical sectors in runs of equal length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    lbas: u64,
    shift_lbas: u64,
}

impl Units {
    /// The unit that holds `lba`.
    pub(super) fn of(self, lba: u64) -> u64 {
        lba.saturating_add(self.shift_lbas) / self.lbas
    }

    /// The logical sectors of `unit`.
    pub(super) fn lbas(self, unit: u64) -> Range<u64> {
        let start = unit * self.lbas;
        start.saturating_sub(self.shift_lbas)..(start + self.lbas).saturating_sub(self.shift_lbas)
    }

    /// The units that `lbas`, which are some, touch.
    pub(crate) fn touched(self, lbas: &Range<u64>) -> Range<u64> {
        self.of(lbas.start)..self.of(lbas.end - 1) + 1
    }
}

/// Returns what both hold.
pub(super) fn common(left: &Range<u64>, right: &Range<u64>) -> Range<u64> {
    let start = left.start.max(right.start);
    start..left.end.min(right.end).max(start)
}
