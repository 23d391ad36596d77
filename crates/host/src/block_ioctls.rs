//! Answers of the kernel about a block device, by ioctl.
//!
//! Source: Linux `include/uapi/linux/fs.h`, `block/ioctl.c`.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::ioctl::{self, Getter, Opcode};
use units::{Known, Source};

/// `_IO(0x12, 94)`: an int.
const BLKROGET: Opcode = ioctl::opcode::none(0x12, 94);
/// `_IO(0x12, 104)`: an int.
const BLKSSZGET: Opcode = ioctl::opcode::none(0x12, 104);
/// `_IOR(0x12, 114, size_t)`: 64 bits, whatever a `size_t` is.
const BLKGETSIZE64: Opcode = ioctl::opcode::read::<usize>(0x12, 114);
/// `_IO(0x12, 120)`: an unsigned int.
const BLKIOMIN: Opcode = ioctl::opcode::none(0x12, 120);
/// `_IO(0x12, 121)`: an unsigned int.
const BLKIOOPT: Opcode = ioctl::opcode::none(0x12, 121);
/// `_IO(0x12, 122)`: an int.
const BLKALIGNOFF: Opcode = ioctl::opcode::none(0x12, 122);
/// `_IO(0x12, 123)`: an unsigned int.
const BLKPBSZGET: Opcode = ioctl::opcode::none(0x12, 123);

/// `_IO(0x12, 97)`: writes out and forgets what is kept in memory.
const BLKFLSBUF: Opcode = ioctl::opcode::none(0x12, 97);
/// `_IOR(0x12, 128, __u64)`.
const BLKGETDISKSEQ: Opcode = ioctl::opcode::read::<u64>(0x12, 128);

/// A block device's own account of itself. Each value is as the kernel gave it, plausible or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// The logical sector in bytes.
    #[doc(alias = "BLKSSZGET")]
    pub logical_sector_bytes: Known<u64>,
    /// The physical sector in bytes.
    #[doc(alias = "BLKPBSZGET")]
    pub physical_sector_bytes: Known<u64>,
    /// The smallest preferred write in bytes; the chunk on RAID.
    #[doc(alias = "BLKIOMIN")]
    pub minimum_io_bytes: Known<u64>,
    /// The preferred length of a long write in bytes, the full stripe on RAID; 0 when there is
    /// none.
    #[doc(alias = "BLKIOOPT")]
    pub optimal_io_bytes: Known<u64>,
    /// Number of bytes that lie before the first boundary of a physical sector; -1 when the kernel
    /// found the layers of the device impossible to align.
    #[doc(alias = "BLKALIGNOFF")]
    pub alignment_offset_bytes: Known<i64>,
    /// True if the kernel refuses writes.
    #[doc(alias = "BLKROGET")]
    pub read_only: Known<bool>,
}

impl Inquiry {
    /// Everything that the kernel answers about `device`.
    pub(crate) fn of(device: BorrowedFd<'_>) -> Inquiry {
        Inquiry {
            logical_sector_bytes: bytes("BLKSSZGET", answer::<BLKSSZGET>(device)),
            physical_sector_bytes: bytes("BLKPBSZGET", answer::<BLKPBSZGET>(device)),
            minimum_io_bytes: bytes("BLKIOMIN", answer::<BLKIOMIN>(device)),
            optimal_io_bytes: bytes("BLKIOOPT", answer::<BLKIOOPT>(device)),
            alignment_offset_bytes: known("BLKALIGNOFF", answer::<BLKALIGNOFF>(device), |answer| {
                i64::from(answer.cast_signed())
            }),
            read_only: known("BLKROGET", answer::<BLKROGET>(device), |answer| answer != 0),
        }
    }
}

/// The length of a block device in bytes.
///
/// # Errors
/// When the kernel does not answer.
#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
#[doc(alias = "BLKGETSIZE64")]
pub(crate) fn length_bytes(device: BorrowedFd<'_>) -> Result<u64, Errno> {
    // SAFETY: fs.h says "return device size in bytes (u64 *arg)", and the getter's value is a u64.
    unsafe { ioctl::ioctl(device, Getter::<BLKGETSIZE64, u64>::new()) }
}

/// The number of a disk since the machine was started, which no later disk of the same major and
/// minor has; nor has a loop device once it shows another file.
///
/// # Errors
/// Before Linux 5.15.
#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
#[doc(alias = "BLKGETDISKSEQ")]
pub(crate) fn sequence(device: BorrowedFd<'_>) -> Result<u64, Errno> {
    // SAFETY: block/ioctl.c answers with put_u64, and the getter's value is a u64.
    unsafe { ioctl::ioctl(device, Getter::<BLKGETDISKSEQ, u64>::new()) }
}

/// Forgets what the kernel keeps of a block device in memory, so that what is read next is what is
/// on it.
///
/// # Errors
/// Without the right to (`CAP_SYS_ADMIN`).
#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel does")]
#[doc(alias = "BLKFLSBUF")]
pub(crate) fn forget_cached(device: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: block/ioctl.c takes no argument.
    unsafe { ioctl::ioctl(device, ioctl::NoArg::<BLKFLSBUF>::new()) }
}

/// The 32 bits that the kernel writes for one of the opcodes above, all of which write an int.
#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
fn answer<const OPCODE: Opcode>(device: BorrowedFd<'_>) -> Result<u32, Errno> {
    const {
        assert!(
            matches!(OPCODE, BLKROGET | BLKSSZGET | BLKIOMIN | BLKIOOPT | BLKALIGNOFF | BLKPBSZGET),
            "the opcode writes an int"
        );
    };
    // SAFETY: block/ioctl.c answers each of these with put_int or put_uint, and the getter's value
    // is 32 bits; other opcodes do not compile.
    unsafe { ioctl::ioctl(device, Getter::<OPCODE, u32>::new()) }
}

fn bytes(name: &str, answer: Result<u32, Errno>) -> Known<u64> {
    known(name, answer, u64::from)
}

fn known<T>(name: &str, answer: Result<u32, Errno>, meaning: impl Fn(u32) -> T) -> Known<T> {
    let failed = |error| format!("{name} failed: {}", io::Error::from(error));
    Known::of(answer.map(meaning).map_err(failed), Source::Ioctl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_the_numbers_that_the_kernel_compiles() {
        assert_eq!(BLKROGET, 0x125e);
        assert_eq!(BLKSSZGET, 0x1268);
        assert_eq!(BLKIOMIN, 0x1278);
        assert_eq!(BLKIOOPT, 0x1279);
        assert_eq!(BLKALIGNOFF, 0x127a);
        assert_eq!(BLKPBSZGET, 0x127b);
        if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            assert_eq!(BLKGETSIZE64, 0x8008_1272);
        }
    }

    #[test]
    fn a_device_that_does_not_answer_is_unknown_with_the_reason() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let inquiry = Inquiry::of(std::os::fd::AsFd::as_fd(&file));
        assert_eq!(
            inquiry.alignment_offset_bytes,
            Known::no("BLKALIGNOFF failed: Inappropriate ioctl for device (os error 25)")
        );
        assert_eq!(inquiry.read_only.value(), None);
    }

    #[test]
    fn an_undefined_alignment_is_minus_one() {
        let undefined =
            known("BLKALIGNOFF", Ok(u32::MAX), |answer| i64::from(answer.cast_signed()));
        assert_eq!(undefined, Known::yes(-1, Source::Ioctl));
    }
}
