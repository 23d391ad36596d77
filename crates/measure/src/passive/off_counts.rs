//! Writes counted against several units at once.

/// Units against which writes are counted, in bytes: 4 KiB to 256 KiB.
pub const UNITS_BYTES: [u64; 7] =
    [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10];
/// Number of [`UNITS_BYTES`] that can be an answer: the largest only shows that a larger unit than
/// the others is possible.
pub const CANDIDATES: usize = UNITS_BYTES.len() - 1;

/// Writes, as the drive gets them, that are off each of [`UNITS_BYTES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffCounts {
    /// Writes that start off a multiple of the unit.
    pub starts: [u64; UNITS_BYTES.len()],
    /// Writes that start or end off a multiple of the unit: those that cover part of one.
    pub parts: [u64; UNITS_BYTES.len()],
}

impl OffCounts {
    /// Takes a write of `length_bytes` at `start_bytes` of the drive; an empty one counts nowhere.
    pub fn take(&mut self, start_bytes: u64, length_bytes: u64) {
        if length_bytes == 0 {
            return;
        }
        let end_bytes = start_bytes.saturating_add(length_bytes);
        let counts = self.starts.iter_mut().zip(&mut self.parts);
        for ((starts, parts), unit) in counts.zip(UNITS_BYTES) {
            let starts_off = !start_bytes.is_multiple_of(unit);
            *starts += u64::from(starts_off);
            *parts += u64::from(starts_off || !end_bytes.is_multiple_of(unit));
        }
    }

    /// Adds another interval's counts; they stop at the largest number.
    pub fn add(&mut self, other: &OffCounts) {
        let sum = |mine: &mut [u64], theirs: &[u64]| {
            let pairs = mine.iter_mut().zip(theirs);
            pairs.for_each(|(mine, theirs)| *mine = mine.saturating_add(*theirs));
        };
        sum(&mut self.starts, &other.starts);
        sum(&mut self.parts, &other.parts);
    }
}
