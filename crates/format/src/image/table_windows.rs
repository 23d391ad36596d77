//! Tables of an image, read through a few bounded windows.
//!
//! A table may be as large as the file; only the pieces around the entries last asked for are held,
//! one piece per level, so that walking a disk reads each table once and takes a few MiB at most.

use device::{Disk, ReadError, disk};
use units::ByteRange;

/// A window that holds no more than the entry asked for.
pub(super) const ENTRY_BYTES: u64 = 16;
/// A window for a reader that jumps about.
pub(super) const SEEK_BYTES: u64 = 64 << 10;
/// A window for a reader that walks from end to end.
pub(super) const WALK_BYTES: u64 = 1 << 20;
/// Cost of an entry that cannot be used: describing the trouble takes longer than reading
/// it.
const TROUBLE_BYTES: u64 = 256;

/// Number of equal entries in a row that count for one: they are only compared.
const REPEATS_PER_ENTRY: u64 = 8;

/// One of an image's tables; each has a window of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// The table of tables (L1, grain directory), or the only one (BAT, block map).
    Directory,
    /// The table that names data (L2, grain table).
    Table,
    /// The bits of single sectors.
    Bitmap,
}

/// The order of bits in a byte of a sector bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BitOrder {
    /// The first sector is the most significant bit (VHD).
    HighFirst,
    /// The first sector is the least significant bit (VHDX).
    LowFirst,
}

/// The windows.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    window_bytes: u64,
    held: [HeldTable; 3],
    examined_bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct HeldTable {
    start_bytes: u64,
    bytes: Vec<u8>,
}

impl Windows {
    /// Empty windows of at most `window_bytes` each.
    pub(super) fn new(window_bytes: u64) -> Windows {
        let held = [HeldTable::default(), HeldTable::default(), HeldTable::default()];
        Windows {
            window_bytes: window_bytes.clamp(ENTRY_BYTES, WALK_BYTES),
            held,
            examined_bytes: 0,
        }
    }

    /// Counts the work that an entry makes which cannot be used.
    pub(super) fn charge_trouble(&mut self) {
        self.examined_bytes = self.examined_bytes.saturating_add(TROUBLE_BYTES);
    }

    /// Returns how many bytes of table entries were looked at so far, those that were held
    /// included: a measure of the work done, however the tables are arranged.
    pub(super) fn examined_bytes(&self) -> u64 {
        self.examined_bytes
    }

    /// The `N` bytes (at most 16, a power of two) of entry number `index` of `table`.
    ///
    /// # Errors
    /// When the entry lies behind the table or the file, or cannot be read.
    pub(super) fn entry<const N: usize>(
        &mut self,
        file: &dyn Disk,
        level: Level,
        table: ByteRange,
        index: u64,
    ) -> Result<[u8; N], ReadError> {
        let size = size_of_array::<N>();
        self.examined_bytes = self.examined_bytes.saturating_add(size);
        let at = self.hold(file, level, table, index.saturating_mul(size), size)?;
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.held[level as usize].bytes[at..at + N]);
        Ok(bytes)
    }

    /// Returns how many entries that follow number `index` of `table` equal it, as far as the
    /// window shows that the last call of [`Windows::entry`] left.
    pub(super) fn repeats<const N: usize>(
        &mut self,
        level: Level,
        table: ByteRange,
        index: u64,
    ) -> u64 {
        let size = size_of_array::<N>();
        let held = &self.held[level as usize];
        let entries = table
            .start_bytes()
            .checked_add(index.saturating_mul(size))
            .and_then(|address| address.checked_sub(held.start_bytes))
            .and_then(|at| {
                // The window may go on behind the table.
                let end = table.end_bytes().saturating_sub(held.start_bytes);
                let end = usize::try_from(end).ok()?.min(held.bytes.len());
                held.bytes.get(usize::try_from(at).ok()?..end)
            })
            .unwrap_or_default();
        let (first, _) = entries.as_chunks::<N>();
        let count = first.iter().take_while(|&entry| Some(entry) == first.first()).count();
        let more = u64::try_from(count).unwrap_or(1).saturating_sub(1);
        let looked_at = (more * size).div_euclid(REPEATS_PER_ENTRY);
        self.examined_bytes = self.examined_bytes.saturating_add(looked_at);
        more
    }

    /// The bit number `index` of the bitmap `table`, and how many bits from it on are the same, as
    /// far as the window shows; at most `most`.
    ///
    /// # Errors
    /// Same as [`Windows::entry`].
    pub(super) fn bits(
        &mut self,
        file: &dyn Disk,
        table: ByteRange,
        index: u64,
        most: u64,
        order: BitOrder,
    ) -> Result<(bool, u64), ReadError> {
        let at = self.hold(file, Level::Bitmap, table, index / 8, 1)?;
        let bytes = &self.held[Level::Bitmap as usize].bytes[at..];
        let bit = |number: u64| -> Option<bool> {
            let byte = bytes.get(usize::try_from(number / 8).ok()?)?;
            let shift = if order == BitOrder::HighFirst { 7 - number % 8 } else { number % 8 };
            Some(byte >> shift & 1 == 1)
        };
        let first = index % 8;
        let value = bit(first).unwrap_or_default();
        let mut count = 1;
        while count < most && bit(first + count) == Some(value) {
            count += 1;
        }
        self.examined_bytes = self.examined_bytes.saturating_add(count.div_ceil(8).max(8));
        Ok((value, count))
    }

    /// Holds the piece of `table` around the `size` bytes at `at`; where in the window they start.
    fn hold(
        &mut self,
        file: &dyn Disk,
        level: Level,
        table: ByteRange,
        at: u64,
        size: u64,
    ) -> Result<usize, ReadError> {
        disk::check_bounds(table.length_bytes(), at, size).map_err(|_| ReadError::Failed {
            offset_bytes: table.start_bytes().saturating_add(at),
            length_bytes: size,
            reason: format!("the entry lies past its table of {} bytes", table.length_bytes()),
        })?;
        // Within the table, whose end does not overflow.
        let address = table.start_bytes() + at;
        disk::check_bounds(file.length_bytes(), address, size)?;
        let held = &mut self.held[level as usize];
        if let Some(within) = held.within(address, size) {
            return Ok(within);
        }
        let start = table.start_bytes() + at - at % self.window_bytes;
        let here = table.end_bytes().min(file.length_bytes()) - start;
        // Tables that follow each other in the file are read ahead, twice as far each time.
        let last = disk::length_of(&held.bytes);
        let ahead = if held.start_bytes.checked_add(last) == Some(start) { last * 2 } else { 0 };
        let length = here.max(ahead).min(self.window_bytes).min(file.length_bytes() - start);
        // Taken first, so that a failed read leaves nothing that looks read.
        let mut bytes = std::mem::take(held).bytes;
        bytes.resize(usize::try_from(length).unwrap_or(0), 0);
        file.read_at(start, &mut bytes)?;
        *held = HeldTable { start_bytes: start, bytes };
        held.within(address, size).ok_or(ReadError::PastEnd {
            offset_bytes: address,
            length_bytes: size,
            disk_bytes: file.length_bytes(),
        })
    }
}

