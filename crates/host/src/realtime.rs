//! The realtime section of an XFS: true for a file in it, or a directory whose new files will be.
//!
//! Source: `struct fsxattr` in Linux `include/uapi/linux/fs.h`, ioctl_xfs_fsgetxattr(2).

use std::io;
use std::path::Path;

use rustix::fd::BorrowedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::ioctl::{self, Getter, Opcode};

const FS_IOC_FSGETXATTR: Opcode = ioctl::opcode::read::<Attributes>(b'X', 31);
/// `FS_XFLAG_REALTIME` of a file, `FS_XFLAG_RTINHERIT` of a directory.
const REALTIME: u32 = 0x1 | 0x100;

/// `struct fsxattr`.
#[repr(C)]
struct Attributes {
    flags: u32,
    rest: [u32; 6],
}

const _: () = assert!(size_of::<Attributes>() == 28, "as the kernel has it");

/// Returns whether the file at `path` is a realtime file, or new files in that directory will be.
///
/// # Errors
/// When it cannot be opened for reading, or its file system has no such attributes.
pub fn is_realtime(path: &Path) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = open(path, flags, Mode::empty())?;
    Ok(attributes(rustix::fd::AsFd::as_fd(&file))?.flags & REALTIME != 0)
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
fn attributes(file: BorrowedFd<'_>) -> io::Result<Attributes> {
    // SAFETY: the call writes one `struct fsxattr`, all of whose bits may have any value.
    Ok(unsafe { ioctl::ioctl(file, Getter::<FS_IOC_FSGETXATTR, Attributes>::new()) }?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opcode_is_the_number_that_the_kernel_compiles() {
        assert_eq!(FS_IOC_FSGETXATTR, 0x801c_581f);
    }

    #[test]
    fn a_directory_on_no_realtime_section_says_so_or_has_no_such_attributes() {
        assert!(!is_realtime(&std::env::temp_dir()).is_ok_and(|is| is));
        assert!(is_realtime(Path::new("/nonexistent")).is_err());
    }
}
