//! By how much guest bytes are shifted in the file, relative to a unit.
//!
//! An image keeps the guest's alignment when the difference between a byte's place in the file and
//! its guest address is a multiple of the unit. A dynamic VHD shows what else can happen: each of
//! its blocks of 2 MiB stands behind a bitmap of 512 bytes, so that the difference grows by 512
//! with each block and seven of eight blocks are off a unit of 4096 bytes, wherever the guest's
//! partitions start.

use std::collections::BTreeMap;

use device::{Disk, ReadError};
use units::{ByteRange, Unit};

use super::walk::{TABLE_BYTES_MAX, Walked, Walker};
use super::{GuestPlace, Image, ImageLayout};

/// Number of different shifts told apart.
pub const SHIFTS_MAX: usize = 4096;

/// Number of guest bytes shifted by how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shifts {
    /// Bytes in the image file by their shift: place in the file minus guest address, modulo the
    /// unit.
    pub here: BTreeMap<u64, u64>,
    /// Bytes in references by the reference's number and their shift in it.
    pub references: BTreeMap<(usize, u64), u64>,
    /// Bytes whose shift is one more than the [`SHIFTS_MAX`] that are told apart.
    pub other_bytes: u64,
    /// Compressed bytes, in the guest's count: they have no alignment.
    pub compressed_bytes: u64,
    /// Bytes that read as zeros because a table says so.
    pub zero_bytes: u64,
    /// Bytes that are not in this image.
    pub backing_bytes: u64,
    /// Bytes whose place could not be told.
    pub unknown_bytes: u64,
    /// Why not, for the first of them.
    pub first_error: Option<ReadError>,
    /// End of the count: all numbers are of the bytes before this.
    pub walked: Walked,
}

impl Image {
    /// Returns how many bytes of `range`, cut to the guest's size, are shifted by how much modulo
    /// the length of `unit`. Reads every table of the range, up to
    /// [`super::walk::TABLE_BYTES_MAX`]; whether that was enough stands in [`Shifts::walked`].
    /// Bytes whose place cannot be told are counted as such.
    #[must_use]
    pub fn shifts(&self, file: &dyn Disk, range: ByteRange, unit: Unit) -> Shifts {
        self.shifts_within(file, range, unit, TABLE_BYTES_MAX)
    }

    /// Same as [`Image::shifts`], with at most `table_bytes_max` of table entries looked at.
    #[must_use]
    pub fn shifts_within(
        &self,
        file: &dyn Disk,
        range: ByteRange,
        unit: Unit,
        table_bytes_max: u64,
    ) -> Shifts {
        let mut walker = Walker::new(self, file, range, table_bytes_max.min(TABLE_BYTES_MAX));
        let mut shifts = Shifts {
            here: BTreeMap::new(),
            references: BTreeMap::new(),
            other_bytes: 0,
            compressed_bytes: 0,
            zero_bytes: 0,
            backing_bytes: 0,
            unknown_bytes: 0,
            first_error: None,
            walked: walker.walked(),
        };
        while let Some((guest, run)) = walker.next() {
            match run.place {
                Ok(place) => shifts.count(guest, place, unit.length_bytes()),
                Err(error) => {
                    shifts.unknown_bytes += guest.length_bytes();
                    shifts.first_error.get_or_insert(error);
                }
            }
        }
        shifts.walked = walker.walked();
        shifts
    }

    /// The shift that every byte in the image file has modulo the length of `unit`, where the
    /// format alone decides that and no table need be read; `None` where tables decide.
    #[must_use]
    pub fn constant_shift(&self, unit: Unit) -> Option<u64> {
        let unit_bytes = unit.length_bytes();
        // Blocks at multiples of `step` from `start`: shifted by `start` when the unit divides both
        // the step and the guest's block.
        let (start, step, block) = match &self.layout {
            ImageLayout::Flat { offset_bytes } => return Some(offset_bytes % unit_bytes),
            ImageLayout::Qcow2(tables) => (0, 1 << tables.cluster_bits, 1 << tables.cluster_bits),
            ImageLayout::Vhdx(tables) => (0, 1 << 20, tables.block_bytes),
            ImageLayout::Vdi(tables) => (
                tables.data_bytes + tables.extra_bytes,
                tables.block_bytes + tables.extra_bytes,
                tables.block_bytes,
            ),
            ImageLayout::Vhd(_)
            | ImageLayout::Vmdk(_)
            | ImageLayout::VmdkExtents(_)
            | ImageLayout::Unknown(_) => {
                return None;
            }
        };
        (step % unit_bytes == 0 && block % unit_bytes == 0).then_some(start % unit_bytes)
    }
}