impl HeldTable {
    /// Returns where the `size` bytes at `address` of the file stand in the window, when all of
    /// them do.
    fn within(&self, address: u64, size: u64) -> Option<usize> {
        let at = address.checked_sub(self.start_bytes)?;
        let end = usize::try_from(at.checked_add(size)?).ok()?;
        (end <= self.bytes.len()).then(|| usize::try_from(at).ok()).flatten()
    }
}

fn size_of_array<const N: usize>() -> u64 {
    const { assert!(N.is_power_of_two() && N <= 16, "a window holds whole entries") };
    u64::try_from(N).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(length: u64) -> (Vec<u8>, ByteRange) {
        let file: Vec<u8> = (0..=255).cycle().take(4096).collect();
        (file, ByteRange::new(16, length).unwrap())
    }

    #[test]
    fn an_entry_is_the_same_through_every_window() {
        let (file, range) = table(4000);
        for window in [ENTRY_BYTES, 64, WALK_BYTES] {
            let mut windows = Windows::new(window);
            for index in [0, 1, 499, 3] {
                let entry = windows.entry::<8>(&file, Level::Table, range, index).unwrap();
                assert_eq!(entry[0], (16 + index * 8).to_le_bytes()[0]);
            }
            assert!(windows.entry::<8>(&file, Level::Table, range, 500).is_err());
            assert!(windows.entry::<8>(&file, Level::Table, range, u64::MAX).is_err());
        }
    }

    #[test]
    fn entries_before_the_end_of_a_cut_file_are_read_and_those_behind_are_not() {
        let (file, range) = table(1 << 40);
        let mut windows = Windows::new(SEEK_BYTES);
        assert!(windows.entry::<8>(&file, Level::Directory, range, 509).is_ok());
        assert!(windows.entry::<8>(&file, Level::Directory, range, 510).is_err());
    }

    #[test]
    fn equal_entries_and_equal_bits_are_counted() {
        let file = vec![0, 0, 0, 0, 0, 0, 0, 0, 0b1110_0000, 0xff];
        let range = ByteRange::new(0, 10).unwrap();
        let mut windows = Windows::new(SEEK_BYTES);
        windows.entry::<2>(&file, Level::Table, range, 1).unwrap();
        assert_eq!(windows.repeats::<2>(Level::Table, range, 1), 2);
        let bits = |windows: &mut Windows, order| windows.bits(&file, range, 64, 9, order).unwrap();
        assert_eq!(bits(&mut windows, BitOrder::HighFirst), (true, 3));
        assert_eq!(bits(&mut windows, BitOrder::LowFirst), (false, 5));
    }
}
