//! The write of a table, and how it ends early: the disk, or straddle itself, failed.

use device::WritableDisk;
use layout::{Side, TableChange, WriteFault, write_table};

use crate::shared::bug;

/// Hint where a table is half written.
const RESUMES: &str = "one copy of a table is whole; the same command goes on, and apply --undo \
    writes the old table back";

/// Why only part of a table was written, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HalfWritten {
    pub(super) reason: String,
    pub(super) hint: String,
}

/// Writes table `side` of `change` on `disk`, and returns the bytes that were written.
///
/// # Errors
/// When the disk fails or the write panics; the same may be tried again.
pub(super) fn written(
    change: &TableChange,
    disk: &mut impl WritableDisk,
    side: Side,
) -> Result<u64, HalfWritten> {
    match bug::caught(|| write_table(change, disk, side)) {
        Ok(written) => written.map_err(|fault| stopped(&fault)),
        Err(bug) => {
            let hint = format!("{RESUMES}; {}", bug::HINT);
            Err(HalfWritten { reason: bug.to_string(), hint })
        }
    }
}

fn stopped(fault: &WriteFault) -> HalfWritten {
    let what = if fault.what.is_empty() { "the first flush" } else { fault.what.as_str() };
    let reason = format!("stopped at the {what}: {}", fault.reason);
    HalfWritten { reason, hint: RESUMES.to_owned() }
}

#[cfg(test)]
mod tests {
    use device::{Disk, MemoryDisk, ReadError, disk};
    use layout::TableWrite;

    use super::*;

    /// A disk that panics at its next write or flush but so many.
    struct Panicking {
        below: MemoryDisk,
        calls_left: usize,
    }

    impl Panicking {
        fn step(&mut self) {
            self.calls_left = self.calls_left.checked_sub(1).expect("a test's panic");
        }
    }

    impl Disk for Panicking {
        fn length_bytes(&self) -> u64 {
            self.below.length_bytes()
        }

        fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
            self.below.read_at(offset_bytes, buffer)
        }
    }

    impl WritableDisk for Panicking {
        fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), String> {
            self.step();
            self.below.put(offset_bytes, bytes);
            Ok(())
        }

        fn flush(&mut self) -> Result<(), String> {
            self.step();
            Ok(())
        }
    }

    #[test]
    fn a_write_that_panics_anywhere_can_be_resumed_by_the_same_write() {
        let write = |what: &str, at_bytes| TableWrite {
            what: what.to_owned(),
            at_bytes,
            old: vec![0; 512],
            new: vec![1; 512],
        };
        let change = TableChange {
            disk_bytes: 1 << 20,
            old_sector_bytes: 512,
            new_sector_bytes: 512,
            known: Vec::new(),
            writes: vec![write("backup", 4096), write("primary", 512), write("first sector", 0)],
            rebuilt: Vec::new(),
        };
        // A flush, then a write and a flush three times.
        for calls in 0..7 {
            let mut target = Panicking { below: MemoryDisk::new(1 << 20), calls_left: calls };
            let ended = written(&change, &mut target, Side::New).expect_err("it panics");
            assert!(ended.reason.starts_with("a bug in straddle: a test's panic"), "{ended:?}");
            assert!(ended.hint.starts_with(RESUMES) && ended.hint.ends_with(bug::HINT));
            target.calls_left = usize::MAX;
            written(&change, &mut target, Side::New).expect("it is resumed");
            for write in &change.writes {
                let now = disk::read_vec(&target, write.at_bytes, 512).expect("it is read");
                assert_eq!(now, write.new, "{calls} calls, {}", write.what);
            }
        }
        let mut target = Panicking { below: MemoryDisk::new(1 << 20), calls_left: 7 };
        assert_eq!(written(&change, &mut target, Side::New), Ok(3 * 512));
    }
}
