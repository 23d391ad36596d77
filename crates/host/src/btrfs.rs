//! Answers of a mounted btrfs: its devices, and its chunk tree as it is in memory.
//!
//! Source: Linux `include/uapi/linux/btrfs.h` and `btrfs_tree.h`.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::ioctl::{self, Getter, Opcode, Updater};

use crate::disk::FileDisk;

const MAGIC: u8 = 0x94;
const BTRFS_IOC_TREE_SEARCH: Opcode = ioctl::opcode::read_write::<SearchArgs>(MAGIC, 17);
const BTRFS_IOC_DEV_INFO: Opcode = ioctl::opcode::read_write::<DeviceInfo>(MAGIC, 30);
const BTRFS_IOC_FS_INFO: Opcode = ioctl::opcode::read::<SystemInfo>(MAGIC, 31);

/// The most devices that are asked for.
const DEVICES_MAX: u64 = 4096;
/// The most items that are collected.
const ITEMS_MAX: usize = 1 << 19;
/// The number of the chunk tree, of what its chunks are keyed by, and the type of their items.
const CHUNK_TREE: u64 = 3;
const FIRST_CHUNK: u64 = 256;
const CHUNK_ITEM: u32 = 228;

/// `struct btrfs_ioctl_fs_info_args`, as far as it matters.
#[repr(C)]
struct SystemInfo {
    highest_number: u64,
    devices: u64,
    rest: [u8; 1008],
}

/// `struct btrfs_ioctl_dev_info_args`.
#[repr(C)]
struct DeviceInfo {
    number: u64,
    uuid: [u8; 16],
    used_bytes: u64,
    total_bytes: u64,
    rest: [u64; 379],
    path: [u8; 1024],
}

/// `struct btrfs_ioctl_search_key`.
#[repr(C)]
#[derive(Clone, Copy)]
struct SearchKey {
    tree: u64,
    object_least: u64,
    object_most: u64,
    offset_least: u64,
    offset_most: u64,
    generation_least: u64,
    generation_most: u64,
    kind_least: u32,
    kind_most: u32,
    items: u32,
    unused: u32,
    more_unused: [u64; 4],
}

const KEY_BYTES: usize = size_of::<SearchKey>();
const ANSWER_BYTES: usize = 4096 - KEY_BYTES;

/// `struct btrfs_ioctl_search_args`.
#[repr(C)]
struct SearchArgs {
    key: SearchKey,
    answer: [u8; ANSWER_BYTES],
}

/// The bytes of `struct btrfs_ioctl_search_header`.
const ITEM_HEADER: usize = 32;

/// A device of a btrfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtrfsDevice {
    /// Its number within the file system, from 1.
    pub number: u64,
    /// The node by which the kernel knows it; hostile, and empty where the device is missing.
    pub path: PathBuf,
}

