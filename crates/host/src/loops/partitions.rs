//! Partitions of a loop device, added and removed one by one: not every kernel reads partition
//! tables by itself.
//!
//! Source: Linux `include/uapi/linux/blkpg.h`.

use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::io::Errno;
use rustix::ioctl::{self, Opcode};
use units::ByteRange;

use super::attach::LoopDevice;
use crate::passthrough::StructIoctl;

const BLKPG: Opcode = 0x1269;
const ADD: i32 = 1;
const DELETE: i32 = 2;

/// `struct blkpg_partition`.
#[repr(C)]
struct PartitionWords {
    start: i64,
    length: i64,
    number: i32,
    names: [u8; 128],
}

/// `struct blkpg_ioctl_arg`.
#[repr(C)]
struct Asked<'a> {
    operation: i32,
    flags: i32,
    length: i32,
    data: &'a mut PartitionWords,
}

const _: () = {
    assert!(size_of::<PartitionWords>() == 152);
    assert!(std::mem::offset_of!(Asked<'_>, data) == 16 || size_of::<usize>() == 4);
};

impl LoopDevice {
    /// Tells the kernel of a partition, whose node is the device's with `p` and `number`.
    ///
    /// # Errors
    /// When it reaches past the device, overlaps another, or has a number that is taken.
    pub fn add_partition(&self, number: u32, range: ByteRange) -> std::io::Result<()> {
        Ok(asked(self.fd(), ADD, number, Some(range))?)
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
            let _ = asked(device.as_fd(), DELETE, partition, None);
        }
    }
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel reads")]
fn asked(
    device: BorrowedFd<'_>,
    operation: i32,
    number: u32,
    range: Option<ByteRange>,
) -> Result<(), Errno> {
    let signed = |bytes: u64| i64::try_from(bytes).map_err(|_| Errno::OVERFLOW);
    let mut words = PartitionWords {
        start: signed(range.map_or(0, |range| range.start_bytes()))?,
        length: signed(range.map_or(0, |range| range.length_bytes()))?,
        number: i32::try_from(number).map_err(|_| Errno::OVERFLOW)?,
        names: [0; 128],
    };
    let length = i32::try_from(size_of::<PartitionWords>()).map_err(|_| Errno::OVERFLOW)?;
    let mut asked = Asked { operation, flags: 0, length, data: &mut words };
    // SAFETY: blkpg.h defines the argument as a struct blkpg_ioctl_arg, whose layout Asked has; its
    // data is a struct blkpg_partition, of the length in it; the kernel copies both
    // (block/ioctl.c, blkpg_ioctl).
    unsafe { ioctl::ioctl(device, StructIoctl::<BLKPG, Asked<'_>>(&mut asked)) }.map(drop)
}
