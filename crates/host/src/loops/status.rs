//! Answers of the kernel about a loop device, and the structures that it is told with.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{self, Getter, Opcode};

use crate::PathIdentity;

/// A number without direction and size, as all of the driver's are.
const LOOP_GET_STATUS64: Opcode = 0x4c05;
/// Source: Linux `include/uapi/linux/major.h`.
const LOOP_MAJOR: u32 = 7;

/// Nothing may be written through the device.
pub(crate) const READ_ONLY: u32 = 1;
/// The device lets go of its file when it is closed for the last time.
pub(crate) const AUTOCLEAR: u32 = 4;
/// The kernel looks for partitions.
pub(crate) const PARTITIONS: u32 = 8;
/// The file is read and written past the page cache.
pub(crate) const DIRECT_IO: u32 = 16;

/// The file behind a loop device: the device number of its file system, and its inode there. The
/// path that sysfs shows may name another file, where the loop was set up in another mount
/// namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopFile {
    /// Major and minor, as statx(2) gives them.
    pub device: (u32, u32),
    /// The inode.
    pub inode: u64,
}

/// `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopStatus {
    /// `lo_device`: the device number of the file's file system.
    pub(crate) device: u64,
    /// `lo_inode`.
    pub(crate) inode: u64,
    /// `lo_rdevice`: which device the file is, where it is a device itself.
    pub(crate) rdevice: u64,
    /// `lo_offset`, in bytes.
    pub(crate) offset_bytes: u64,
    /// `lo_sizelimit`, in bytes; 0 for all that is there.
    pub(crate) limit_bytes: u64,
    /// `lo_number`.
    pub(crate) number: u32,
    /// `lo_encrypt_type` and `lo_encrypt_key_size`, which are ignored.
    pub(crate) encryption: [u32; 2],
    /// `lo_flags`.
    pub(crate) flags: u32,
    /// `lo_file_name`: for people only.
    pub(crate) name: [u8; 64],
    /// `lo_crypt_name` and `lo_encrypt_key`, which are ignored.
    pub(crate) key: [u8; 96],
    /// `lo_init`, which is ignored.
    pub(crate) init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopConfig {
    /// `fd`: the file.
    pub(crate) file: u32,
    /// `block_size`: the logical sector in bytes; 0 as the kernel likes.
    pub(crate) sector_bytes: u32,
    pub(crate) status: LoopStatus,
    /// `__reserved`, which has to be zero.
    pub(crate) reserved: [u64; 8],
}

impl LoopStatus {
    /// A status to ask for a device with.
    pub(crate) fn wanted(offset_bytes: u64, limit_bytes: u64, flags: u32) -> LoopStatus {
        LoopStatus {
            device: 0,
            inode: 0,
            rdevice: 0,
            offset_bytes,
            limit_bytes,
            number: 0,
            encryption: [0; 2],
            flags,
            name: [0; 64],
            key: [0; 96],
            init: [0; 2],
        }
    }

    /// Returns the identity of the file, or the device, that the device shows.
    pub(crate) fn identity(&self) -> PathIdentity {
        if self.rdevice != 0 {
            let (major, minor) = numbers(self.rdevice);
            return PathIdentity::Block { major, minor };
        }
        let (major, minor) = numbers(self.device);
        PathIdentity::File { device: rustix::fs::makedev(major, minor), inode: self.inode }
    }

    /// The file behind the device.
    pub(crate) fn file(&self) -> LoopFile {
        LoopFile { device: numbers(self.device), inode: self.inode }
    }
}

fn numbers(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// Asks the kernel about the loop device at `node`.
///
/// # Errors
/// When the device may not be opened for reading, or is no loop device in use.
pub(crate) fn status(node: &Path) -> io::Result<LoopStatus> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(node, flags, Mode::empty())?;
    // Another driver may mean something else by the number.
    let stat = rustix::fs::fstat(&file)?;
    if rustix::fs::major(stat.st_rdev) != LOOP_MAJOR {
        return Err(io::Error::other("it is no loop device"));
    }
    Ok(status_of(std::os::fd::AsFd::as_fd(&file))?)
}

/// Same as [`status`], of a loop device that is open. The caller knows that it is one.
#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
pub(crate) fn status_of(device: BorrowedFd<'_>) -> Result<LoopStatus, Errno> {
    // SAFETY: loop.h defines the argument as a struct loop_info64 of 232 bytes, whose layout
    // LoopStatus has; the driver of major 7, which `device` is, fills it, and any bits are valid.
    unsafe { ioctl::ioctl(device, Getter::<LOOP_GET_STATUS64, LoopStatus>::new()) }
}

const _: () = {
    assert!(size_of::<LoopStatus>() == 232);
    assert!(std::mem::offset_of!(LoopStatus, flags) == 52);
    assert!(std::mem::offset_of!(LoopStatus, name) == 56);
    assert!(std::mem::offset_of!(LoopStatus, init) == 216);
    assert!(size_of::<LoopConfig>() == 304);
    assert!(std::mem::offset_of!(LoopConfig, status) == 8);
    assert!(std::mem::offset_of!(LoopConfig, reserved) == 240);
};

/// The file behind the loop device at `node`.
///
/// # Errors
/// When the device may not be opened for reading, or is no loop device in use.
pub fn loop_file(node: &Path) -> io::Result<LoopFile> {
    Ok(status(node)?.file())
}
