//! The writes by which a FAT becomes the rebuilt one in place.

use device::{Disk, disk};

use units::ByteRange;

use super::RebuiltFat;
use crate::table_change::TableWrite;

/// Bytes that are compared at once.
const BLOCK_BYTES: u64 = 4096;
/// The longest single write, in bytes.
const WRITE_BYTES_MAX: usize = 8 << 20;

impl RebuiltFat {
    /// Runs of the disk of which this is made, where the old volume starts at byte `start_bytes`:
    /// while one of them changes, the writes are not those of the files. Contents that stay in
    /// their place are not among them.
    #[must_use]
    pub fn sources(&self, start_bytes: u64) -> Vec<ByteRange> {
        let on_disk = |run: &ByteRange| {
            let start = start_bytes.checked_add(run.start_bytes())?;
            ByteRange::new(start, run.length_bytes())
        };
        self.sources.iter().filter_map(on_disk).collect()
    }

    /// The writes that make this of `old`, the volume that starts at byte `start_bytes` of the
    /// disk: where they differ, the boot sector last and alone. Each is called `what`.
    ///
    /// # Errors
    /// When they are longer than `most_bytes`, or a volume cannot be read.
    pub fn writes(
        &self,
        old: &dyn Disk,
        start_bytes: u64,
        what: &str,
        most_bytes: u64,
    ) -> Result<Vec<TableWrite>, String> {
        let mut writes: Vec<TableWrite> = Vec::new();
        let (mut at, mut left) = (0, most_bytes);
        for part in self.ranges() {
            // A block may hold the end of one part and the start of the next.
            at = at.max(part.start_bytes().div_euclid(BLOCK_BYTES) * BLOCK_BYTES);
            let end = part.end_bytes().next_multiple_of(BLOCK_BYTES).min(self.length_bytes());
            while at < end {
                let length =
                    if at == 0 { self.sector_bytes } else { BLOCK_BYTES - at % BLOCK_BYTES };
                let length = length.min(end - at);
                let read = |from: &dyn Disk| {
                    disk::read_vec(from, at, length).map_err(|error| error.to_string())
                };
                let (was, new) = (read(old)?, read(self)?);
                if was != new {
                    let over = || format!("its FAT holds more than {} MiB", most_bytes >> 20);
                    left = left.checked_sub(length).ok_or_else(over)?;
                    let at_bytes = start_bytes + at;
                    let write = TableWrite { what: what.to_owned(), at_bytes, old: was, new };
                    push(&mut writes, write, start_bytes);
                }
                at += length;
            }
        }
        writes.reverse();
        Ok(writes)
    }
}

/// Adds a write, to the last one where it goes on there and that is not the boot sector, which is
/// at byte `boot_at`.
fn push(writes: &mut Vec<TableWrite>, write: TableWrite, boot_at: u64) {
    if let Some(last) = writes.last_mut()
        && last.at_bytes != boot_at
        && last.at_bytes + disk::length_of(&last.new) == write.at_bytes
        && last.new.len() < WRITE_BYTES_MAX
    {
        last.old.extend(write.old);
        last.new.extend(write.new);
        return;
    }
    writes.push(write);
}
