//! The places of a file's bytes, by FIEMAP; and statx's answers about direct I/O on it.
//!
//! Source: Linux `include/uapi/linux/fiemap.h` and `fs.h` (`FS_IOC_FIEMAP`), statx(2).

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use device::extents::Collector;
use device::{ExtentFlags, ExtentList, Extents, ExtentsError};
use rustix::fs::{AtFlags, FileType, Statx, StatxFlags};
use rustix::io::Errno;
use rustix::ioctl::{self, Opcode, Updater};
use units::{ByteRange, Known, Source};

use crate::disk::FileDisk;

/// `struct fiemap` without its extents.
#[repr(C)]
struct FiemapHeader {
    start_bytes: u64,
    length_bytes: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct FiemapExtent {
    logical_bytes: u64,
    physical_bytes: u64,
    length_bytes: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// Number of extents that one call asks for: most files have fewer, and a page of memory holds
/// them.
const BATCH: usize = 72;

/// A call's argument: the header, and room for the answer.
#[repr(C)]
struct FiemapCall {
    header: FiemapHeader,
    entries: [FiemapExtent; BATCH],
}

const FS_IOC_FIEMAP: Opcode = ioctl::opcode::read_write::<FiemapHeader>(b'f', 11);
const FIEMAP_FLAG_SYNC: u32 = 1;
/// Since Linux 6.11.
const STATX_WRITE_ATOMIC: StatxFlags = StatxFlags::from_bits_retain(0x0001_0000);

impl Extents for FileDisk {
    fn extents(&self, range: ByteRange, sync: bool) -> Result<ExtentList, ExtentsError> {
        extents_of(self.as_fd(), range, sync)
    }
}

/// Same as [`Extents::extents`], of any open file.
pub(crate) fn extents_of(
    file: BorrowedFd<'_>,
    range: ByteRange,
    sync: bool,
) -> Result<ExtentList, ExtentsError> {
    let mut collector = Collector::new(range);
    let mut at = range.start_bytes();
    let mut batch = FiemapCall::boxed();
    while at < range.end_bytes() {
        batch.header = FiemapHeader {
            start_bytes: at,
            length_bytes: range.end_bytes() - at,
            flags: if sync { FIEMAP_FLAG_SYNC } else { 0 },
            mapped: 0,
            room: u32::try_from(BATCH).expect("a small number"),
            reserved: 0,
        };
        ask(file, &mut batch).map_err(refused)?;
        let mapped = usize::try_from(batch.header.mapped).unwrap_or(usize::MAX);
        let entries = batch.entries.get(..mapped).ok_or_else(too_many)?;
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            let flags = ExtentFlags(entry.flags);
            let (logical, physical) = (entry.logical_bytes, entry.physical_bytes);
            if !collector.take(logical, physical, entry.length_bytes, flags)? {
                return Ok(collector.done());
            }
        }
        // What was taken ends after where it was asked for, else this would turn for ever.
        at = Some(collector.end_bytes()).filter(|&end| end > at).ok_or_else(stuck)?;
    }
    Ok(collector.done())
}

impl FiemapCall {
    fn boxed() -> Box<FiemapCall> {
        let entry = FiemapExtent {
            logical_bytes: 0,
            physical_bytes: 0,
            length_bytes: 0,
            reserved64: [0; 2],
            flags: 0,
            reserved: [0; 3],
        };
        let header = FiemapHeader {
            start_bytes: 0,
            length_bytes: 0,
            flags: 0,
            mapped: 0,
            room: 0,
            reserved: 0,
        };
        Box::new(FiemapCall { header, entries: [entry; BATCH] })
    }
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
fn ask(file: BorrowedFd<'_>, batch: &mut FiemapCall) -> Result<(), Errno> {
    // SAFETY: FS_IOC_FIEMAP reads a struct fiemap, and writes it and at most `room` extents after
    // it (fs/ioctl.c, ioctl_fiemap). Batch has that layout, with room for BATCH extents, which is
    // what the only caller sets; any bits are valid in all of its fields.
    unsafe { ioctl::ioctl(file, Updater::<FS_IOC_FIEMAP, FiemapCall>::new(batch)) }
}

fn refused(error: Errno) -> ExtentsError {
    match error {
        Errno::OPNOTSUPP | Errno::NOTTY | Errno::NOSYS => ExtentsError::Unsupported,
        error => ExtentsError::Failed(crate::errno::text_of(error)),
    }
}

fn too_many() -> ExtentsError {
    ExtentsError::Nonsense("more extents than were asked for".to_owned())
}

fn stuck() -> ExtentsError {
    ExtentsError::Nonsense("extents that lie before those asked for".to_owned())
}

/// Answers of statx about a file and the file system that it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// The device number of its file system: major and minor. Anonymous on btrfs, overlay and
    /// network file systems.
    pub device: (u32, u32),
    /// Its inode there.
    pub inode: u64,
    /// True if it is a block device, and no file.
    pub is_block_device: bool,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// The preferred I/O size of its file system in bytes: the block on most.
    pub block_bytes: u64,
    /// The number of its mount in `/proc/self/mountinfo`.
    #[doc(alias = "STATX_MNT_ID")]
    pub mount: Known<u64>,
    /// Unit of the offset and length of direct I/O, in bytes; 0 where direct I/O is not possible.
    #[doc(alias = "STATX_DIOALIGN")]
    pub direct_offset_bytes: Known<u64>,
    /// Unit of the address in memory of direct I/O, in bytes; 0 as above.
    pub direct_memory_bytes: Known<u64>,
    /// The largest write that is all-or-nothing on power loss, in bytes; 0 where there is none.
    #[doc(alias = "STATX_WRITE_ATOMIC")]
    pub atomic_write_bytes: Known<u64>,
}

/// Asks statx about the file at `path`, links followed. It opens nothing.
///
/// # Errors
/// When the file is missing or a directory on the way may not be searched.
pub fn file_facts(path: &Path) -> io::Result<FileFacts> {
    Ok(facts(&rustix::fs::statx(rustix::fs::CWD, path, AtFlags::empty(), wanted())?))
}

/// Asks statx about an open file.
///
/// # Errors
/// When the kernel does not answer.
pub(crate) fn facts_of(file: BorrowedFd<'_>) -> io::Result<FileFacts> {
    Ok(facts(&rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, wanted())?))
}

