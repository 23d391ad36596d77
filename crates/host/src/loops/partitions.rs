//! Partitions of a loop device, added and removed one by one: not every kernel reads partition
//! tables by itself.

use std::os::fd::BorrowedFd;

use units::ByteRange;

use super::attach::LoopDevice;
use crate::blkpg::{self, Change};

impl LoopDevice {
    /// Tells the kernel of a partition, whose node is the device's with `p` and `number`.
    ///
    /// # Errors
    /// When it reaches past the device, overlaps another, or has a number that is taken.
    pub fn add_partition(&self, number: u32, range: ByteRange) -> std::io::Result<()> {
        let place = [range.start_bytes(), range.length_bytes()];
        Ok(blkpg::ask(self.fd(), Change::Add, number, place)?)
    }

    /// Makes the kernel forget every partition that nobody uses. They would outlive the file.
    pub fn forget_partitions(&self) {
        forget_partitions(self.fd(), self.number());
    }
}

/// Makes the kernel forget the partitions of loop device `number`, which is open as `device`.
pub(super) fn forget_partitions(device: BorrowedFd<'_>, number: u32) {
    let Ok(entries) = std::fs::read_dir(format!("/sys/block/loop{number}")) else { return };
    for entry in entries.flatten() {
        let told = std::fs::read_to_string(entry.path().join("partition"));
        if let Some(partition) = told.ok().and_then(|text| text.trim().parse().ok()) {
            // One that is in use stays until its user goes.
            let _ = blkpg::ask(device, Change::Delete, partition, [0, 0]);
        }
    }
}