/// The devices of the btrfs that `file` is on, in the order of their numbers. At most 4096 numbers
/// are asked for. This needs no privilege.
///
/// # Errors
/// When it is no btrfs, or the kernel does not answer.
#[doc(alias = "BTRFS_IOC_DEV_INFO")]
pub fn btrfs_devices(file: &FileDisk) -> io::Result<Vec<BtrfsDevice>> {
    let highest = system_info(file.as_fd())?.highest_number.min(DEVICES_MAX);
    let mut found = Vec::new();
    for number in 0..=highest {
        match device_info(file.as_fd(), number) {
            Ok(info) => {
                let path = info.path.split(|&byte| byte == 0).next().unwrap_or_default();
                let path = PathBuf::from(OsStr::from_bytes(path));
                found.push(BtrfsDevice { number: info.number, path });
            }
            // Numbers of devices that were removed are not used again.
            Err(Errno::NODEV) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// The chunk items of the btrfs that `file` is on, as its chunk tree has them now: the logical
/// address at which each chunk starts, and the item's bytes. At most 2^19 of them.
///
/// # Errors
/// When it is no btrfs, or without `CAP_SYS_ADMIN`.
#[doc(alias = "BTRFS_IOC_TREE_SEARCH")]
pub fn btrfs_chunk_items(file: &FileDisk) -> io::Result<Vec<(u64, Vec<u8>)>> {
    let mut found: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut from = 0;
    while found.len() < ITEMS_MAX {
        let args = search(file.as_fd(), from)?;
        let items = items(&args);
        let Some((last, _)) = items.last() else { break };
        let Some(next) = last.checked_add(1) else { break };
        from = next;
        found.extend(items);
    }
    Ok(found)
}

/// The chunk items of one answer.
fn items(args: &SearchArgs) -> Vec<(u64, Vec<u8>)> {
    let count = usize::try_from(args.key.items).unwrap_or(usize::MAX);
    let mut rest = args.answer.as_slice();
    let mut found = Vec::new();
    for _ in 0..count {
        let Some((header, behind)) = rest.split_first_chunk::<ITEM_HEADER>() else { break };
        let length = usize::try_from(native32(&header[28..])).unwrap_or(usize::MAX);
        let Some((bytes, next)) = behind.split_at_checked(length) else { break };
        if native32(&header[24..]) == CHUNK_ITEM {
            found.push((native64(&header[16..]), bytes.to_vec()));
        }
        rest = next;
    }
    found
}

/// The first four bytes as a number in the machine's order, as ioctls answer.
fn native32(bytes: &[u8]) -> u32 {
    let bytes = bytes.first_chunk::<4>().copied().unwrap_or_default();
    if cfg!(target_endian = "little") {
        u32::from_le_bytes(bytes)
    } else {
        u32::from_be_bytes(bytes)
    }
}

/// Same as [`native32`], of eight bytes.
fn native64(bytes: &[u8]) -> u64 {
    let bytes = bytes.first_chunk::<8>().copied().unwrap_or_default();
    if cfg!(target_endian = "little") {
        u64::from_le_bytes(bytes)
    } else {
        u64::from_be_bytes(bytes)
    }
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
fn system_info(file: BorrowedFd<'_>) -> Result<SystemInfo, Errno> {
    // SAFETY: BTRFS_IOC_FS_INFO writes a struct btrfs_ioctl_fs_info_args of 1024 bytes, which is
    // what SystemInfo has, and of which any bits are valid.
    unsafe { ioctl::ioctl(file, Getter::<BTRFS_IOC_FS_INFO, SystemInfo>::new()) }
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
fn device_info(file: BorrowedFd<'_>, number: u64) -> Result<Box<DeviceInfo>, Errno> {
    let mut info = Box::new(DeviceInfo {
        number,
        uuid: [0; 16],
        used_bytes: 0,
        total_bytes: 0,
        rest: [0; 379],
        path: [0; 1024],
    });
    // SAFETY: BTRFS_IOC_DEV_INFO reads and writes a struct btrfs_ioctl_dev_info_args of 4096
    // bytes, which is what DeviceInfo has, and of which any bits are valid.
    unsafe { ioctl::ioctl(file, Updater::<BTRFS_IOC_DEV_INFO, DeviceInfo>::new(&mut info))? };
    Ok(info)
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
fn search(file: BorrowedFd<'_>, from: u64) -> Result<Box<SearchArgs>, Errno> {
    let key = SearchKey {
        tree: CHUNK_TREE,
        object_least: FIRST_CHUNK,
        object_most: FIRST_CHUNK,
        offset_least: from,
        offset_most: u64::MAX,
        generation_least: 0,
        generation_most: u64::MAX,
        kind_least: CHUNK_ITEM,
        kind_most: CHUNK_ITEM,
        items: 4096,
        unused: 0,
        more_unused: [0; 4],
    };
    let mut args = Box::new(SearchArgs { key, answer: [0; ANSWER_BYTES] });
    // SAFETY: BTRFS_IOC_TREE_SEARCH reads and writes a struct btrfs_ioctl_search_args of 4096
    // bytes, which is what SearchArgs has, and of which any bits are valid.
    unsafe { ioctl::ioctl(file, Updater::<BTRFS_IOC_TREE_SEARCH, SearchArgs>::new(&mut args))? };
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_the_numbers_that_the_kernel_compiles() {
        assert_eq!(BTRFS_IOC_TREE_SEARCH, 0xd000_9411);
        assert_eq!(BTRFS_IOC_DEV_INFO, 0xd000_941e);
        assert_eq!(BTRFS_IOC_FS_INFO, 0x8400_941f);
    }

    #[test]
    fn a_file_that_is_on_no_btrfs_is_an_error() {
        let scratch = testkit::Scratch::new();
        let file = FileDisk::open(&scratch.file("x", b"x")).unwrap();
        if let Err(error) = btrfs_devices(&file) {
            assert!(btrfs_chunk_items(&file).is_err(), "{error}");
        }
    }
}