/// Bytes behind the last block of a VHD, which move when one is added.
const VHD_FOOTER_BYTES: u64 = 512;
/// At multiples of this each block starts where the writer of a VHD takes care.
const ALIGNED_VHD_BYTES: u64 = 4096;

impl Image {
    /// The shifts, modulo the length of `unit`, that bytes of `range` get when they are written,
    /// each with how many bytes: none of them is allocated yet. Empty where the format does not
    /// decide that. The file has `file_bytes` bytes.
    ///
    /// Source: QEMU `block/vmdk.c` (grains are added at multiples of their length) and
    /// `block/vpc.c` (`alloc_block`: a bitmap takes the footer's place, then the block).
    #[must_use]
    pub fn new_shifts(&self, file_bytes: u64, range: ByteRange, unit: Unit) -> BTreeMap<u64, u64> {
        let unit_bytes = unit.length_bytes();
        let bytes = range.length_bytes();
        let mut found: BTreeMap<u64, u64> = BTreeMap::new();
        match &self.layout {
            ImageLayout::Vmdk(tables) if tables.grain_bytes % unit_bytes == 0 => {
                found.insert(0, bytes);
            }
            ImageLayout::Vhd(tables)
                if tables.keeps_4k && ALIGNED_VHD_BYTES.is_multiple_of(unit_bytes) =>
            {
                found.insert(0, bytes);
            }
            ImageLayout::Vhd(tables)
                if !tables.keeps_4k && tables.block_bytes.is_multiple_of(unit_bytes) =>
            {
                let end = file_bytes.saturating_sub(VHD_FOOTER_BYTES);
                let mut shift = end.saturating_add(tables.bitmap_bytes) % unit_bytes;
                let blocks = bytes.div_ceil(tables.block_bytes.max(1));
                for _ in 0..blocks {
                    let is_told = found.contains_key(&shift);
                    if is_told || found.len() >= SHIFTS_MAX {
                        break;
                    }
                    found.insert(shift, 0);
                    shift = (shift + tables.bitmap_bytes % unit_bytes) % unit_bytes;
                }
                let each = bytes / u64::try_from(found.len()).unwrap_or(1).max(1);
                found.values_mut().for_each(|share| *share = each);
            }
            _ => {}
        }
        found
    }
}

impl Shifts {
    fn count(&mut self, guest: ByteRange, place: GuestPlace, unit_bytes: u64) {
        let length = guest.length_bytes();
        let known = self.here.len() + self.references.len();
        let counter = match place {
            GuestPlace::Here(offset) => {
                let shift = shift(offset, guest.start_bytes(), unit_bytes);
                counter(&mut self.here, shift, known)
            }
            GuestPlace::In(reference, offset) => {
                let shift = shift(offset, guest.start_bytes(), unit_bytes);
                counter(&mut self.references, (reference, shift), known)
            }
            GuestPlace::Compressed(_) => Some(&mut self.compressed_bytes),
            GuestPlace::Zero => Some(&mut self.zero_bytes),
            GuestPlace::Backing => Some(&mut self.backing_bytes),
        };
        // Runs do not overlap, so no sum exceeds the guest's size.
        *counter.unwrap_or(&mut self.other_bytes) += length;
    }
}

/// The counter for `key`; `None` when it would be one too many.
fn counter<K: Ord>(counters: &mut BTreeMap<K, u64>, key: K, known: usize) -> Option<&mut u64> {
    if known >= SHIFTS_MAX && !counters.contains_key(&key) {
        return None;
    }
    Some(counters.entry(key).or_default())
}

/// Returns how far `offset` is behind `guest`, modulo `unit_bytes`.
fn shift(offset: u64, guest: u64, unit_bytes: u64) -> u64 {
    let (offset, guest) = (offset % unit_bytes, guest % unit_bytes);
    if offset >= guest { offset - guest } else { unit_bytes - (guest - offset) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_never_negative_and_below_the_unit() {
        assert_eq!(shift(512, 0, 4096), 512);
        assert_eq!(shift(0, 512, 4096), 3584);
        assert_eq!(shift(u64::MAX, u64::MAX - 1, u64::MAX), 1);
    }

    #[test]
    fn no_more_shifts_are_told_apart_than_there_is_room_for() {
        let mut counters: BTreeMap<u64, u64> = (0..10).map(|key| (key, 1)).collect();
        assert!(counter(&mut counters, 11, SHIFTS_MAX).is_none());
        assert!(counter(&mut counters, 9, SHIFTS_MAX).is_some());
        assert!(counter(&mut counters, 11, SHIFTS_MAX - 1).is_some());
    }
}
