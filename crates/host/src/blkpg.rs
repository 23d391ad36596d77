//! Partitions that the kernel shows of a disk, changed one by one.
//!
//! `BLKRRPART` would read the table again, which not every kernel can, and refuses as a whole where
//! one partition is in use.
//!
//! Source: Linux `include/uapi/linux/blkpg.h`, `block/ioctl.c` (`blkpg_do_ioctl`).

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::ioctl::{self, Opcode};

use crate::passthrough::StructIoctl;

/// `_IO(0x12, 105)`.
const BLKPG: Opcode = 0x1269;

/// The change of one partition, by its operation in blkpg.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add = 1,
    Delete = 2,
    Resize = 3,
}

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

/// Asks the kernel to change partition `number` of `device`, of so many bytes from `start_bytes`;
/// to delete one, it looks at the number alone.
///
/// # Errors
/// When it reaches past the device, overlaps another, has a number that is taken, or is in use.
#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel reads")]
pub(crate) fn ask(
    device: BorrowedFd<'_>,
    change: Change,
    number: u32,
    [start_bytes, length_bytes]: [u64; 2],
) -> Result<(), Errno> {
    let signed = |bytes: u64| i64::try_from(bytes).map_err(|_| Errno::OVERFLOW);
    let mut words = PartitionWords {
        start: signed(start_bytes)?,
        length: signed(length_bytes)?,
        number: i32::try_from(number).map_err(|_| Errno::OVERFLOW)?,
        names: [0; 128],
    };
    let length = i32::try_from(size_of::<PartitionWords>()).map_err(|_| Errno::OVERFLOW)?;
    let mut asked = Asked { operation: change as i32, flags: 0, length, data: &mut words };
    // SAFETY: blkpg.h defines the argument as a struct blkpg_ioctl_arg, whose layout Asked has; its
    // data is a struct blkpg_partition, of the length in it; the kernel copies both
    // (block/ioctl.c, blkpg_ioctl).
    unsafe { ioctl::ioctl(device, StructIoctl::<BLKPG, Asked<'_>>(&mut asked)) }.map(drop)
}
