//! The writes by which a FAT becomes the rebuilt one in place.

use device::{Disk, disk};

use super::RebuiltFat;
use crate::table_change::TableWrite;

/// Bytes that are compared at once.
const BLOCK_BYTES: u64 = 4096;
/// The longest single write, in bytes.
const WRITE_BYTES_MAX: usize = 8 << 20;

impl RebuiltFat {
    /// The writes that make this of `old`, the volume that starts at byte `start_bytes` of the
    /// disk: where they differ, the boot sector last. Each is called `what`.
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
                let length = BLOCK_BYTES.min(end - at);
                let read = |from: &dyn Disk| {
                    disk::read_vec(from, at, length).map_err(|error| error.to_string())
                };
                let (was, new) = (read(old)?, read(self)?);
                if was != new {
                    let over = || format!("its FAT holds more than {} MiB", most_bytes >> 20);
                    left = left.checked_sub(length).ok_or_else(over)?;
                    let at_bytes = start_bytes + at;
                    push(
                        &mut writes,
                        TableWrite { what: what.to_owned(), at_bytes, old: was, new },
                    );
                }
                at += length;
            }
        }
        writes.reverse();
        Ok(writes)
    }
}

/// Adds a write, to the last one where it goes on there.
fn push(writes: &mut Vec<TableWrite>, write: TableWrite) {
    if let Some(last) = writes.last_mut()
        && last.at_bytes + disk::length_of(&last.new) == write.at_bytes
        && last.new.len() < WRITE_BYTES_MAX
    {
        last.old.extend(write.old);
        last.new.extend(write.new);
        return;
    }
    writes.push(write);
}