fn wanted() -> StatxFlags {
    StatxFlags::BASIC_STATS | StatxFlags::MNT_ID | StatxFlags::DIOALIGN | STATX_WRITE_ATOMIC
}

fn facts(stat: &Statx) -> FileFacts {
    let known = |flag: StatxFlags, name: &str, value: u64| {
        if StatxFlags::from_bits_retain(stat.stx_mask).contains(flag) {
            Known::yes(value, Source::Statx)
        } else {
            Known::no(format!("this kernel or file system does not answer {name}"))
        }
    };
    let direct = |value: u32| known(StatxFlags::DIOALIGN, "STATX_DIOALIGN", value.into());
    FileFacts {
        device: (stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        is_block_device: FileType::from_raw_mode(stat.stx_mode.into()) == FileType::BlockDevice,
        length_bytes: stat.stx_size,
        block_bytes: stat.stx_blksize.into(),
        mount: known(StatxFlags::MNT_ID, "STATX_MNT_ID", stat.stx_mnt_id),
        direct_offset_bytes: direct(stat.stx_dio_offset_align),
        direct_memory_bytes: direct(stat.stx_dio_mem_align),
        atomic_write_bytes: known(
            STATX_WRITE_ATOMIC,
            "STATX_WRITE_ATOMIC",
            stat.stx_atomic_write_unit_max.into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Scratch;

    #[test]
    fn opcode_and_layout_are_those_that_the_kernel_compiles() {
        assert_eq!(FS_IOC_FIEMAP, 0xc020_660b);
        assert_eq!((size_of::<FiemapHeader>(), size_of::<FiemapExtent>()), (32, 56));
        assert_eq!(std::mem::offset_of!(FiemapCall, entries), 32);
    }

    #[test]
    fn a_file_of_many_extents_is_told_in_order_over_several_calls() {
        let scratch = Scratch::new();
        let path = scratch.image("sparse", 2000 * 65536);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        for block in 0..2000 {
            std::os::unix::fs::FileExt::write_all_at(&file, &[1; 4096], block * 65536).unwrap();
        }
        file.sync_all().unwrap();
        let disk = FileDisk::open(&path).unwrap();
        let whole = ByteRange::new(0, u64::MAX).unwrap();
        let found = match disk.extents(whole, false) {
            Err(ExtentsError::Unsupported) => return testkit::skip("no FIEMAP below /tmp"),
            found => found.unwrap(),
        };
        assert_eq!(found.extents.len(), 2000);
        assert!(found.extents.iter().zip(0_u64..).all(|(extent, block)| {
            extent.logical == ByteRange::new(block * 65536, 4096).unwrap()
        }));
        assert!(found.extents[1999].flags.has(ExtentFlags::LAST));
    }

    #[test]
    fn statx_tells_the_mount_and_the_device() {
        let scratch = Scratch::new();
        let path = scratch.file("x", b"12345");
        let facts = file_facts(&path).unwrap();
        assert_eq!(facts.length_bytes, 5);
        assert!(facts.mount.value().is_some());
        assert!(file_facts(&scratch.path().join("none")).is_err());
    }
}
